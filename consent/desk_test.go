package consent_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/consent"
	"github.com/langrooms/langrooms/delegate"
)

// asks has a member ask in a turn of its own, and returns where its answer comes and what the
// turn is told.
func asks(ctx context.Context, d *consent.Desk, thread, title string) (answer <-chan delegate.PermissionAnswer, told <-chan langrooms.Event, end func()) {
	events, answers := make(chan langrooms.Event, 8), make(chan delegate.PermissionAnswer, 1)
	ctx, end = d.InTurn(ctx, thread, func(e langrooms.Event) { events <- e })
	go func() {
		answers <- d.Permission(ctx, delegate.PermissionRequest{Delegate: "proto", Title: title, Kind: "execute"})
	}()
	return answers, events, end
}

// The first answer counts, and who comes later is told what it was.
func TestFirstAnswerCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d consent.Desk
		answer, told, end := asks(t.Context(), &d, "t", "go test")
		q := <-told
		if q.Type != langrooms.EventQuestion || q.Member != "proto" || q.Question.Title != "go test" || len(q.Question.Choices) != 3 {
			t.Fatalf("told of %+v", q)
		}
		if open := d.List("t"); len(open) != 1 || open[0].ID != q.Question.ID || open[0].Member != "proto" {
			t.Errorf("open are %+v", open)
		}
		if len(d.List("other")) != 0 {
			t.Error("another thread has the question")
		}
		for _, bad := range []struct {
			thread string
			choice consent.Choice
			want   error
		}{{"other", consent.ChoiceOnce, consent.ErrUnknown}, {"t", "maybe", consent.ErrChoice}, {"t", consent.ChoiceNone, consent.ErrChoice}} {
			if _, err := d.Answer(bad.thread, q.Question.ID, bad.choice, "ada"); !errors.Is(err, bad.want) {
				t.Errorf("%s on %s: %v, want %v", bad.choice, bad.thread, err, bad.want)
			}
		}
		if _, err := d.Answer("t", q.Question.ID, consent.ChoiceConversation, "ada"); err != nil {
			t.Fatal(err)
		}
		if got := <-answer; got != delegate.PermissionConversation {
			t.Errorf("the member is told %q", got)
		}
		if e := <-told; e.Type != langrooms.EventAnswered || e.Question.ID != q.Question.ID || e.Question.Answer != "conversation" || e.Question.By != "ada" {
			t.Errorf("told of %+v", e)
		}
		before, err := d.Answer("t", q.Question.ID, consent.ChoiceNo, "bob")
		if !errors.Is(err, consent.ErrAnswered) || before.By != "ada" {
			t.Errorf("a second answer: %+v %v", before, err)
		}
		if _, err := d.Answer("other", q.Question.ID, consent.ChoiceNo, "bob"); !errors.Is(err, consent.ErrUnknown) {
			t.Errorf("a second answer by way of another thread: %v", err)
		}
		end()
		if _, err := d.Answer("t", q.Question.ID, consent.ChoiceNo, "bob"); !errors.Is(err, consent.ErrUnknown) {
			t.Errorf("an answer after the turn: %v", err)
		}
	})
}

// A question that nobody answers is refused when its context ends, and is not open any more.
func TestNobodyAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d consent.Desk
		ctx, cancel := context.WithCancel(t.Context())
		answer, told, end := asks(ctx, &d, "t", "")
		defer end()
		q := <-told
		if len(q.Question.Choices) != 2 {
			t.Errorf("a call without a title may be allowed for the conversation: %v", q.Question.Choices)
		}
		cancel()
		if got := <-answer; got != delegate.PermissionNo {
			t.Errorf("the member is told %q", got)
		}
		if e := <-told; e.Question.Answer != "none" || e.Question.By != "" {
			t.Errorf("told of %+v", e.Question)
		}
		if len(d.List("t")) != 0 {
			t.Error("it is still open")
		}
	})
}

// Outside of a turn that may ask, nobody is asked.
func TestNobodyIsAsked(t *testing.T) {
	var d, other consent.Desk
	ctx, end := other.InTurn(t.Context(), "t", func(e langrooms.Event) { t.Errorf("told of %+v", e) })
	defer end()
	for _, ctx := range []context.Context{t.Context(), ctx} {
		if got := d.Permission(ctx, delegate.PermissionRequest{Title: "go test"}); got != delegate.PermissionNobody {
			t.Errorf("the answer is %q", got)
		}
	}
}

// Of many that answer at once one is first.
func TestManyAnswerAtOnce(t *testing.T) {
	var d consent.Desk
	answer, told, end := asks(t.Context(), &d, "t", "go test")
	defer end()
	q := <-told
	results := make(chan error, 8)
	for range 8 {
		go func() {
			_, err := d.Answer("t", q.Question.ID, consent.ChoiceOnce, "one of many")
			results <- err
		}()
	}
	first := 0
	for range 8 {
		switch err := <-results; {
		case err == nil:
			first++
		case !errors.Is(err, consent.ErrAnswered):
			t.Error(err)
		}
	}
	if got := <-answer; first != 1 || got != delegate.PermissionOnce {
		t.Errorf("%d were first, and the member is told %q", first, got)
	}
}
