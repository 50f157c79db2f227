package langgraphapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/runs"
	"github.com/langrooms/langrooms/thread"
)

// Config wires a [Server].
type Config struct {
	// Saver holds the threads. Required.
	Saver checkpointer.Saver
	// Runs takes the turns. Required.
	Runs *runs.Manager
	// Names are the roster's names at this moment. Required.
	Names func() []string
	// Lead is the lead's name; nil or empty means "assistant".
	Lead func() string
	// Who says who sent a request; nil means that the server knows no keys.
	Who func(*http.Request) thread.Caller
	// Delete removes a thread with all that is remembered of it. Required.
	Delete func(ctx context.Context, thread string) error
	// Branch begins a branch of a thread at a checkpoint, the head when it is empty, which keeps
	// what is below position upTo, all with nil, and then changes its messages. Required.
	Branch func(ctx context.Context, thread, checkpoint string, upTo *int64, entries []checkpointer.Entry) error
	// Room reports whether a thread is a shared session, which is posted to by its own paths;
	// nil means that there are none.
	Room func(thread string) bool
	// Failed is told of errors that are not the caller's, whose words no answer has; nil drops
	// them.
	Failed func(error)
	// Version is the program's.
	Version string
	// Heartbeat is how often a silent stream says that it lives; 0 means 8 s.
	Heartbeat time.Duration
}

// Server answers the API's requests. Make one with [New].
type Server struct {
	cfg Config
	mux *http.ServeMux
}

// New returns a server. It does no I/O.
func New(cfg Config) (*Server, error) {
	switch {
	case cfg.Saver == nil:
		return nil, errors.New("langgraphapi: Config.Saver is nil")
	case cfg.Runs == nil:
		return nil, errors.New("langgraphapi: Config.Runs is nil")
	case cfg.Names == nil:
		return nil, errors.New("langgraphapi: Config.Names is nil")
	case cfg.Delete == nil:
		return nil, errors.New("langgraphapi: Config.Delete is nil")
	case cfg.Branch == nil:
		return nil, errors.New("langgraphapi: Config.Branch is nil")
	}
	if cfg.Heartbeat == 0 {
		cfg.Heartbeat = 8 * time.Second
	}
	if cfg.Failed == nil {
		cfg.Failed = func(error) {}
	}
	s := &Server{cfg: cfg, mux: http.NewServeMux()}
	for pattern, h := range s.routes() {
		s.mux.HandleFunc(pattern, h)
	}
	return s, nil
}

// ServeHTTP answers a request of the API. What is not of the API is 404.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Patterns are the paths that the server answers, as http.ServeMux patterns, so that others
// can stand beside them.
func (s *Server) Patterns() []string {
	var all []string
	for pattern := range s.routes() {
		all = append(all, pattern)
	}
	return all
}

func (s *Server) routes() map[string]http.HandlerFunc {
	routes := map[string]http.HandlerFunc{
		"GET /ok":   func(w http.ResponseWriter, _ *http.Request) { reply(w, map[string]bool{"ok": true}) },
		"GET /info": s.info,

		"POST /assistants/search":                  s.assistantsSearch,
		"POST /assistants/count":                   s.assistantsCount,
		"GET /assistants/{id}":                     s.assistantGet,
		"GET /assistants/{id}/schemas":             s.assistantSchemas,
		"GET /assistants/{id}/graph":               s.assistantGraph,
		"GET /assistants/{id}/subgraphs":           s.assistantSubgraphs,
		"POST /threads":                            s.threadCreate,
		"POST /threads/search":                     s.threadsSearch,
		"POST /threads/count":                      s.threadsCount,
		"GET /threads/{thread}":                    s.threadGet,
		"PATCH /threads/{thread}":                  s.threadPatch,
		"DELETE /threads/{thread}":                 s.threadDelete,
		"POST /threads/{thread}/copy":              s.threadCopy,
		"GET /threads/{thread}/state":              s.stateGet,
		"POST /threads/{thread}/state":             s.stateUpdate,
		"GET /threads/{thread}/history":            s.historyGet,
		"POST /threads/{thread}/history":           s.historyPost,
		"GET /threads/{thread}/runs":               s.runList,
		"POST /threads/{thread}/runs":              s.runCreate,
		"GET /threads/{thread}/runs/{run}":         s.runGet,
		"DELETE /threads/{thread}/runs/{run}":      s.runDelete,
		"POST /threads/{thread}/runs/stream":       s.runStream,
		"POST /threads/{thread}/runs/wait":         s.runWait,
		"GET /threads/{thread}/runs/{run}/join":    s.runJoin,
		"GET /threads/{thread}/runs/{run}/stream":  s.runJoinStream,
		"POST /threads/{thread}/runs/{run}/cancel": s.runCancel,
		"GET /threads/{thread}/state/{checkpoint}": s.stateAt,
		"POST /threads/{thread}/state/checkpoint":  s.stateAtCheckpoint,
		"POST /runs":                               s.statelessCreate,
		"POST /runs/stream":                        s.statelessStream,
		"POST /runs/wait":                          s.statelessWait,
		"POST /runs/batch":                         s.statelessBatch,
	}
	for _, absent := range absentPaths {
		routes[absent] = notHere
	}
	return routes
}

// absentPaths are parts of the API that this server has not; it says so.
var absentPaths = []string{
	"POST /assistants", "PATCH /assistants/{id}", "DELETE /assistants/{id}",
	"POST /assistants/{id}/versions", "POST /assistants/{id}/latest",
	"/runs/crons", "/runs/crons/", "POST /threads/{thread}/runs/crons", "/store/", "POST /threads/prune", "POST /runs/cancel",
	"PATCH /threads/{thread}/state", "GET /threads/{thread}/stream", "/ui/",
}

func notHere(w http.ResponseWriter, r *http.Request) {
	refuse(w, http.StatusNotFound, "%s is not part of this server", r.URL.Path)
}

func (s *Server) info(w http.ResponseWriter, _ *http.Request) {
	reply(w, map[string]any{"version": s.cfg.Version, "context": "go",
		"flags": map[string]bool{"assistants": true, "crons": false, "langsmith": false}})
}

// lead is the lead's name in messages.
func (s *Server) lead() string {
	if s.cfg.Lead != nil && s.cfg.Lead() != "" {
		return s.cfg.Lead()
	}
	return langrooms.Assistant
}

func (s *Server) who(r *http.Request) thread.Caller {
	if s.cfg.Who == nil {
		return thread.Caller{Admin: true}
	}
	return s.cfg.Who(r)
}
