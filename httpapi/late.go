package httpapi

import (
	"net/http"
	"time"
)

// Waiting is an answer that comes after its turn and is waited for.
type Waiting struct {
	// Member is who gives it.
	Member string `json:"member"`
	// Task is the peer's id of the task.
	Task string `json:"task"`
	// Since is when the waiting began.
	Since time.Time `json:"since"`
}

// waiting lists what is waited for on a thread.
func (s *Server) waiting(_ http.ResponseWriter, r *http.Request) (any, error) {
	if s.cfg.Waiting == nil {
		return nil, errNoThread
	}
	list, err := s.cfg.Waiting(r.Context(), s.cfg.Who(r), r.PathValue("id"))
	if list == nil {
		list = []Waiting{}
	}
	return awaited{list}, err
}

// withdraw ends the waiting for a member's answer.
func (s *Server) withdraw(_ http.ResponseWriter, r *http.Request) (any, error) {
	if s.cfg.Withdraw == nil {
		return nil, errNoThread
	}
	member := r.PathValue("member")
	was, err := s.cfg.Withdraw(r.Context(), s.cfg.Who(r), r.PathValue("id"), member)
	switch {
	case err != nil:
		return nil, err
	case !was:
		return nil, &refusal{http.StatusConflict, "not_waited", "no answer of that name is waited for on this thread"}
	}
	return withdrawn{member}, nil
}
