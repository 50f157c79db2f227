package httpapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/langrooms/langrooms/lifecycle"
)

// compactBound is how long a compaction may take, the wait for the thread and the model's
// words included.
const compactBound = 3 * time.Minute

type compactQuery struct {
	Keep    int    `json:"keep"`
	Summary string `json:"summary"`
}

// compact puts a summary in place of a thread's older messages. Without a text the lead's
// model writes it.
func (s *Server) compact(w http.ResponseWriter, r *http.Request) (any, error) {
	q := compactQuery{Keep: lifecycle.DefaultKeep}
	if err := read(w, r, &q); err != nil {
		return nil, err
	}
	if s.cfg.Compact == nil {
		return nil, errNoThread
	}
	ctx, cancel := context.WithTimeout(r.Context(), compactBound)
	defer cancel()
	replaced, err := s.cfg.Compact(ctx, s.cfg.Who(r), r.PathValue("id"), q.Keep, q.Summary)
	switch {
	case errors.Is(err, context.DeadlineExceeded) && r.Context().Err() == nil:
		return nil, errBusy
	case err != nil:
		return nil, err
	}
	return compacted{replaced}, nil
}
