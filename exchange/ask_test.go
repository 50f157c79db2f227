package exchange_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/room"
	"github.com/langrooms/langrooms/thread"
)

// post puts what the operator says under a short hold, and returns what the thread then is.
func post(t *testing.T, s checkpointer.Saver, m langrooms.Message) thread.View {
	t.Helper()
	h, err := exchange.Hold(t.Context(), s, "t")
	if err != nil {
		t.Fatal(err)
	}
	err = h.Put(thread.Step{Source: "input", Messages: []langrooms.Message{m}})
	view := h.View()
	if err := errors.Join(err, h.End()); err != nil {
		t.Fatal(err)
	}
	return view
}

// store records an answer under a short hold.
func store(ctx context.Context, s checkpointer.Saver, r exchange.Room, a exchange.Answer) error {
	h, err := exchange.Hold(ctx, s, "t")
	if err != nil {
		return err
	}
	return errors.Join(exchange.Record(h, r, &a, thread.Step{}), h.End())
}

// Two members are asked side by side, and the operator posts while both are at work: nobody
// waits for anybody, and every record lands, in the order in which it came.
func TestAskNeedsNoHold(t *testing.T) {
	s := memory(t)
	asked, release := make(chan string), map[string]chan struct{}{"a": make(chan struct{}), "b": make(chan struct{})}
	slow := func(name string) *voice {
		return &voice{name, func(context.Context, delegate.Request) (delegate.Reply, error) {
			asked <- name
			<-release[name]
			return delegate.Reply{Text: "I am " + name}, nil
		}}
	}
	r := roomOf(t, 1, slow("a"), slow("b"))
	view := post(t, s, room.NewAddress(langrooms.Operator, []string{"a", "b"}, "x", "who are you?", false))
	stored := make(chan error)
	for _, member := range []string{"a", "b"} {
		go func() {
			a, err := exchange.Ask(t.Context(), r, view, exchange.Question{
				Exchange: "x", Round: 1, Member: member, Message: "who are you?",
				From: room.Speaker{Kind: room.SpeakerUser, Name: langrooms.Operator}})
			if err == nil && a.Seen != 1 {
				err = errors.New("seen is not the view's end")
			}
			stored <- errors.Join(err, store(t.Context(), s, r, a))
		}()
	}
	<-asked
	<-asked // both are at work
	post(t, s, langrooms.NewMessage(langrooms.RoleHuman, "meanwhile"))
	for _, member := range []string{"b", "a"} {
		close(release[member])
		if err := <-stored; err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, m := range messages(t, s, "t") {
		got = append(got, m.Text())
	}
	if want := []string{"who are you?", "meanwhile", "I am b", "I am a"}; !slices.Equal(got, want) {
		t.Errorf("the thread is %q, want %q", got, want)
	}
}

// What a question's values say is obeyed: the frame writes the prompt, a refusal is told
// without a dispatch, unsaved messages are shown.
func TestQuestion(t *testing.T) {
	s := memory(t)
	var prompts []string
	r := roomOf(t, 1, &voice{"a", func(_ context.Context, req delegate.Request) (delegate.Reply, error) {
		prompts = append(prompts, req.Prompt)
		return delegate.Reply{Text: "yes"}, nil
	}})
	view := post(t, s, langrooms.NewMessage(langrooms.RoleHuman, "stored")).With(langrooms.NewMessage(langrooms.RoleHuman, "unsaved"))
	q := exchange.Question{Exchange: "x", Round: 1, Member: "a", Message: "well?",
		From: room.Speaker{Kind: room.SpeakerAgent, Name: "b"},
		Frame: func(in room.PromptInput) string {
			prompt := string(in.From.Kind) + " " + in.From.Name + ": " + in.Message
			for _, line := range in.Window.Lines {
				prompt += " / " + line.Text
			}
			return prompt
		}}
	a, err := exchange.Ask(t.Context(), r, view, q)
	if want := []string{"agent b: well? / stored / unsaved"}; err != nil || !slices.Equal(prompts, want) || a.Seen != 2 {
		t.Errorf("prompts %q, seen %d, error %v", prompts, a.Seen, err)
	}
	q.Member = "nobody"
	if _, err := exchange.Ask(t.Context(), r, view, q); !errors.Is(err, exchange.ErrNoMember) {
		t.Errorf("nobody: %v", err)
	}
}

// An exchange in which several members were being asked is closed for each of them, and what
// earlier versions stored of one is still read.
func TestSeveralAreInterrupted(t *testing.T) {
	for open, want := range map[string][]string{
		`{"exchange":"x","round":1,"running":["a","b"],"waiting":["c"]}`: {"a", "b", "c"},
		`{"exchange":"x","round":2,"running":"a"}`:                       {"a"},
	} {
		s := memory(t)
		if _, err := s.Put(t.Context(), checkpointer.Ref{Thread: "t"},
			checkpointer.Step{Channels: map[string][]byte{"room.open": []byte(open)}}); err != nil {
			t.Fatal(err)
		}
		got, err := exchange.Sweep(t.Context(), s, "t")
		if err != nil || !slices.Equal(got, want) || len(messages(t, s, "t")) != len(want) {
			t.Errorf("%s: closed %q, %v", open, got, err)
		}
	}
}
