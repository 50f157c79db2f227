package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/consent"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/hotreload"
)

// Caller is who asks, as the credential says.
type Caller struct {
	// Name is the caller's, as answers bear it.
	Name string
	// Admin may probe delegates, answer what members ask leave for, and see and change the settings.
	Admin bool
	// Agents are the delegates that the caller reaches; nil means all of them.
	Agents []string
}

func (c Caller) reaches(name string) bool { return c.Agents == nil || slices.Contains(c.Agents, name) }

// Config wires a [Server].
type Config struct {
	// Roster is the live roster. Required.
	Roster *delegate.Live
	// File is the configuration file; nil where the built-in configuration is in force, which
	// cannot be changed.
	File *hotreload.File
	// InForce is the configuration in force. Required.
	InForce func() hotreload.Config
	// Questions are what members ask leave for; nil has none.
	Questions *consent.Desk
	// Compact puts a summary in place of all but the keep newest messages of a thread that the
	// caller may use (else thread.ErrNone) and returns how many it replaced; an empty text has a
	// model write it. Nil has no threads.
	Compact func(ctx context.Context, who Caller, thread string, keep int, text string) (int, error)
	// Threads does what is done to whole threads; nil has none.
	Threads Threads
	// Costs returns what a thread that the caller may use has cost (else thread.ErrNone). Nil has
	// no threads.
	Costs func(ctx context.Context, who Caller, thread string) (exchange.Costs, error)
	// Files returns the newest files of a thread that the caller may use (else thread.ErrNone), and
	// OpenFile the content of one, by its message and its number there from 0; ok is false where
	// there is none. Nil has no threads.
	Files    func(ctx context.Context, who Caller, thread string) ([]File, error)
	OpenFile func(ctx context.Context, who Caller, thread, message string, n int) (file langrooms.Part, ok bool, err error)
	// StopMember stops what a member is being asked on a thread that the caller may use (else
	// thread.ErrNone), or with "" all that is being asked there, and returns the runs in which it
	// was, or was told to be, stopped. Nil has no threads.
	StopMember func(ctx context.Context, who Caller, thread, member string) (runs []string, err error)
	// Waiting lists the late answers that are waited for on a thread that the caller may use (else
	// thread.ErrNone), and Withdraw ends the waiting for a member's, and reports whether there was
	// one. Nil has no threads.
	Waiting  func(ctx context.Context, who Caller, thread string) ([]Waiting, error)
	Withdraw func(ctx context.Context, who Caller, thread, member string) (withdrawn bool, err error)
	// Search finds at most so many conversations that the caller may read in which a text was said,
	// newest first; what has been found when ctx ends is returned beside the error. ErrNoText where
	// there is no text. Nil has no threads.
	Search func(ctx context.Context, who Caller, text string, most int) ([]Found, error)
	// Titles tells what threads are called; those that the caller may not use are left out. Nil has no threads.
	Titles func(ctx context.Context, who Caller, threads []string) ([]Title, error)
	// Who says who sent a request. Required.
	Who func(*http.Request) Caller
}

// Server answers requests. Make one with [New].
type Server struct {
	cfg Config
	mux *http.ServeMux
}

// New returns a server. It does no I/O.
func New(cfg Config) (*Server, error) {
	if cfg.Roster == nil || cfg.InForce == nil || cfg.Who == nil {
		return nil, errors.New("httpapi: Config.Roster, Config.InForce and Config.Who are required")
	}
	if cfg.Questions == nil {
		cfg.Questions = &consent.Desk{}
	}
	s := &Server{cfg: cfg, mux: http.NewServeMux()}
	for pattern, h := range s.routes() {
		s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			answer, err := h(w, r)
			s.answer(w, answer, err)
		})
	}
	return s, nil
}

type handler func(http.ResponseWriter, *http.Request) (any, error)

func (s *Server) routes() map[string]handler {
	return map[string]handler{
		"GET /api/mentions":                           s.mentions,
		"GET /api/delegates":                          s.delegates,
		"POST /api/delegates":                         s.admin(s.addDelegate),
		"GET /api/delegate-types":                     s.admin(s.types),
		"GET /api/delegates/{name}":                   s.admin(s.delegate),
		"PUT /api/delegates/{name}":                   s.admin(s.changeDelegate),
		"DELETE /api/delegates/{name}":                s.admin(s.removeDelegate),
		"POST /api/delegates/{name}/probe":            s.admin(s.probe),
		"POST /api/threads/{id}/compact":              s.compact,
		"POST /api/threads/{id}/uncompact":            s.uncompact,
		"POST /api/threads/{id}/rewind":               s.rewind,
		"GET /api/threads/{id}/export":                s.export,
		"POST /api/threads/{id}/import":               s.admin(s.importThread),
		"GET /api/threads/{id}/costs":                 s.costs,
		"GET /api/threads/{id}/files":                 s.files,
		"GET /api/threads/{id}/files/{message}/{n}":   s.openFile,
		"POST /api/threads/{id}/stop":                 s.stopMember,
		"GET /api/threads/{id}/late":                  s.waiting,
		"DELETE /api/threads/{id}/late/{member}":      s.withdraw,
		"GET /api/threads/{id}/questions":             s.admin(s.questions),
		"POST /api/threads/{id}/questions/{question}": s.admin(s.answerQuestion),
		"POST /api/threads/titles":                    s.titles,
		"GET /api/search":                             s.search,
		"GET /api/settings":                           s.admin(s.settings),
		"PUT /api/settings":                           s.admin(s.save),
	}
}

// Patterns are the patterns under which the server is to be mounted.
func (s *Server) Patterns() []string {
	var all []string
	for pattern := range s.routes() {
		all = append(all, pattern)
	}
	return all
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// admin lets only admins through.
func (s *Server) admin(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) (any, error) {
		if !s.cfg.Who(r).Admin {
			return nil, &refusal{http.StatusForbidden, "forbidden", "only an admin may do this"}
		}
		return h(w, r)
	}
}

func (s *Server) answer(w http.ResponseWriter, answer any, err error) {
	switch file, isFile := answer.(langrooms.Part); {
	case err != nil:
		r := refused(err)
		write(w, r.status, refusalBody{detail{r.code, r.message}})
	case answer == nothing{}:
	case isFile:
		send(w, file)
	default:
		write(w, http.StatusOK, answer)
	}
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // who asked may have gone
}

// maxBody bounds a body in bytes.
const maxBody = 1 << 20

var errLarge = &refusal{http.StatusRequestEntityTooLarge, "body_too_large", "the body is too large"}

// read decodes a body's object.
func read(w http.ResponseWriter, r *http.Request, into any) error {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return errLarge
	case err != nil || !json.Valid(data):
		return &refusal{http.StatusBadRequest, "invalid_json", "the body cannot be read as JSON"}
	}
	if err := json.Unmarshal(data, into); err != nil {
		return &refusal{http.StatusUnprocessableEntity, "invalid_request", "the body is not an object with usable values"}
	}
	return nil
}
