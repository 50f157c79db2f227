package gate

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/langrooms/langrooms"
)

// Kind is what an identity is.
type Kind string

// The kinds of identities. A user called proto is not the agent proto.
const (
	User  Kind = "user"
	Agent Kind = "agent"
)

// Identity is who is asking.
type Identity struct {
	Kind Kind
	Name string
	// Admin users may use and manage everything. An agent is never one.
	Admin bool
	// Agents are the delegates that the identity reaches; nil means all of them.
	Agents []string
	// Owner is the user that an agent acts for, if any.
	Owner string
	// Keyless marks the operator of a server that knows no keys.
	Keyless bool
}

// Reaches reports whether the identity may address a delegate.
func (i Identity) Reaches(delegate string) bool {
	return i.Agents == nil || slices.Contains(i.Agents, delegate)
}

// Subject names the identity among all: a user by its name, an agent with its kind before it, with
// a space that no name holds, so that a user called proto does not own what the agent made.
func (i Identity) Subject() string {
	if i.Kind == Agent {
		return string(Agent) + " " + i.Name
	}
	return i.Name
}

// Key is an identity and how to prove it.
type Key struct {
	Identity
	// Secret returns the key; an error closes it to everybody. Required.
	Secret func() (string, error)
}

// Operator is who asks a server without keys.
var Operator = Identity{Kind: User, Name: langrooms.Operator, Admin: true, Keyless: true}

// Config wires a [Gate].
type Config struct {
	// Addr is HOST:PORT as listened on.
	Addr string
	// Keys are asked for at each request, so that they can be reloaded; none of them means
	// that the server knows no keys. Nil is the same.
	Keys func() []Key
	// Own are keys that the program has made itself, for the agents that it starts. They
	// count also where there are no Keys. Nil means none.
	Own func() []Key
	// Origins are the web origins that may call beside those on loopback; "*" is all of them
	// and counts only where there are keys. Nil means none.
	Origins func() []string
	// MaxBody bounds a request's body in bytes; 0 means 16 MiB.
	MaxBody int64
	// Posts and Reads are how many requests that change something, and that do not, one
	// identity may send a second; 0 means 50 and 100. Four times as many may come at once.
	Posts, Reads float64
}

// Gate checks requests. Make one with [New].
type Gate struct {
	cfg    Config
	limits limits
}

// ErrOpen says that a server without keys would be open to others than its own machine.
var ErrOpen = errors.New("without server.keys only a loopback address can be listened on")

// New returns a gate. It does no I/O. [ErrOpen] when the address is not loopback and there are
// no keys.
func New(cfg Config) (*Gate, error) {
	if cfg.Keys == nil {
		cfg.Keys = func() []Key { return nil }
	}
	if cfg.Own == nil {
		cfg.Own = func() []Key { return nil }
	}
	if cfg.Origins == nil {
		cfg.Origins = func() []string { return nil }
	}
	if cfg.MaxBody == 0 {
		cfg.MaxBody = 16 << 20
	}
	if cfg.Posts == 0 {
		cfg.Posts = 50
	}
	if cfg.Reads == 0 {
		cfg.Reads = 100
	}
	if !loopback(cfg.Addr) && len(cfg.Keys()) == 0 {
		return nil, fmt.Errorf("%s: %w", cfg.Addr, ErrOpen)
	}
	return &Gate{cfg: cfg, limits: limits{posts: cfg.Posts, reads: cfg.Reads}}, nil
}

// loopback reports whether an address, HOST or HOST:PORT, is of this machine alone.
func loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		host = strings.Trim(addr, "[]")
	}
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// Cookie is the name of the cookie that the console's sign-in sets.
const Cookie = "langrooms_key"

// credential returns the key that a request brings, and whether it came in the cookie.
func credential(r *http.Request) (key string, cookie bool) {
	if text := r.Header.Get("Authorization"); text != "" {
		scheme, key, _ := strings.Cut(text, " ")
		if strings.EqualFold(scheme, "Bearer") {
			return strings.TrimSpace(key), false
		}
	}
	if key := r.Header.Get("X-Api-Key"); key != "" {
		return key, false
	}
	if c, err := r.Cookie(Cookie); err == nil {
		return c.Value, true
	}
	return "", false
}

// Identify returns who a key belongs to. Every key is compared, so that the time says nothing.
func (g *Gate) Identify(key string) (Identity, bool) {
	var found Identity
	ok := false
	sent := sha256.Sum256([]byte(key))
	for _, k := range slices.Concat(g.cfg.Keys(), g.cfg.Own()) {
		secret, err := k.Secret()
		if err != nil || secret == "" {
			continue
		}
		own := sha256.Sum256([]byte(secret))
		if subtle.ConstantTimeCompare(sent[:], own[:]) == 1 {
			found, ok = k.Identity, true
		}
	}
	if found.Kind == Agent {
		found.Admin = false
	}
	return found, ok && key != ""
}

type identityKey struct{}

// From returns who sent the request that ctx belongs to; ok is false on paths that are open.
func From(ctx context.Context) (i Identity, ok bool) {
	i, ok = ctx.Value(identityKey{}).(Identity)
	return i, ok
}

// WithIdentity returns a context that says who asks, for callers that come in by another door
// than HTTP.
func WithIdentity(ctx context.Context, i Identity) context.Context {
	return context.WithValue(ctx, identityKey{}, i)
}
