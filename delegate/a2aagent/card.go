package a2aagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"

	"github.com/langrooms/langrooms/delegate"
)

const (
	cardPath     = "/.well-known/agent-card.json"
	cardLifetime = time.Minute
	cardTimeout  = 5 * time.Second // a card that hangs must not hold up the message
	maxCard      = 1 << 20
)

// card is what an agent card says that matters here.
type card struct {
	endpoint     endpoint
	streaming    bool
	agentVersion string
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
		c = card{endpoint: choose(s.target, nil)}
		var e *delegate.Error
		gone := errors.As(err, &e) && e.Kind == delegate.KindUnreachable && !errors.Is(err, context.DeadlineExceeded)
		if gone || ctx.Err() != nil {
			return c
		}
	}
	s.cards.put(c)
	return c
}

// fetchCard looks for the card at the origin, then below the configured URL, where a host
// of many agents has it.
func (s *session) fetchCard(ctx context.Context) (card, error) {
	ctx, cancel := context.WithTimeout(ctx, cardTimeout)
	defer cancel()
	root := *s.target
	root.Path, root.RawPath, root.RawQuery = cardPath, "", ""
	found, missing, err := s.fetchCardAt(ctx, &root)
	if !missing || bare(s.target) {
		return found, err
	}
	below := s.target.JoinPath(cardPath)
	below.RawQuery = ""
	found, missing, errBelow := s.fetchCardAt(ctx, below)
	if missing {
		return card{}, err
	}
	return found, errBelow
}

// fetchCardAt reports missing when the peer answered that nothing is there.
func (s *session) fetchCardAt(ctx context.Context, at *url.URL) (_ card, missing bool, _ error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return card{}, false, s.fail(delegate.KindProtocol, err)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set(a2a.SvcParamVersion, string(a2a.Version)) // else some answer with the 0.3 form only
	resp, err := s.client.Do(req)
	if err != nil {
		return card{}, false, s.transportError(ctx, nil, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxCard+1))
	if err != nil {
		return card{}, false, s.fail(delegate.KindProtocol, fmt.Errorf("its agent card broke off: %w", err))
	}
	if resp.StatusCode != http.StatusOK {
		e := s.statusError(resp.StatusCode, nil, "")
		e.Err = fmt.Errorf("no agent card at %s: %w", at.Path, e.Err)
		return card{}, resp.StatusCode == http.StatusNotFound, e
	}
	if len(body) > maxCard {
		return card{}, false, s.fail(delegate.KindProtocol, fmt.Errorf("its agent card is larger than %d MiB", maxCard>>20))
	}
	c, err := readCard(s.target, body)
	if err != nil {
		return card{}, false, s.fail(delegate.KindProtocol, fmt.Errorf("its agent card cannot be read: %w", err))
	}
	return c, false, nil
}

// wireCard has the fields of both shapes of a card: 1.0 lists supportedInterfaces, 0.3 has
// one at the top and more beside it.
type wireCard struct {
	Version             string
	ProtocolVersion     string
	SupportedInterfaces []offer
	Capabilities        struct{ Streaming bool }

	URL                  string
	PreferredTransport   string
	AdditionalInterfaces []struct{ URL, Transport string }
}

// readCard reads a card of either shape, or of both at once. The shape outranks a version
// at the top: there are 0.3 cards that say "1.0".
func readCard(target *url.URL, body []byte) (card, error) {
	var w wireCard
	if err := loose(body, &w); err != nil {
		return card{}, err
	}
	if !strings.HasPrefix(strings.TrimSpace(string(body[:min(len(body), 64)])), "{") {
		return card{}, errors.New("it is not a JSON object")
	}
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
	return card{endpoint: choose(target, offers), streaming: w.Capabilities.Streaming, agentVersion: w.Version}, nil
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
