package delegatetool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/delegate/delegatetool"
	"github.com/langrooms/langrooms/exchange"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// agent is a delegate that answers by reply and keeps what it was asked.
type agent struct {
	info  delegate.Info
	reply func(ctx context.Context, req delegate.Request) (delegate.Reply, error)
	asked []delegate.Request
}

func (a *agent) Info() delegate.Info                            { return a.info }
func (a *agent) Probe(context.Context) (delegate.Health, error) { return delegate.Health{}, nil }
func (a *agent) Close() error                                   { return nil }

func (a *agent) Ask(ctx context.Context, req delegate.Request) (delegate.Reply, error) {
	req.Progress = nil
	a.asked = append(a.asked, req)
	if a.reply == nil {
		return delegate.Reply{Text: "auth did"}, nil
	}
	return a.reply(ctx, req)
}

func named(name string) *agent {
	return &agent{info: delegate.Info{Name: name, Type: "a2a", Description: "the one called " + name, Conversational: true, Resumable: true}}
}

// fails has the agent fail so.
func (a *agent) fails(kind delegate.Kind, cause, task string) *agent {
	a.reply = func(context.Context, delegate.Request) (delegate.Reply, error) {
		return delegate.Reply{}, &delegate.Error{Delegate: a.info.Name, Kind: kind, Task: task, Err: errors.New(cause)}
	}
	return a
}

// turn is a lead's turn in which the tool is called once.
type turn struct {
	t *testing.T
	*exchange.Turn
	events []langrooms.EventType
}

// begin takes the thread, on which the operator has said hello, and has the lead call a tool; more may have been said after that.
func begin(t *testing.T, said ...langrooms.Message) *turn {
	t.Helper()
	saver := memorysaver.New()
	hold, err := exchange.Begin(t.Context(), saver, "t")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(hold.End(), saver.Close()); err != nil {
			t.Error(err)
		}
	})
	if err := hold.Put("input", langrooms.NewMessage(langrooms.RoleHuman, "hello")); err != nil {
		t.Fatal(err)
	}
	if len(said) > 0 {
		if err := hold.Put("input", said...); err != nil {
			t.Fatal(err)
		}
	}
	hold.Reserve(2)
	return &turn{t: t, Turn: hold}
}

// context returns the context that a tool is called in, where room says what the turn has fixed.
func (tu *turn) context(ctx context.Context, room func() (exchange.Room, func())) context.Context {
	r, release := room()
	tu.t.Cleanup(release)
	r.Events = func(e langrooms.Event) { tu.events = append(tu.events, e.Type) }
	return exchange.NewContext(ctx, tu.Turn, r)
}

// with returns the source of a room of live's that set has changed.
func with(live *delegate.Live, set func(*exchange.Room)) func() (exchange.Room, func()) {
	return func() (exchange.Room, func()) {
		r, release := exchange.RoomOf(live)()
		set(&r)
		return r, release
	}
}

// call calls the tool with these arguments.
func (tu *turn) call(cfg delegatetool.Config, arguments any) (string, error) {
	tu.t.Helper()
	tool, err := delegatetool.New(cfg)
	if err != nil {
		tu.t.Fatal(err)
	}
	input, ok := arguments.(string)
	if !ok {
		data, err := json.Marshal(arguments)
		if err != nil {
			tu.t.Fatal(err)
		}
		input = string(data)
	}
	return tool.Run(tu.context(tu.t.Context(), cfg.Room), input)
}

// flush puts the call, its result and what the tool has staged, and returns the thread, a
// message a line.
func (tu *turn) flush() (lines []string) {
	tu.t.Helper()
	err := tu.Flush("loop", langrooms.NewMessage(langrooms.RoleAI, "the call"), langrooms.NewMessage(langrooms.RoleTool, "the result"))
	if err != nil {
		tu.t.Fatal(err)
	}
	messages, err := tu.History()
	if err != nil {
		tu.t.Fatal(err)
	}
	for _, m := range messages {
		lines = append(lines, line(m))
	}
	return lines
}

func line(m langrooms.Message) string {
	head := string(m.Role)
	if s := m.Stamp; s != nil {
		head += " " + s.From
		if len(s.To) > 0 {
			head += " → " + strings.Join(s.To, ", ")
		}
		if s.Seen > 0 {
			head += fmt.Sprintf(" (seen %d)", s.Seen)
		}
		if s.Failed {
			head += " (failed)"
		}
	}
	return head + ": " + m.Text()
}

func roster(t testing.TB, agents ...*agent) *delegate.Live {
	t.Helper()
	var all []delegate.Delegate
	for _, a := range agents {
		all = append(all, a)
	}
	registry, err := delegate.NewRegistry(all...)
	if err != nil {
		t.Fatal(err)
	}
	live := delegate.NewLive(registry)
	t.Cleanup(func() {
		if err := live.Close(); err != nil {
			t.Error(err)
		}
	})
	return live
}

func expect(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// says checks that err, or a text, holds all of these.
func says(t *testing.T, text any, pieces ...string) {
	t.Helper()
	for _, piece := range pieces {
		if !strings.Contains(fmt.Sprint(text), piece) {
			t.Errorf("%v\ndoes not say %q", text, piece)
		}
	}
}
