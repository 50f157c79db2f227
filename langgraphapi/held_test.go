package langgraphapi

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

// counted counts the messages that are read.
type counted struct {
	checkpointer.Saver
	n int
}

func (c *counted) Messages(ctx context.Context, at checkpointer.Ref, r checkpointer.Range) iter.Seq2[langrooms.Message, error] {
	return func(yield func(langrooms.Message, error) bool) {
		for m, err := range c.Saver.Messages(ctx, at, r) {
			c.n++
			if !yield(m, err) {
				return
			}
		}
	}
}

// What a run brings is compared with what the thread holds, and no more of the thread is read for it
// than must be: nothing for messages without ids, which are new.
func TestAThreadIsNotReadForNewMessages(t *testing.T) {
	s, saver := stand(t)
	var all []langrooms.Message
	for i := range 50 {
		m := langrooms.NewMessage(langrooms.RoleHuman, fmt.Sprint("text ", i))
		m.ID = fmt.Sprint("m-", i)
		all = append(all, m)
	}
	at, err := saver.Put(t.Context(), checkpointer.Ref{Thread: "t"}, checkpointer.Step{Log: checkpointer.Append(all...)})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		ids         []string
		fresh, read int
	}{
		{[]string{""}, 1, 0},
		{[]string{"m-48", "m-49", ""}, 1, 2},
		{[]string{"m-49", "new"}, 1, 50},
	} {
		c := &counted{Saver: saver}
		s.cfg.Saver = c
		var sent []inputMessage
		for _, id := range tt.ids {
			var m inputMessage
			if err := m.UnmarshalJSON([]byte(fmt.Sprintf(`{"type":"human","content":"hi","id":%q}`, id))); err != nil {
				t.Fatal(err)
			}
			sent = append(sent, m)
		}
		fresh, err := s.fresh(t.Context(), at, sent)
		if err != nil || len(fresh) != tt.fresh || c.n != tt.read {
			t.Errorf("%v: %d are new, %d were read, %v; want %d, %d", tt.ids, len(fresh), c.n, err, tt.fresh, tt.read)
		}
	}
}
