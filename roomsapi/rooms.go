package roomsapi

import (
	"bytes"
	"errors"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/langrooms/langrooms/sharedsession"
)

func (s *Server) create(w http.ResponseWriter, r *http.Request) (any, error) {
	f, err := body(w, r, false)
	if err != nil {
		return nil, err
	}
	var n sharedsession.NewRoom
	var agents []invitee
	for _, err := range []error{
		f.get("name", &n.Name, sharedsession.ErrName),
		f.get("agents", &agents, errBody),
		f.get("users", &n.Users, errBody),
		f.get("topic", &n.Topic, sharedsession.ErrTopic),
		f.get("max_messages", &n.MaxMessages, sharedsession.ErrBudget),
		f.get("max_cost_usd", &n.MaxCostUSD, sharedsession.ErrBudget),
		f.get("ttl_hours", &n.TTLHours, sharedsession.ErrBudget),
		f.get("scribe", &n.Scribe, sharedsession.ErrScribe),
	} {
		if err != nil {
			return nil, err
		}
	}
	for _, a := range agents {
		n.Agents = append(n.Agents, sharedsession.Invitee(a))
	}
	return answer(s.cfg.Rooms.Create(r.Context(), s.cfg.Who(r), n))
}

// answer makes a handler's answer of a typed one.
func answer[T any](v T, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return v, nil
}

func (s *Server) list(_ http.ResponseWriter, r *http.Request) (any, error) {
	n, err := limit(r)
	if err != nil {
		return nil, err
	}
	return answer(s.cfg.Rooms.List(r.Context(), s.cfg.Who(r), n, r.URL.Query().Get("cursor")))
}

func (s *Server) read(_ http.ResponseWriter, r *http.Request) (any, error) {
	since, err1 := number(r, "since")
	before, err2 := number(r, "before")
	n, err3 := limit(r)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, s.unusable(r, err)
	}
	p := sharedsession.Page{Limit: n}
	if since != nil {
		p.Since = *since
	}
	if before != nil {
		p.Before = *before
	}
	return answer(s.cfg.Rooms.Read(r.Context(), s.cfg.Who(r), r.PathValue("id"), p))
}

func (s *Server) post(w http.ResponseWriter, r *http.Request) (any, error) {
	p := sharedsession.NewPost{Key: r.Header.Get("Idempotency-Key")}
	f, err := body(w, r, false)
	if err == nil {
		err = errors.Join(f.get("content", &p.Content, sharedsession.ErrEmpty), f.get("mentions", &p.Mentions, errBody))
	}
	if q := r.URL.Query(); err == nil && q.Has("wait") {
		if p.Wait, err = strconv.ParseBool(q.Get("wait")); err != nil {
			err = sharedsession.ErrQuery
		}
	}
	if err == nil && utf8.RuneCountInString(p.Key) > 255 {
		err = errKey
	}
	if err != nil {
		return nil, s.unusable(r, err)
	}
	if p.Wait {
		unbounded(w)
	}
	return answer(s.cfg.Rooms.Post(r.Context(), s.cfg.Who(r), r.PathValue("id"), p))
}

func (s *Server) patch(w http.ResponseWriter, r *http.Request) (any, error) {
	var p sharedsession.Patch
	f, err := body(w, r, false)
	if err == nil {
		err = errors.Join(
			change(f, "name", &p.Name, sharedsession.ErrName),
			change(f, "topic", &p.Topic, sharedsession.ErrTopic),
			change(f, "max_messages", &p.MaxMessages, sharedsession.ErrBudget),
			change(f, "max_cost_usd", &p.MaxCostUSD, sharedsession.ErrBudget),
			change(f, "ttl_hours", &p.TTLHours, sharedsession.ErrBudget))
	}
	if f.has("status") && err == nil {
		var status sharedsession.Status
		if err = f.get("status", &status, errStatus); err == nil && status != sharedsession.Open {
			err = errStatus
		}
		p.Reopen = true
	}
	if err != nil {
		return nil, s.unusable(r, err)
	}
	return answer(s.cfg.Rooms.Patch(r.Context(), s.cfg.Who(r), r.PathValue("id"), p))
}

func (s *Server) close(w http.ResponseWriter, r *http.Request) (any, error) {
	var reason string
	f, err := body(w, r, true)
	if err == nil {
		err = f.get("reason", &reason, sharedsession.ErrReason)
	}
	if err != nil {
		return nil, s.unusable(r, err)
	}
	return answer(s.cfg.Rooms.Shut(r.Context(), s.cfg.Who(r), r.PathValue("id"), reason))
}

func (s *Server) add(w http.ResponseWriter, r *http.Request) (any, error) {
	var who sharedsession.Party
	var role sharedsession.Role
	f, err := body(w, r, false)
	if err == nil {
		err = errors.Join(f.get("kind", &who.Kind, sharedsession.ErrParticipant), f.get("name", &who.Name, sharedsession.ErrParticipant),
			f.get("role", &role, sharedsession.ErrRole))
	}
	if err != nil {
		return nil, s.unusable(r, err)
	}
	return answer(s.cfg.Rooms.AddParticipant(r.Context(), s.cfg.Who(r), r.PathValue("id"), who, role))
}

func (s *Server) remove(_ http.ResponseWriter, r *http.Request) (any, error) {
	kind := sharedsession.Kind(r.URL.Query().Get("kind"))
	return answer(s.cfg.Rooms.RemoveParticipant(r.Context(), s.cfg.Who(r), r.PathValue("id"), kind, r.PathValue("name")))
}

func (s *Server) stop(_ http.ResponseWriter, r *http.Request) (any, error) {
	return answer(s.cfg.Rooms.Stop(r.Context(), s.cfg.Who(r), r.PathValue("id"), r.PathValue("wake")))
}

func (s *Server) export(w http.ResponseWriter, r *http.Request) (any, error) {
	format := sharedsession.Markdown
	if q := r.URL.Query(); q.Has("format") {
		format = sharedsession.Format(q.Get("format"))
	}
	var text bytes.Buffer
	if err := s.cfg.Rooms.Export(r.Context(), s.cfg.Who(r), r.PathValue("id"), format, &text); err != nil {
		return nil, err
	}
	kind := "text/markdown; charset=utf-8"
	if format == sharedsession.JSON {
		kind = "application/json"
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(text.Bytes()) // who asked may have gone
	return answered, nil
}
