package exchange_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/room"
)

// voice is a delegate that is a function.
type voice struct {
	name string
	ask  func(context.Context, delegate.Request) (delegate.Reply, error)
}

func (v *voice) Info() delegate.Info {
	return delegate.Info{Name: v.name, Type: "script", Conversational: true, Resumable: true}
}

func (v *voice) Ask(ctx context.Context, req delegate.Request) (delegate.Reply, error) {
	return v.ask(ctx, req)
}

func (v *voice) Probe(context.Context) (delegate.Health, error) { return delegate.Health{}, nil }
func (v *voice) Close() error                                   { return nil }

// says answers with each of the texts in turn, and with "pass" from then on.
func says(name string, texts ...string) *voice {
	return &voice{name, func(context.Context, delegate.Request) (delegate.Reply, error) {
		if len(texts) == 0 {
			return delegate.Reply{Text: "pass"}, nil
		}
		text := texts[0]
		texts = texts[1:]
		return delegate.Reply{Text: text}, nil
	}}
}

func roomOf(t testing.TB, rounds int, voices ...*voice) exchange.Room {
	t.Helper()
	members := make([]delegate.Delegate, len(voices))
	for i, v := range voices {
		members[i] = v
	}
	roster, err := delegate.NewRegistry(members...)
	if err != nil {
		t.Fatal(err)
	}
	return exchange.Room{Roster: roster, MaxRounds: rounds}
}

// address is an address of the operator to the members.
func address(message string, to ...string) exchange.Address {
	return exchange.Address{From: room.Operator, To: to, Message: message}
}

// take takes a whole turn with one address.
func take(ctx context.Context, s checkpointer.Saver, thread string, r exchange.Room, a exchange.Address) (langrooms.Result, error) {
	turn, err := exchange.Begin(ctx, s, thread)
	if err != nil {
		return langrooms.Result{}, err
	}
	result, err := turn.Address(ctx, r, a)
	return result, errors.Join(err, turn.End())
}

// memory returns a memory store that is closed with the test.
func memory(t testing.TB) *memorysaver.Saver {
	s := memorysaver.New()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func messages(t testing.TB, s checkpointer.Saver, thread string) []langrooms.Message {
	t.Helper()
	var all []langrooms.Message
	for m, err := range s.Messages(context.WithoutCancel(t.Context()), checkpointer.Ref{Thread: thread}, checkpointer.Range{}) {
		if errors.Is(err, checkpointer.ErrNotFound) {
			return nil
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

// lines renders a thread, a message a line.
func lines(all []langrooms.Message) []string {
	var out []string
	for _, m := range all {
		line := string(m.Role)
		if s := m.Stamp; s != nil {
			line = s.From
			if len(s.To) > 0 {
				line += " to " + strings.Join(s.To, ",")
			}
			if s.Round > 0 {
				line += fmt.Sprintf(" %d", s.Round)
			}
			if s.Failed {
				line += " failed"
			}
		}
		out = append(out, line+": "+m.Text())
	}
	return out
}

// checkWhole holds a thread to what is true of every one, whatever happened to its writers:
// an exchange begins with its address, its messages stand together, nobody speaks twice in a
// round, every addressee that rounds owed an answer has one record, and positions seen never
// exceed the record's own.
func checkWhole(t testing.TB, all []langrooms.Message) {
	t.Helper()
	var open string
	done := map[string]bool{}
	spoken := map[string]bool{}
	var owed []string
	finish := func() {
		if len(owed) > 0 {
			t.Errorf("exchange %s: no record from %v in:\n%s", open, owed, strings.Join(lines(all), "\n"))
		}
		done[open] = true
	}
	for _, m := range all {
		s := m.Stamp
		if s == nil {
			continue
		}
		if s.Exchange != open {
			finish()
			if open, owed = s.Exchange, slices.Clone(s.To); done[open] || len(s.To) == 0 {
				t.Errorf("exchange %s does not begin with its address or is broken up:\n%s", open, strings.Join(lines(all), "\n"))
			}
			continue
		}
		at := fmt.Sprintf("%s %s %d", s.Exchange, s.From, s.Round)
		if spoken[at] {
			t.Errorf("%s has spoken twice:\n%s", at, strings.Join(lines(all), "\n"))
		}
		spoken[at] = true
		owed = slices.DeleteFunc(owed, func(name string) bool { return name == s.From })
		if s.Seen > m.Seq || s.Failed != (s.Seen == 0) {
			t.Errorf("%s at %d has seen %d, failed %t", at, m.Seq, s.Seen, s.Failed)
		}
	}
	finish()
}

// watched is a store that reports every call before it is made; a hook's error is the
// call's.
type watched struct {
	checkpointer.Saver
	before func(op string) error
	after  func(op string)

	mu    sync.Mutex
	calls []string
	read  int // messages asked for
	lease checkpointer.Lease
}

func (w *watched) call(op string) error {
	w.mu.Lock()
	w.calls = append(w.calls, op)
	w.mu.Unlock()
	if w.before != nil {
		return w.before(op)
	}
	return nil
}

func (w *watched) done(op string) {
	if w.after != nil {
		w.after(op)
	}
}

func (w *watched) Put(ctx context.Context, parent checkpointer.Ref, step checkpointer.Step) (checkpointer.Ref, error) {
	if err := w.call("put"); err != nil {
		return checkpointer.Ref{}, err
	}
	ref, err := w.Saver.Put(ctx, parent, step)
	w.done("put")
	return ref, err
}

func (w *watched) Get(ctx context.Context, at checkpointer.Ref) (checkpointer.Checkpoint, error) {
	if err := w.call("get"); err != nil {
		return checkpointer.Checkpoint{}, err
	}
	return w.Saver.Get(ctx, at)
}

func (w *watched) Messages(ctx context.Context, at checkpointer.Ref, r checkpointer.Range) iter.Seq2[langrooms.Message, error] {
	return func(yield func(langrooms.Message, error) bool) {
		if err := w.call("messages"); err != nil {
			yield(langrooms.Message{}, err)
			return
		}
		if r.Limit != nil {
			w.mu.Lock()
			w.read += *r.Limit
			w.mu.Unlock()
		}
		w.Saver.Messages(ctx, at, r)(yield)
	}
}

func (w *watched) Lock(ctx context.Context, thread string) (checkpointer.Lease, error) {
	if err := w.call("lock"); err != nil {
		return nil, err
	}
	lease, err := w.Saver.(checkpointer.Locker).Lock(ctx, thread)
	if err != nil {
		return nil, err
	}
	w.lease = lease
	return &watchedLease{lease, w}, nil
}

type watchedLease struct {
	checkpointer.Lease
	w *watched
}

func (l *watchedLease) Release() error {
	if err := l.w.call("release"); err != nil {
		return err
	}
	return l.Lease.Release()
}
