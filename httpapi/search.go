package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"
)

// ErrNoText means that there is nothing to search for.
var ErrNoText = errors.New("httpapi: there is nothing to search for")

// Found is a conversation in which a text was said, with the newest message that holds it.
type Found struct {
	Thread string `json:"thread_id"`
	// Kind is "thread", or "room" for a shared session.
	Kind string `json:"kind" enum:"thread,room"`
	// Message is the message's id; Author is empty where it bears no name.
	Message string    `json:"message_id"`
	Author  string    `json:"author"`
	Time    time.Time `json:"time"`
	// Excerpt is what was found and what stands around it, on one line.
	Excerpt string `json:"excerpt"`
}

const (
	// searchBound is how long a search may read; what it has found by then is the answer.
	searchBound = 10 * time.Second
	// maxSearch bounds the text in characters, mostFound the conversations of an answer.
	maxSearch = 200
	mostFound = 100
)

// search finds what was said in the caller's threads and shared sessions.
func (s *Server) search(_ http.ResponseWriter, r *http.Request) (any, error) {
	q := r.URL.Query()
	text, limit := q.Get("q"), 20
	if v := q.Get("limit"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || n > mostFound {
			return nil, &refusal{http.StatusUnprocessableEntity, "invalid_request", "limit is 1 to " + strconv.Itoa(mostFound)}
		}
		limit = n
	}
	if !utf8.ValidString(text) || utf8.RuneCountInString(text) > maxSearch {
		return nil, &refusal{http.StatusUnprocessableEntity, "invalid_request", "q has at most " + strconv.Itoa(maxSearch) + " characters"}
	}
	if s.cfg.Search == nil {
		return nil, &refusal{http.StatusNotFound, "no_search", "this server's threads cannot be searched"}
	}
	ctx, cancel := context.WithTimeout(r.Context(), searchBound)
	defer cancel()
	found, err := s.cfg.Search(ctx, s.cfg.Who(r), text, limit)
	more := len(found) == limit
	switch {
	case err != nil && ctx.Err() != nil:
		more = true
	case err != nil:
		return nil, err
	}
	if found == nil {
		found = []Found{}
	}
	return searched{found, more}, nil
}
