package httpapi

import (
	"errors"
	"net/http"
	"time"

	"github.com/langrooms/langrooms/consent"
)

// question is what a member asks leave for.
type question struct {
	ID      string    `json:"id"`
	Member  string    `json:"member"`
	Title   string    `json:"title"`
	Kind    string    `json:"kind"`
	Choices []string  `json:"choices"`
	Since   time.Time `json:"since"`
}

// questions lists what waits for an answer in a thread, in turns of this process. What a member
// asks is leave to act on the server's machine, so that it is the admins' to see and to give.
func (s *Server) questions(_ http.ResponseWriter, r *http.Request) (any, error) {
	list := []question{}
	for _, q := range s.cfg.Questions.List(r.PathValue("id")) {
		list = append(list, question{q.ID, q.Member, q.Title, q.Kind, q.Choices, q.Since})
	}
	return questions{list}, nil
}

type answerQuery struct {
	Answer consent.Choice `json:"answer"`
}

// answerQuestion answers one; the first answer counts.
func (s *Server) answerQuestion(w http.ResponseWriter, r *http.Request) (any, error) {
	var q answerQuery
	if err := read(w, r, &q); err != nil {
		return nil, err
	}
	given, err := s.cfg.Questions.Answer(r.PathValue("id"), r.PathValue("question"), q.Answer, s.cfg.Who(r).Name)
	if errors.Is(err, consent.ErrAnswered) {
		return nil, &refusal{http.StatusConflict, "answered", given.By + " was first: " + given.Answer}
	}
	return given, err
}
