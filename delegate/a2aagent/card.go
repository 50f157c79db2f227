package a2aagent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"

	"github.com/langrooms/langrooms/delegate"
)

const (
	cardPath     = "/.well-known/agent-card.json"
	oldCardPath  = "/.well-known/agent.json" // before 0.3
	cardLifetime = time.Minute
	cardTimeout  = 5 * time.Second // a card that hangs must not hold up the message
	maxCard      = 1 << 20
)

// card is what an agent card says that matters here.
type card struct {
	endpoint     endpoint
	streaming    bool
	agentVersion string
	security     security
	traces       bool     // it knows delegate.TraceExtension
	inputs       []string // media types
}

// cardCache keeps the card, or that there is none, for a minute.
type cardCache struct {
	mu    sync.Mutex
	card  card
	until time.Time
}

// get returns the cached card while it is fresh.
func (c *cardCache) get() (card, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.card, time.Now().Before(c.until)
}

func (c *cardCache) put(found card) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.card, c.until = found, time.Now().Add(cardLifetime)
}

// asked returns what the card, if one is known, says of credentials.
func (c *cardCache) asked() security {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.card.security
}

// speak corrects what the cached card says is spoken.
func (c *cardCache) speak(e endpoint) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.card.endpoint = e
}

// card returns the peer's card. Without one it is A2A 1.0 over JSON-RPC at the configured
// URL. That there is none is remembered too, unless the peer could not be reached.
func (s *session) card(ctx context.Context) card {
	if c, fresh := s.cards.get(); fresh {
		return c
	}
	c, err := s.fetchCard(ctx)
	if err != nil {
		e, _ := choose(withoutCard(s.target), nil, true, s.cfg.Binding)
		c = card{endpoint: e}
		gone := noAnswer(err) && !errors.Is(err, context.DeadlineExceeded)
		if gone || ctx.Err() != nil {
			return c
		}
	}
	s.cards.put(c)
	return c
}

// spot is a place where a card may be.
type spot struct {
	at url.URL
	// own says that a card there is this agent's: it lies below the configured URL, or is
	// what was configured. One elsewhere may be another agent's.
	own bool
}

// spots lists where to look for the card, in order. Old agents have it in agent.json.
func (s *session) spots() []spot {
	if s.cfg.CardURL != "" {
		at, _ := url.Parse(s.cfg.CardURL) // as checked
		return []spot{{*at, true}}
	}
	if isCard(s.target) {
		return []spot{{*s.target, true}}
	}
	var all []spot
	for _, path := range []string{cardPath, oldCardPath} {
		below := s.target.JoinPath(path)
		below.RawQuery = ""
		all = append(all, spot{*below, true})
	}
	if bare(s.target) {
		return all
	}
	for _, path := range []string{cardPath, oldCardPath} {
		root := *s.target
		root.Path, root.RawPath, root.RawQuery = path, "", ""
		all = append(all, spot{root, false})
	}
	return all
}

// isCard reports whether u is the address of a card.
func isCard(u *url.URL) bool {
	return strings.HasSuffix(u.Path, "/agent-card.json") || strings.HasSuffix(u.Path, "/agent.json")
}

// withoutCard returns the address below which the card of a card's address is.
func withoutCard(u *url.URL) *url.URL {
	if !isCard(u) {
		return u
	}
	base := *u
	base.RawPath, base.RawQuery = "", ""
	base.Path = strings.TrimSuffix(u.Path[:strings.LastIndex(u.Path, "/")], "/.well-known")
	return &base
}

// fetchCard looks for the card. The error is that of the most telling place: a card that
// cannot be used, else the first.
func (s *session) fetchCard(ctx context.Context) (card, error) {
	ctx, cancel := context.WithTimeout(ctx, cardTimeout)
	defer cancel()
	var failed error
	for _, at := range s.spots() {
		found, err := s.fetchCardAt(ctx, at)
		switch {
		case err == nil:
			return found, nil
		case failed == nil || errors.Is(err, errBadCard):
			failed = err
		}
		if noAnswer(err) || ctx.Err() != nil || errors.Is(err, errBadCard) {
			break
		}
	}
	return card{}, failed
}

