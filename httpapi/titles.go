package httpapi

import (
	"net/http"
	"strconv"
)

// Title is what a thread is called by, and who has spoken there of late.
type Title struct {
	Thread string `json:"thread_id"`
	// Title is empty where nothing was said, or nothing that is to be told.
	Title  string   `json:"title"`
	Agents []string `json:"agents"`
}

// mostTitles bounds the threads of a request.
const mostTitles = 200

type titlesQuery struct {
	IDs []string `json:"ids"`
}

// titles tells a list of conversations what it shows, without their messages.
func (s *Server) titles(w http.ResponseWriter, r *http.Request) (any, error) {
	var q titlesQuery
	if err := read(w, r, &q); err != nil {
		return nil, err
	}
	if len(q.IDs) > mostTitles {
		return nil, &refusal{http.StatusUnprocessableEntity, "invalid_request", "ids are at most " + strconv.Itoa(mostTitles)}
	}
	out := titled{[]Title{}}
	if s.cfg.Titles == nil {
		return out, nil
	}
	found, err := s.cfg.Titles(r.Context(), s.cfg.Who(r), q.IDs)
	out.Titles = append(out.Titles, found...)
	return out, err
}
