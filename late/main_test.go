package late_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/late"
	"github.com/langrooms/langrooms/room"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const thread = "t"

// peer is a delegate whose tasks can be looked at.
type peer struct {
	// ask answers a message; nil says that the task k1 is still running.
	ask func(ctx context.Context, req delegate.Request) (delegate.Reply, error)
	// read answers the nth look, from 1.
	read func(ctx context.Context, n int) (delegate.TaskView, error)
	// closed hears its name when it is closed; nil drops it.
	closed chan<- string

	mu       sync.Mutex
	looks    int
	asked    []delegate.Request
	rejoined []string
}

func (p *peer) Info() delegate.Info {
	return delegate.Info{Name: "slow", Type: "fake", Conversational: true, Resumable: true}
}

func (p *peer) Probe(context.Context) (delegate.Health, error) { return delegate.Health{}, nil }
func (p *peer) PeerKey() (string, error)                       { return "peer-1", nil }

func (p *peer) Close() error {
	if p.closed != nil {
		p.closed <- "slow"
	}
	return nil
}

func (p *peer) Ask(ctx context.Context, req delegate.Request) (delegate.Reply, error) {
	p.mu.Lock()
	p.asked = append(p.asked, req)
	p.mu.Unlock()
	if p.ask != nil {
		return p.ask(ctx, req)
	}
	return delegate.Reply{}, stillRunning("k1")
}

func stillRunning(task string) *delegate.Error {
	return &delegate.Error{Delegate: "slow", Kind: delegate.KindStillRunning, Task: task, Accepted: true,
		Err: errors.New("still running after 300s without observable progress")}
}

func (p *peer) ReadTask(ctx context.Context, task string) (delegate.TaskView, error) {
	if task != "k1" {
		return delegate.TaskView{}, fmt.Errorf("another task: %s", task)
	}
	p.mu.Lock()
	p.looks++
	n := p.looks
	p.mu.Unlock()
	return p.read(ctx, n)
}

func (p *peer) Rejoin(_ context.Context, thread, _, contextID string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rejoined = append(p.rejoined, thread+" "+contextID)
	return nil
}

// after says that the task works until look n, which finds view.
func after(n int, view delegate.TaskView) func(context.Context, int) (delegate.TaskView, error) {
	return func(_ context.Context, i int) (delegate.TaskView, error) {
		if i < n {
			return delegate.TaskView{State: delegate.TaskWorking}, nil
		}
		return view, nil
	}
}

func answers(text string) delegate.TaskView {
	return delegate.TaskView{State: delegate.TaskAnswered, Reply: delegate.Reply{Text: text}, ContextID: "c1"}
}

// program is what one process has: an inbox over a store and a roster of its own.
type program struct {
	t       *testing.T
	saver   checkpointer.Saver
	handles delegate.HandleStore
	roster  *delegate.Live
	inbox   *late.Inbox
	arrived <-chan langrooms.Arrival
	failed  chan error
}

// start makes a program; handles nil means memory. It ends with the test.
func start(t *testing.T, saver checkpointer.Saver, handles delegate.HandleStore, p *peer) *program {
	t.Helper()
	return startWith(t, late.Config{Saver: saver, Handles: handles}, p)
}

func startWith(t *testing.T, cfg late.Config, p *peer) *program {
	t.Helper()
	registry, err := delegate.NewRegistry(p)
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Handles == nil {
		cfg.Handles = late.NewMemoryHandles()
	}
	pr := &program{t: t, saver: cfg.Saver, handles: cfg.Handles, roster: delegate.NewLive(registry), failed: make(chan error, 10)}
	cfg.Roster, cfg.Failed = pr.roster, func(err error) { pr.failed <- err }
	pr.inbox, err = late.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	pr.arrived, _ = pr.inbox.Arrivals(thread)
	t.Cleanup(pr.stop)
	return pr
}

func (pr *program) stop() {
	pr.inbox.Close()
	if err := pr.roster.Close(); err != nil {
		pr.t.Error(err)
	}
}

