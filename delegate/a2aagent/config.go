package a2aagent

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/langrooms/langrooms/delegate"
)

// DefaultPollTimeout is how long a peer may work without a material change, unless
// [Config.PollTimeout] says otherwise.
const DefaultPollTimeout = 300 * time.Second

// The authentication schemes of [Config.Scheme].
const (
	// SchemeBearer sends "Authorization: Bearer <token>".
	SchemeBearer = "bearer"
	// SchemeAPIKey sends the token in the header, the query's parameter or the cookie that
	// the agent card names, else as "X-API-Key: <token>".
	SchemeAPIKey = "apiKey"
	// SchemeOAuth2 fetches a token with client credentials (RFC 6749, 4.4) and sends it as
	// [SchemeBearer] does.
	SchemeOAuth2 = "oauth2"
)

// Config describes one peer.
type Config struct {
	// Name is the roster's name (see [delegate.CheckName]).
	Name string
	// Description says what the peer is good for.
	Description string
	// URL is the peer's endpoint, http or https, the address below which its agent card is,
	// or that card's own. A card below it, or the one that it is, says where messages go,
	// at the same origin; one at the origin counts only when it names this URL. Credentials
	// in it are refused.
	URL string
	// CardURL is where the agent card is, at the origin of URL; empty means that it is looked
	// for.
	CardURL string
	// Binding is "JSONRPC", "HTTP+JSON" or "", what the card says.
	Binding string
	// Scheme is "", [SchemeBearer], [SchemeAPIKey] or [SchemeOAuth2]. Empty with a Token
	// means what the card asks for, else bearer.
	Scheme string
	// ClientID is the client's id for [SchemeOAuth2], whose secret is Token. TokenURL is
	// where tokens are issued; empty means the card's, when it lies at the origin of URL.
	// Scopes are asked for; none means those that the card requires.
	ClientID, TokenURL string
	Scopes             []string
	// Token resolves the credential, once for each Ask, so that a rotated one is found.
	// Nil, or an empty token, sends none. Required with a Scheme.
	Token func() (string, error)
	// PollTimeout is how long the peer may work without a material change before waiting
	// ends, and how long a peer may hold the first request open. 0 means
	// [DefaultPollTimeout].
	PollTimeout time.Duration
	// HTTP is how the peer is reached. Its certificates and its proxy count only without an
	// HTTPClient.
	HTTP delegate.HTTP
	// HTTPClient carries the requests. Its Transport and Jar are used, its Timeout and
	// CheckRedirect are not. Nil means a transport of the agent's own.
	HTTPClient *http.Client
	// Continuity remembers the context ids that the peer assigns. Nil remembers none:
	// every message opens a conversation of its own.
	Continuity delegate.Continuity
	// Preamble stands in front of the first message of each conversation, with a blank line
	// between, such as room.Instructions. Another one begins other conversations. Empty adds
	// nothing.
	Preamble string
	// Accepts are the media types of files that the peer takes (delegate.Takes); nil means what
	// its card says, but for texts, whose words it is sent.
	Accepts []string
	// Logger hears what concerns no answer, such as a continuity store that fails. It is
	// given no text of a conversation and no credential. Nil drops it.
	Logger *slog.Logger
}

// check fills in defaults, reports the first bad field by its key in a configuration, and returns the parsed URL.
func (c *Config) check() (*url.URL, error) {
	if err := delegate.CheckName(c.Name); err != nil {
		return nil, fmt.Errorf("a2a delegate: name: %w", err)
	}
	target, err := checkURL(c.URL)
	if err != nil {
		return nil, fmt.Errorf("a2a delegate %q: url: %w", c.Name, err)
	}
	switch c.Scheme {
	case "", SchemeBearer, SchemeAPIKey:
	case SchemeOAuth2:
		if c.ClientID == "" {
			return nil, fmt.Errorf("a2a delegate %q: auth.client_id: scheme %q needs one", c.Name, c.Scheme)
		}
	default:
		return nil, fmt.Errorf("a2a delegate %q: auth.scheme: %q is not known; use %q, %q, %q or none", c.Name, c.Scheme, SchemeBearer, SchemeAPIKey, SchemeOAuth2)
	}
	switch strings.ToUpper(c.Binding) {
	case "", string(a2a.TransportProtocolJSONRPC), string(a2a.TransportProtocolHTTPJSON):
	default:
		return nil, fmt.Errorf("a2a delegate %q: binding: %q is neither JSONRPC nor HTTP+JSON", c.Name, c.Binding)
	}
	if c.CardURL != "" {
		at, err := checkURL(c.CardURL)
		if err == nil && origin(at) != origin(target) {
			err = errors.New("does not lie at the origin of url")
		}
		if err != nil {
			return nil, fmt.Errorf("a2a delegate %q: card_url: %w", c.Name, err)
		}
	}
	if c.TokenURL != "" {
		if _, err := checkURL(c.TokenURL); err != nil {
			return nil, fmt.Errorf("a2a delegate %q: auth.token_url: %w", c.Name, err)
		}
	}
	if c.Scheme != "" && c.Token == nil {
		return nil, fmt.Errorf("a2a delegate %q: auth.token: scheme %q needs one", c.Name, c.Scheme)
	}
	if c.PollTimeout < 0 {
		return nil, fmt.Errorf("a2a delegate %q: poll_timeout_s: %v is negative", c.Name, c.PollTimeout)
	}
	if c.PollTimeout == 0 {
		c.PollTimeout = DefaultPollTimeout
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
