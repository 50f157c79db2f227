package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/checkpointer/redissaver"
	"github.com/langrooms/langrooms/checkpointer/sqlitesaver"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/internal/redistest"
	"github.com/langrooms/langrooms/lifecycle"
	"github.com/langrooms/langrooms/room"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(holderEnv); path != "" {
		holder(path)
		return
	}
	code, err := redistest.Run(m, &redisServer)
	if err == nil && code == 0 {
		err = goleak.Find()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// redisServer is the one server of this package's tests; each test has a key prefix.
var redisServer *redistest.Server

// store is a saver with all that a thread's life needs.
type store interface {
	checkpointer.Saver
	checkpointer.Locker
	checkpointer.Lister
	checkpointer.Forker
	checkpointer.Pruner
	checkpointer.Compacter
}

// onEachStore runs test on an empty store of each kind.
func onEachStore(t *testing.T, test func(t *testing.T, s store)) {
	t.Run("memory", func(t *testing.T) { test(t, closing(t, memorysaver.New(), nil)) })
	t.Run("sqlite", func(t *testing.T) {
		s, err := sqlitesaver.Open(t.Context(), sqlitesaver.Config{Path: filepath.Join(t.TempDir(), "threads.db")})
		test(t, closing(t, s, err))
	})
	t.Run("redis", func(t *testing.T) {
		redistest.Need(t)
		s, err := redissaver.Open("redis://" + redisServer.Addr + "?prefix=" + t.Name() + ":")
		test(t, closing(t, s, err))
	})
}

func closing(t *testing.T, s store, err error) store {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// kept is Threads with a note of whom it forgot.
type kept struct {
	lifecycle.Threads
	forgot []string
}

func threadsOf(s checkpointer.Saver) *kept {
	k := &kept{Threads: lifecycle.Threads{Saver: s}}
	k.Forget = func(ctx context.Context, thread string) error {
		k.forgot = append(k.forgot, thread)
		return ctx.Err()
	}
	return k
}

// say puts messages on a thread, each as a checkpoint of its own, and returns their ids.
func say(t *testing.T, s checkpointer.Saver, thread string, messages ...langrooms.Message) (ids []string) {
	t.Helper()
	turn, err := exchange.Begin(t.Context(), s, thread)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		err = errors.Join(err, turn.Put("input", m))
		ids = append(ids, m.ID)
	}
	if err = errors.Join(err, turn.End()); err != nil {
		t.Fatal(err)
	}
	return ids
}

// said are messages of the operator's.
func said(texts ...string) (messages []langrooms.Message) {
	for _, text := range texts {
		messages = append(messages, langrooms.NewMessage(langrooms.RoleHuman, text))
	}
	return messages
}

// member answers from a script and keeps the prompts it got.
type member struct {
	name    string
	script  []string
	prompts []string
}

func (m *member) Info() delegate.Info { return delegate.Info{Name: m.name, Type: "script"} }
func (m *member) Probe(context.Context) (delegate.Health, error) {
	return delegate.Health{}, nil
}
func (m *member) Close() error { return nil }

func (m *member) Ask(_ context.Context, req delegate.Request) (delegate.Reply, error) {
	m.prompts = append(m.prompts, req.Prompt)
	if len(m.script) == 0 {
		return delegate.Reply{}, &delegate.Error{Delegate: m.name, Kind: delegate.KindUnreachable, Err: errors.New("connection refused")}
	}
	text := m.script[0]
	m.script = m.script[1:]
	return delegate.Reply{Text: text}, nil
}

// address has the operator say text to the members, in one round.
func address(t *testing.T, s checkpointer.Saver, thread, text string, incognito bool, members ...*member) {
	t.Helper()
	var all []delegate.Delegate
	var to []string
	for _, m := range members {
		all, to = append(all, m), append(to, m.name)
	}
	registry, err := delegate.NewRegistry(all...)
	if err != nil {
		t.Fatal(err)
	}
	turn, err := exchange.Begin(t.Context(), s, thread)
	if err != nil {
		t.Fatal(err)
	}
	_, err = turn.Address(t.Context(), exchange.Room{Roster: registry, MaxRounds: 1},
		exchange.Address{From: room.Operator, To: to, Message: text, Incognito: incognito})
	if err = errors.Join(err, turn.End()); err != nil {
		t.Fatal(err)
	}
}

// history is what a thread holds; nil for one that does not exist.
func history(t *testing.T, s checkpointer.Saver, thread string) (messages []langrooms.Message) {
	t.Helper()
	for m, err := range s.Messages(t.Context(), checkpointer.Ref{Thread: thread}, checkpointer.Range{}) {
		if errors.Is(err, checkpointer.ErrNotFound) {
			return nil
		}
		if err != nil {
			t.Fatal(err)
		}
		messages = append(messages, m)
	}
	return messages
}

// texts is the thread, "author: text" a message.
func texts(t *testing.T, s checkpointer.Saver, thread string) (lines []string) {
	t.Helper()
	for _, m := range history(t, s, thread) {
		who := string(m.Role)
		if m.Stamp != nil {
			who = m.Stamp.From
		}
		lines = append(lines, who+": "+m.Text())
	}
	return lines
}

// epoch is the thread's present life.
func epoch(t *testing.T, s checkpointer.Saver, thread string) string {
	t.Helper()
	cp, err := s.Get(t.Context(), checkpointer.Ref{Thread: thread})
	if err != nil {
		t.Fatal(err)
	}
	return string(cp.Channels["room.epoch"])
}

// readable returns every text that can be read through any checkpoint of a thread.
func readable(t *testing.T, s checkpointer.Saver, thread string) string {
	t.Helper()
	var all strings.Builder
	for cp, err := range s.List(t.Context(), checkpointer.Query{Thread: thread}) {
		if err != nil {
			t.Fatal(err)
		}
		for m, err := range s.Messages(t.Context(), cp.Ref, checkpointer.Range{}) {
			if err != nil {
				t.Fatal(err)
			}
			all.WriteString(m.Text() + "\n")
		}
	}
	return all.String()
}

func expect(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// fails checks an error's identity and that it names all of these.
func fails(t *testing.T, err, want error, names ...string) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("the error is %v, want %v", err, want)
		return
	}
	for _, name := range names {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("the error does not name %s: %v", name, err)
		}
	}
}