// address has the operator ask @slow, which is still at it when the address gives up.
func (pr *program) address(incognito bool) langrooms.Outcome {
	pr.t.Helper()
	registry, release := pr.roster.Acquire()
	defer release()
	turn := begin(pr.t, pr.saver)
	result, err := turn.Address(pr.t.Context(), exchange.Room{Roster: registry, MaxRounds: 1, Collect: pr.inbox.Collect},
		exchange.Address{From: room.Operator, To: []string{"slow"}, Message: "how far?", Incognito: incognito})
	if err = errors.Join(err, turn.End()); err != nil {
		pr.t.Fatal(err)
	}
	return result.Outcomes[0]
}

// arrival waits for the next message that lands; none within two hours fails the test.
func (pr *program) arrival() langrooms.Arrival {
	pr.t.Helper()
	select {
	case a := <-pr.arrived:
		return a
	case err := <-pr.failed:
		pr.t.Fatalf("failed: %v", err)
	case <-time.After(2 * time.Hour):
		pr.t.Fatal("nothing has arrived within two hours")
	}
	return langrooms.Arrival{}
}

// quiet checks that nothing arrives and nothing fails within two hours.
func (pr *program) quiet() {
	pr.t.Helper()
	select {
	case a := <-pr.arrived:
		pr.t.Errorf("arrived: %+v", a)
	case err := <-pr.failed:
		pr.t.Errorf("failed: %v", err)
	case <-time.After(2 * time.Hour):
	}
}

// settle lets ten seconds pass, whatever happens in them.
func settle() { <-time.After(10 * time.Second) }

func begin(t *testing.T, saver checkpointer.Saver) *exchange.Turn {
	t.Helper()
	turn, err := exchange.Begin(t.Context(), saver, thread)
	if err != nil {
		t.Fatal(err)
	}
	return turn
}

// put puts messages of the operator's on the thread.
func put(t *testing.T, saver checkpointer.Saver, texts ...string) {
	t.Helper()
	turn := begin(t, saver)
	for _, text := range texts {
		if err := turn.Put("input", langrooms.NewMessage(langrooms.RoleHuman, text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := turn.End(); err != nil {
		t.Fatal(err)
	}
}

func memory(t *testing.T) *memorysaver.Saver {
	saver := memorysaver.New()
	t.Cleanup(func() {
		if err := saver.Close(); err != nil {
			t.Error(err)
		}
	})
	return saver
}

// transcript is the thread, a message a line; a thread that does not exist is nil.
func transcript(t *testing.T, saver checkpointer.Saver) []string {
	t.Helper()
	return messages(t, saver, thread)
}

func messages(t *testing.T, saver checkpointer.Saver, thread string) []string {
	t.Helper()
	var lines []string
	for m, err := range saver.Messages(t.Context(), checkpointer.Ref{Thread: thread}, checkpointer.Range{}) {
		if errors.Is(err, checkpointer.ErrNotFound) {
			return nil
		}
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line(m))
	}
	return lines
}

// line is a message in one line; the text's line breaks are shown as ⏎.
func line(m langrooms.Message) string {
	head := string(m.Role)
	if s := m.Stamp; s != nil {
		head = fmt.Sprintf("%s from=%s", head, s.From)
		if len(s.To) > 0 {
			head += " to=" + strings.Join(s.To, ",")
		}
		if s.Round != 0 {
			head += fmt.Sprintf(" round=%d", s.Round)
		}
		if s.Seen != 0 {
			head += fmt.Sprintf(" seen=%d", s.Seen)
		}
		if s.Task != "" {
			head += " task=" + s.Task
		}
		for _, mark := range []struct {
			name string
			set  bool
		}{{"failed", s.Failed}, {"late", s.Late}, {"incognito", s.Incognito}} {
			if mark.set {
				head += " " + mark.name
			}
		}
	}
	return head + ": " + strings.ReplaceAll(m.Text(), "\n", "⏎")
}

func expect(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// gaveUp is the record of the address that gave up.
var gaveUp = "human from=slow round=1 failed: " + room.FailedText(langrooms.ErrorStillRunning, "still running after 300s without observable progress")