var (
	errBadCard = errors.New("its agent card cannot be read")
	// errNotItsCard: there is a card, of an agent at another address.
	errNotItsCard = errors.New("the agent card at its origin is that of another agent")
)

// fetchCardAt reads the card at one place.
func (s *session) fetchCardAt(ctx context.Context, at spot) (card, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.at.String(), nil)
	if err != nil {
		return card{}, s.fail(delegate.KindProtocol, err)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set(a2a.SvcParamVersion, string(a2a.Version)) // else some answer with the 0.3 form only
	resp, err := s.client.Do(req)
	if err != nil {
		return card{}, s.transportError(ctx, nil, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxCard+1))
	if err != nil {
		return card{}, s.fail(delegate.KindProtocol, fmt.Errorf("%w: it broke off", errBadCard))
	}
	if resp.StatusCode != http.StatusOK {
		e := s.statusError(resp.StatusCode, nil, "")
		e.Err = fmt.Errorf("no agent card at %s: %w", at.at.Path, e.Err)
		return card{}, e
	}
	if len(body) > maxCard {
		return card{}, s.fail(delegate.KindProtocol, fmt.Errorf("%w: it is larger than %d MiB", errBadCard, maxCard>>20))
	}
	if !bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) { // a page, a login
		return card{}, s.fail(delegate.KindProtocol, fmt.Errorf("no agent card at %s: what is there is no JSON object", at.at.Path))
	}
	c, err := s.readCard(at, body)
	switch {
	case errors.Is(err, errNotItsCard):
		return card{}, s.fail(delegate.KindRefused, err)
	case err != nil:
		return card{}, s.fail(delegate.KindProtocol, fmt.Errorf("%w: %w", errBadCard, err))
	}
	return c, nil
}

// wireCard has the fields of both shapes of a card: 1.0 lists supportedInterfaces, 0.3 has
// one at the top and more beside it.
type wireCard struct {
	Version             string
	ProtocolVersion     string
	SupportedInterfaces []offer
	Capabilities        struct {
		Streaming  bool
		Extensions []struct{ URI string }
	}

	URL                  string
	PreferredTransport   string
	AdditionalInterfaces []struct{ URL, Transport string }

	SecuritySchemes      map[string]securityScheme
	SecurityRequirements []struct{ Schemes map[string]json.RawMessage }
	Security             []map[string][]string

	DefaultInputModes []string
}

// readCard reads a card of either shape, or of both at once. The shape outranks a version
// at the top: there are 0.3 cards that say "1.0".
func (s *session) readCard(at spot, body []byte) (card, error) {
	var w wireCard
	if err := loose(body, &w); err != nil {
		return card{}, errors.New("it is not valid JSON")
	}
	target := s.target
	offers := w.SupportedInterfaces
	const legacy = string(a2av0.Version)
	switch {
	case w.URL != "":
		offers = append(offers, offer{URL: w.URL, ProtocolBinding: w.PreferredTransport, ProtocolVersion: legacy})
		for _, i := range w.AdditionalInterfaces {
			offers = append(offers, offer{URL: i.URL, ProtocolBinding: i.Transport, ProtocolVersion: legacy})
		}
	case len(offers) == 0 && strings.HasPrefix(w.ProtocolVersion, "0."):
		offers = append(offers, offer{URL: target.String(), ProtocolVersion: legacy})
	}
	e, named := choose(target, offers, at.own, s.cfg.Binding)
	if !at.own && !named {
		return card{}, errNotItsCard
	}
	traces := slices.ContainsFunc(w.Capabilities.Extensions, func(e struct{ URI string }) bool { return e.URI == delegate.TraceExtension })
	return card{endpoint: e, streaming: w.Capabilities.Streaming, agentVersion: w.Version, security: w.readSecurity(), traces: traces, inputs: w.DefaultInputModes}, nil
}

// loose decodes JSON and leaves out what has another type than expected: a number where
// an id belongs is no id, and spoils nothing else.
func loose(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	var wrongType *json.UnmarshalTypeError
	if errors.As(err, &wrongType) {
		return nil
	}
	return err
}
