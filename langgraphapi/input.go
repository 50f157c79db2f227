package langgraphapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/runs"
)

// input is what a run is about: the last new human message is the turn, new ones before it are
// given to the thread first. Without one a turn is taken again from the checkpoint.
func (s *Server) input(ctx context.Context, k known, q runQuery) (runs.Input, error) {
	c := q.Config.Configurable
	in := runs.Input{Checkpoint: q.at(), Incognito: c.Incognito, Ask: c.Ask, Answer: c.Answer}
	var body struct {
		Messages inputMessages `json:"messages"`
	}
	if text := strings.TrimSpace(string(q.Input)); text != "" && text != "null" {
		if err := json.Unmarshal(q.Input, &body); err != nil {
			var p *problem
			if errors.As(err, &p) {
				return in, p
			}
			return in, refused(http.StatusUnprocessableEntity, "input must be an object with messages")
		}
	}
	at := checkpointer.Ref{Thread: k.ID, ID: in.Checkpoint}
	if in.Checkpoint != "" {
		if _, err := s.cfg.Saver.Get(ctx, at); errors.Is(err, checkpointer.ErrNotFound) {
			return in, refused(http.StatusNotFound, "the thread %q has no checkpoint %q", k.ID, in.Checkpoint)
		} else if err != nil {
			return in, err
		}
	}
	fresh, err := s.fresh(ctx, at, body.Messages)
	if err != nil {
		return in, err
	}
	last := -1
	for i, m := range fresh {
		if m.Role == langrooms.RoleHuman {
			last = i
		}
	}
	if last < 0 {
		in.Before = fresh
		return s.again(ctx, at, in)
	}
	in.Before, in.Message, in.Text = fresh[:last], fresh[last], fresh[last].Text()
	return in, langrooms.CheckText(in.Text)
}

// looksBack is how many of the newest messages are looked through for ids that a client sends
// again.
const looksBack = 2000

// fresh returns those of the messages that the thread does not hold.
func (s *Server) fresh(ctx context.Context, at checkpointer.Ref, sent []inputMessage) (fresh []langrooms.Message, err error) {
	held, err := s.held(ctx, at, sent)
	if err != nil {
		return nil, err
	}
	for _, m := range sent {
		role, err := m.role()
		if err != nil {
			return nil, err
		}
		if role == "remove" || strings.HasPrefix(m.ID, toolless) || m.ID != "" && held[m.ID] {
			continue
		}
		stored, err := m.stored(role)
		if err != nil {
			return nil, err
		}
		fresh = append(fresh, stored)
	}
	return fresh, nil
}

// held returns the ids among those of sent that the thread holds. It reads the thread only where there
// are any, and as far as it must.
func (s *Server) held(ctx context.Context, at checkpointer.Ref, sent []inputMessage) (map[string]bool, error) {
	held, open := map[string]bool{}, map[string]bool{}
	for _, m := range sent {
		if m.ID != "" && !strings.HasPrefix(m.ID, toolless) {
			open[m.ID] = true
		}
	}
	if len(open) == 0 {
		return held, nil
	}
	for m, err := range s.cfg.Saver.Messages(ctx, at, checkpointer.Range{Backward: true, Limit: checkpointer.N(looksBack)}) {
		if errors.Is(err, checkpointer.ErrNotFound) {
			break
		}
		if err != nil {
			return nil, err
		}
		if open[m.ID] {
			held[m.ID] = true
			if delete(open, m.ID); len(open) == 0 {
				break
			}
		}
	}
	return held, nil
}

// again makes the run one that takes the newest turn before its checkpoint once more.
func (s *Server) again(ctx context.Context, at checkpointer.Ref, in runs.Input) (runs.Input, error) {
	if in.Checkpoint == "" {
		return in, nil // nothing to do
	}
	for m, err := range s.cfg.Saver.Messages(ctx, at, checkpointer.Range{Backward: true}) {
		if err != nil {
			return in, err
		}
		byOperator := m.Role == langrooms.RoleHuman && (m.Stamp == nil || m.Stamp.From == langrooms.Operator)
		if !byOperator {
			continue
		}
		seq := m.Seq
		in.UpTo, in.Message, in.Text = &seq, m, addressText(m)
		in.Incognito = in.Incognito || m.Stamp != nil && m.Stamp.Incognito
		in.Message.Stamp = nil
		return in, nil
	}
	return in, nil
}
