package a2aserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	a2alog "github.com/a2aproject/a2a-go/v2/log"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/runs"
	"github.com/langrooms/langrooms/thread"
)

// Member is a delegate as the card shows it.
type Member struct{ Name, Description string }

// Config wires a [Server].
type Config struct {
	// Saver holds the threads. Required.
	Saver checkpointer.Saver
	// Runs takes the turns. Required.
	Runs *runs.Manager
	// Members are the roster at this moment. Required.
	Members func() []Member
	// Lead is the lead's name; nil or empty means "assistant".
	Lead func() string
	// Who says who sent a request; nil means that the server knows no keys.
	Who func(context.Context) thread.Caller
	// Keys reports whether requests need a key. Then only a caller with one is shown who is on
	// the roster. Nil means that they need none.
	Keys func() bool
	// Room reports whether a thread is a shared session, which has doors of its own; nil means
	// that there are none.
	Room func(thread string) bool
	// Failed is told of errors that are not the caller's, whose words no answer has; nil drops
	// them.
	Failed func(error)
	// Self names this installation in traces; see delegate.Trace. Empty notices no cycles.
	Self string
	// Version is the program's.
	Version string
	// Heartbeat is how often a silent stream says that it lives; 0 means 8 s.
	Heartbeat time.Duration
}

// Server answers A2A requests. Make one with [New].
type Server struct {
	cfg         Config
	rpc, rpcOld http.Handler
	rest        http.Handler
	restOld     http.Handler
	pushes      *pushes
}

// New returns a server. It does no I/O.
func New(cfg Config) (*Server, error) {
	switch {
	case cfg.Saver == nil:
		return nil, errors.New("a2aserver: Config.Saver is nil")
	case cfg.Runs == nil:
		return nil, errors.New("a2aserver: Config.Runs is nil")
	case cfg.Members == nil:
		return nil, errors.New("a2aserver: Config.Members is nil")
	}
	if cfg.Who == nil {
		cfg.Who = func(context.Context) thread.Caller { return thread.Caller{Admin: true} }
	}
	if cfg.Keys == nil {
		cfg.Keys = func() bool { return false }
	}
	if cfg.Heartbeat == 0 {
		cfg.Heartbeat = 8 * time.Second
	}
	if cfg.Failed == nil {
		cfg.Failed = func(error) {}
	}
	s := &Server{cfg: cfg}
	h := &handler{Server: s}
	h.pushes = newPushes(h)
	s.pushes = h.pushes
	alive := a2asrv.WithTransportKeepAlive(cfg.Heartbeat)
	s.rpc, s.rpcOld = a2asrv.NewJSONRPCHandler(h, alive), a2av0.NewJSONRPCHandler(h, alive)
	s.rest, s.restOld = a2asrv.NewRESTHandler(h, alive), a2av0.NewRESTHandler(h, alive)
	return s, nil
}

// Close sends no more notifications and waits for those under way. Idempotent.
func (s *Server) Close() { s.pushes.close() }

// root is where all but the card is, and oldREST what 0.3 has over HTTP+JSON below it.
const (
	root    = "/a2a"
	oldREST = "/v1"
)

// Patterns are the paths that the server answers, as http.ServeMux patterns.
func (s *Server) Patterns() []string {
	return []string{root, root + "/", "GET /.well-known/agent-card.json", "GET /.well-known/agent.json"}
}

// maxBody bounds a request in bytes.
const maxBody = 12 << 20 // of base64, with room for the text

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, ok := strings.CutPrefix(r.URL.Path, root)
	if !ok {
		s.serveCard(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		status, words := http.StatusBadRequest, "the body cannot be read"
		if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
			status, words = http.StatusRequestEntityTooLarge, "the body is too large"
		}
		http.Error(w, words, status)
		return
	}
	// The body is here: what follows may take as long as the turn does.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // a recorder in tests has none
	ctx := context.WithValue(r.Context(), originKey{}, originOf(r))
	r = r.WithContext(a2alog.AttachLogger(ctx, slog.New(slog.DiscardHandler))) // the SDK would log contents
	r.Body = io.NopCloser(bytes.NewReader(body))
	old, isOld := strings.CutPrefix(path, oldREST)
	switch {
	case path == "" || path == "/":
		s.serveRPC(w, r, body)
	case isOld && (old == "" || old[0] == '/'):
		http.StripPrefix(root+oldREST, s.restOld).ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), oldKey{}, true)))
	default:
		http.StripPrefix(root, s.rest).ServeHTTP(w, r)
	}
}

// serveRPC tells the versions apart by the names of their methods: those of 0.3 have a stroke.
func (s *Server) serveRPC(w http.ResponseWriter, r *http.Request, body []byte) {
	var call struct{ Method string }
	if json.Unmarshal(body, &call) == nil && strings.Contains(call.Method, "/") {
		s.rpcOld.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), oldKey{}, true)))
		return
	}
	s.rpc.ServeHTTP(w, r)
}

type originKey struct{}

// originOf is the address that a request was sent to, scheme and host.
func originOf(r *http.Request) string {
	scheme := "http"
	if r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") { // by a proxy in front
		scheme = "https"
	}
	return scheme + "://" + r.Host
}

// lead is the lead's name.
func (s *Server) lead() string {
	if s.cfg.Lead != nil && s.cfg.Lead() != "" {
		return s.cfg.Lead()
	}
	return langrooms.Assistant
}
