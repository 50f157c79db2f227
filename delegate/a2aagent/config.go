package a2aagent

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/langrooms/langrooms/delegate"
)

// DefaultPollTimeout is how long a peer may work without a material change, unless
// [Config.PollTimeout] says otherwise.
const DefaultPollTimeout = 300 * time.Second

// The authentication schemes of [Config.Scheme].
const (
	// SchemeBearer sends "Authorization: Bearer <token>".
	SchemeBearer = "bearer"
	// SchemeAPIKey sends "X-API-Key: <token>".
	SchemeAPIKey = "apiKey"
)

// Config describes one peer.
type Config struct {
	// Name is the roster's name (see [delegate.CheckName]).
	Name string
	// Description says what the peer is good for.
	Description string
	// URL is the peer's endpoint, http or https. The agent card is looked for at its
	// origin, then below it. A URL without a path names the agent alone: the card's path
	// is used then. Credentials in it are refused.
	URL string
	// Scheme is "", [SchemeBearer] or [SchemeAPIKey]. Empty with a Token means bearer.
	Scheme string
	// Token resolves the credential, once for each Ask, so that a rotated one is found.
	// Nil, or an empty token, sends none. Required with a Scheme.
	Token func() (string, error)
	// PollTimeout is how long the peer may work without a material change before waiting
	// ends, and how long a peer may hold the first request open. 0 means
	// [DefaultPollTimeout].
	PollTimeout time.Duration
	// HTTPClient carries the requests. Its Transport and Jar are used, its Timeout and
	// CheckRedirect are not. Nil means a transport of the agent's own.
	HTTPClient *http.Client
	// Continuity remembers the context ids that the peer assigns. Nil remembers none:
	// every message opens a conversation of its own.
	Continuity delegate.Continuity
	// Logger hears what concerns no answer, such as a continuity store that fails. It is
	// given no text of a conversation and no credential. Nil drops it.
	Logger *slog.Logger
}

// check fills in defaults, reports the first bad field by name, and returns the parsed URL.
func (c *Config) check() (*url.URL, error) {
	if err := delegate.CheckName(c.Name); err != nil {
		return nil, fmt.Errorf("a2a delegate: Name: %w", err)
	}
	target, err := checkURL(c.URL)
	if err != nil {
		return nil, fmt.Errorf("a2a delegate %q: URL: %w", c.Name, err)
	}
	switch c.Scheme {
	case "", SchemeBearer, SchemeAPIKey:
	default:
		return nil, fmt.Errorf("a2a delegate %q: Scheme: %q is not known; use %q, %q or none", c.Name, c.Scheme, SchemeBearer, SchemeAPIKey)
	}
	if c.Scheme != "" && c.Token == nil {
		return nil, fmt.Errorf("a2a delegate %q: Token: scheme %q needs one", c.Name, c.Scheme)
	}
	if c.PollTimeout < 0 {
		return nil, fmt.Errorf("a2a delegate %q: PollTimeout: %v is negative", c.Name, c.PollTimeout)
	}
	if c.PollTimeout == 0 {
		c.PollTimeout = DefaultPollTimeout
	}
	if c.Scheme == "" && c.Token != nil {
		c.Scheme = SchemeBearer
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return target, nil
}

// checkURL parses a peer's URL. Its errors do not repeat it: it may hold a secret.
func checkURL(raw string) (*url.URL, error) {
	if raw == "" {
		return nil, errors.New("is empty")
	}
	u, err := url.Parse(raw)
	var parse *url.Error
	if errors.As(err, &parse) {
		return nil, fmt.Errorf("cannot be read: %w", parse.Err)
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("scheme %q is neither http nor https", u.Scheme)
	case u.Hostname() == "":
		return nil, errors.New("names no host")
	case u.User != nil:
		return nil, errors.New("holds credentials; set auth.scheme and auth.token in their place")
	case u.Fragment != "":
		return nil, errors.New("has a fragment")
	}
	return u, nil
}

// dialTimeout bounds a connection's making, so that a dead address is known at once.
const dialTimeout = 10 * time.Second

// newTransport returns the transport of an agent that was given no client.
func newTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext
	t.MaxIdleConnsPerHost = 4
	t.IdleConnTimeout = 60 * time.Second
	return t
}
