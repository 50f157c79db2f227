package runs_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/runs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const thread = "main"

// stage is what the turns of a test do, one word of a text after another:
//
//	say     a piece of text is reported
//	put     a message is put on the thread
//	wait    the turn waits until it is let go, or stopped
//	fail    the turn fails
type stage struct {
	t       *testing.T
	saver   checkpointer.Saver
	waiting chan string
	letGo   chan struct{}
}

func newStage(t *testing.T) *stage {
	saver := memorysaver.New()
	t.Cleanup(func() { saver.Close() })
	return &stage{t: t, saver: saver, waiting: make(chan string, 16), letGo: make(chan struct{})}
}

func (s *stage) manager() *runs.Manager {
	s.t.Helper()
	m, err := runs.New(runs.Config{Saver: s.saver, Turn: s.turn, Undo: s.undo,
		Failed: func(err error) { s.t.Errorf("not stored: %v", err) }})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(m.Close)
	return m
}

func (s *stage) turn(ctx context.Context, r runs.Run, in runs.Input, feed runs.Feed) (langrooms.Result, error) {
	for word := range strings.FieldsSeq(in.Text) {
		switch word {
		case "say":
			feed.Events(langrooms.Event{Type: langrooms.EventProgress, Progress: &langrooms.Progress{Kind: langrooms.ProgressText, Text: "piece"}})
		case "put":
			s.put(r.ID)
		case "wait":
			s.waiting <- r.ID
			select {
			case <-s.letGo:
			case <-ctx.Done():
				return langrooms.Result{Reason: langrooms.ReasonStopped}, nil
			}
		case "ask": // a member, which works until it is stopped
			asked, done := delegate.Steered(ctx, "a")
			s.waiting <- r.ID
			<-asked.Done()
			done()
			feed.Events(langrooms.Event{Type: langrooms.EventNotice, Text: "a: " + context.Cause(asked).Error()})
		case "fail":
			return langrooms.Result{}, errors.New("the store is away")
		}
	}
	return langrooms.Result{Text: "done"}, nil
}

func (s *stage) put(text string) {
	cp, err := s.saver.Get(context.Background(), checkpointer.Ref{Thread: thread})
	if err != nil && !errors.Is(err, checkpointer.ErrNotFound) {
		s.t.Error(err)
	}
	_, err = s.saver.Put(context.Background(), checkpointer.Ref{Thread: thread, ID: cp.Ref.ID},
		checkpointer.Step{Log: checkpointer.Append(langrooms.NewMessage(langrooms.RoleHuman, text))})
	if err != nil {
		s.t.Error(err)
	}
}

func (s *stage) undo(ctx context.Context, r runs.Run) error {
	_, err := s.saver.Put(ctx, checkpointer.Ref{Thread: thread, ID: r.Base}, checkpointer.Step{Fork: true, Truncate: &r.Length})
	return err
}

func (s *stage) texts() (texts []string) {
	for m, err := range s.saver.Messages(context.Background(), checkpointer.Ref{Thread: thread}, checkpointer.Range{}) {
		if err == nil {
			texts = append(texts, m.Text())
		}
	}
	return texts
}

func accept(t *testing.T, m *runs.Manager, text string, strategy runs.Strategy) runs.Run {
	t.Helper()
	r, err := m.Accept(t.Context(), runs.Request{Thread: thread, Strategy: strategy, Input: runs.Input{Text: text}})
	if err != nil {
		t.Fatalf("accepting %q: %v", text, err)
	}
	return r
}

// shape is a run's events in words.
func shape(t *testing.T, m *runs.Manager, id string, from int64) (words []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for e, err := range m.Events(ctx, thread, id, from) {
		switch {
		case err != nil:
			t.Fatalf("after %q: %v", words, err)
		case e.Type == runs.EventStatus:
			words = append(words, fmt.Sprintf("%d %s", e.Seq, e.Status))
		case e.Type == runs.EventTurn:
			words = append(words, fmt.Sprintf("%d %s", e.Seq, e.Turn.Progress.Text))
		default:
			words = append(words, fmt.Sprintf("%d result %s", e.Seq, e.Result.Text))
		}
	}
	return words
}

func want(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func status(t *testing.T, m *runs.Manager, id string) runs.Status {
	t.Helper()
	r, err := m.Get(t.Context(), thread, id)
	if err != nil {
		t.Fatal(err)
	}
	return r.Status
}
