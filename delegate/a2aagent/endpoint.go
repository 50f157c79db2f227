package a2aagent

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
)

// endpoint is where a peer is spoken to, and how.
type endpoint struct {
	url     string
	version a2a.ProtocolVersion // a2a.Version or a2av0.Version
	binding a2a.TransportProtocol
	tenant  string
}

// offer is one interface of an agent card.
type offer struct {
	URL             string
	ProtocolBinding string
	ProtocolVersion string
	Tenant          string
}

// parsed is an offer that this package can take up.
type parsed struct {
	endpoint
	place *url.URL
}

// choose returns the endpoint for target out of what the card offers, and whether one of
// the interfaces lies at target. It is target itself when the card names that, also under
// another origin: a card is often wrong about it behind a proxy or in a container. Otherwise
// the agent's own card says the path, and target stays what it is only where the card names
// another origin and JSON-RPC. The origin is always the configured one.
func choose(target *url.URL, offers []offer, own bool, binding string) (e endpoint, named bool) {
	var all []parsed
	for _, o := range offers {
		if p, ok := o.parse(); ok && (binding == "" || strings.EqualFold(binding, string(p.binding))) {
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		e = endpoint{url: target.String(), version: a2a.Version, binding: a2a.TransportProtocolJSONRPC}
		if binding != "" {
			e.binding = a2a.TransportProtocol(strings.ToUpper(binding))
		}
		return e, false
	}
	near := func(p parsed) bool { return origin(p.place) == origin(target) || unveiled(p.place, target) }
	best := slices.MinFunc(all, func(a, b parsed) int {
		return cmp.Or(
			-compareBool(samePath(a.place, target), samePath(b.place, target)),
			-compareBool(near(a), near(b)),
			-compareBool(a.binding == a2a.TransportProtocolJSONRPC, b.binding == a2a.TransportProtocolJSONRPC),
			-compareBool(a.version == a2a.Version, b.version == a2a.Version))
	})
	e, named = best.endpoint, samePath(best.place, target)
	e.url = target.String()
	rest := e.binding != a2a.TransportProtocolJSONRPC
	if rest || !named && (bare(target) || isCard(target) || own && near(best)) {
		at := *target
		at.Path, at.RawPath, at.RawQuery = best.place.Path, best.place.RawPath, best.place.RawQuery
		e.url = at.String()
	}
	return e, named
}

// unveiled reports whether a card's place is the target's host without TLS: what a server says
// that does not know of the proxy in front of it.
func unveiled(place, target *url.URL) bool {
	return place.Scheme == "http" && target.Scheme == "https" && strings.EqualFold(place.Hostname(), target.Hostname()) &&
		(place.Port() == target.Port() || place.Port() == "80" && target.Port() == "")
}

// parse reads an offer; one of a version or binding that is not spoken here is none.
func (o offer) parse() (parsed, bool) {
	place, err := url.Parse(o.URL)
	if err != nil {
		return parsed{}, false
	}
	p := parsed{place: place, endpoint: endpoint{tenant: o.Tenant}}
	switch {
	case o.ProtocolVersion == "" || o.ProtocolVersion == "1" || strings.HasPrefix(o.ProtocolVersion, "1."):
		p.version = a2a.Version
	case strings.HasPrefix(o.ProtocolVersion, "0."):
		p.version = a2av0.Version
	default:
		return parsed{}, false
	}
	switch strings.ToUpper(o.ProtocolBinding) {
	case "", string(a2a.TransportProtocolJSONRPC):
		p.binding = a2a.TransportProtocolJSONRPC
	case string(a2a.TransportProtocolHTTPJSON):
		p.binding = a2a.TransportProtocolHTTPJSON
	default:
		return parsed{}, false
	}
	return p, true
}

// other returns the endpoint with the other protocol version.
func (e endpoint) other() endpoint {
	if e.version == a2a.Version {
		e.version, e.tenant = a2av0.Version, ""
	} else {
		e.version = a2a.Version
	}
	return e
}

// transport returns the SDK's writer of requests to e, and the parameters of each call.
func (s *session) transport(e endpoint) (a2aclient.Transport, a2aclient.ServiceParams, error) {
	params := a2aclient.ServiceParams{a2a.SvcParamVersion: {string(a2a.Version)}}
	rest := e.binding == a2a.TransportProtocolHTTPJSON
	switch {
	case e.version == a2a.Version && !rest:
		return a2aclient.NewJSONRPCTransport(e.url, s.client), params, nil
	case e.version == a2a.Version:
		u, err := url.Parse(e.url)
		if err != nil {
			return nil, nil, err
		}
		return a2aclient.NewRESTTransport(u, s.client), params, nil
	case !rest:
		return a2av0.NewJSONRPCTransport(a2av0.JSONRPCTransportConfig{URL: e.url, Client: s.client}), nil, nil
	default:
		t, err := a2av0.NewRESTTransport(a2av0.RESTTransportConfig{URL: e.url, Client: s.client})
		return t, nil, err
	}
}

func bare(u *url.URL) bool { return strings.Trim(u.Path, "/") == "" }

func samePath(a, b *url.URL) bool {
	return strings.TrimSuffix(a.Path, "/") == strings.TrimSuffix(b.Path, "/")
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	default:
		return -1
	}
}
