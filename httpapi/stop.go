package httpapi

import (
	"net/http"
	"strings"
)

type stopQuery struct {
	Member string `json:"member"`
}

// stopMember stops one member that is being asked on a thread, or without a name all that are; the
// turn goes on with the rest. A turn as a whole is stopped by cancelling its run.
func (s *Server) stopMember(w http.ResponseWriter, r *http.Request) (any, error) {
	var q stopQuery
	if err := read(w, r, &q); err != nil {
		return nil, err
	}
	if s.cfg.StopMember == nil {
		return nil, errNoThread
	}
	runs, err := s.cfg.StopMember(r.Context(), s.cfg.Who(r), r.PathValue("id"), strings.TrimPrefix(q.Member, "@"))
	switch {
	case err != nil:
		return nil, err
	case len(runs) == 0:
		return nil, &refusal{http.StatusConflict, "not_asked", "nobody of that name is being asked on this thread"}
	}
	return stopped{runs}, nil
}
