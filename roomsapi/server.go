package roomsapi

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/langrooms/langrooms/sharedsession"
)

// Config wires a [Server].
type Config struct {
	// Rooms is what is served. Required.
	Rooms *sharedsession.Service
	// Who says who sent a request. Required.
	Who func(*http.Request) sharedsession.Caller
	// Failed is told of errors that are not the caller's; nil drops them.
	Failed func(error)
}

// Server answers requests under /api/rooms. Make one with [New].
type Server struct {
	cfg Config
	mux *http.ServeMux
}

// New returns a server. It does no I/O.
func New(cfg Config) (*Server, error) {
	if cfg.Rooms == nil || cfg.Who == nil {
		return nil, errors.New("roomsapi: Config.Rooms and Config.Who are required")
	}
	if cfg.Failed == nil {
		cfg.Failed = func(error) {}
	}
	s := &Server{cfg: cfg, mux: http.NewServeMux()}
	for pattern, h := range s.routes() {
		s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			answer, err := h(w, r)
			s.answer(w, r, answer, err)
		})
	}
	return s, nil
}

// handler answers a request, or has written its answer itself.
type handler func(http.ResponseWriter, *http.Request) (any, error)

func (s *Server) routes() map[string]handler {
	return map[string]handler{
		"POST /api/rooms":                            s.create,
		"GET /api/rooms":                             s.list,
		"GET /api/rooms/{id}":                        s.read,
		"PATCH /api/rooms/{id}":                      s.patch,
		"POST /api/rooms/{id}/messages":              s.post,
		"POST /api/rooms/{id}/close":                 s.close,
		"POST /api/rooms/{id}/participants":          s.add,
		"DELETE /api/rooms/{id}/participants/{name}": s.remove,
		"GET /api/rooms/{id}/export":                 s.export,
		"GET /api/rooms/{id}/events":                 s.events,
		"POST /api/rooms/{id}/wakes/{wake}/stop":     s.stop,
	}
}

// Patterns are the patterns under which the server is to be mounted.
func (s *Server) Patterns() []string { return []string{"/api/rooms", "/api/rooms/"} }

// notEnabled is the detail where there are no shared sessions (spec 1.6).
const notEnabled = "shared sessions are not enabled on this instance"

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.cfg.Rooms.Enabled() {
		write(w, http.StatusNotFound, map[string]string{"detail": notEnabled})
		return
	}
	if _, pattern := s.mux.Handler(r); pattern == "" && r.URL.Path != "/api/rooms" {
		s.answer(w, r, nil, sharedsession.ErrNotFound)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// answered says that a handler has written its answer itself.
var answered = &struct{}{}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, answer any, err error) {
	var refusal *sharedsession.Error
	switch {
	case err == nil && answer == answered:
	case err == nil:
		write(w, http.StatusOK, answer)
	case errors.As(err, &refusal):
		write(w, statusOf(refusal), detail{refused{refusal.Code, refusal.Message, refusal.StopReason}})
	case r.Context().Err() != nil: // nobody reads it
	default:
		s.cfg.Failed(err)
		write(w, http.StatusInternalServerError, detail{refused{Code: "internal", Message: "the rooms' store failed"}})
	}
}

type detail struct {
	Detail refused `json:"detail"`
}

type refused struct {
	Code       string `json:"code"`
	Message    string `json:"message"`
	StopReason string `json:"stop_reason,omitempty"`
}

// statuses are those of the refusals that are not 422.
var statuses = map[string]int{
	sharedsession.ErrNotFound.Code:     http.StatusNotFound,
	sharedsession.ErrWakeNotFound.Code: http.StatusNotFound,
	sharedsession.ErrClosed.Code:       http.StatusGone,
	sharedsession.ErrForbidden.Code:    http.StatusForbidden,
	sharedsession.ErrAccess.Code:       http.StatusForbidden,
	sharedsession.ErrTooLarge.Code:     http.StatusRequestEntityTooLarge,
	sharedsession.ErrInFlight.Code:     http.StatusConflict,
	errJSON.Code:                       http.StatusBadRequest,
}

func statusOf(e *sharedsession.Error) int {
	if status, ok := statuses[e.Code]; ok {
		return status
	}
	return http.StatusUnprocessableEntity
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // who asked may have gone
}

// unbounded lifts the server's bound on the time that a request is read: the answer comes
// when it comes.
func unbounded(w http.ResponseWriter) *http.ResponseController {
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(time.Time{}) // a recorder has none
	_ = c.SetWriteDeadline(time.Time{})
	return c
}

// number reads a whole number of the query; absent is nil.
func number(r *http.Request, name string) (*int64, error) {
	q := r.URL.Query()
	if !q.Has(name) {
		return nil, nil
	}
	n, err := strconv.ParseInt(q.Get(name), 10, 64)
	if err != nil || n < 0 {
		return nil, sharedsession.ErrQuery
	}
	return &n, nil
}

func limit(r *http.Request) (*int, error) {
	n, err := number(r, "limit")
	if err != nil || n == nil {
		return nil, err
	}
	l := int(min(*n, sharedsession.MaxLimit))
	return &l, nil
}

// unusable answers a request that cannot be used: first of all whether there is a room for
// the caller at all.
func (s *Server) unusable(r *http.Request, err error) error {
	if refusal := s.cfg.Rooms.Access(r.Context(), s.cfg.Who(r), r.PathValue("id"), r.Method != http.MethodGet); refusal != nil {
		return refusal
	}
	return err
}
