package late_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/delegate/delegatetool"
	"github.com/langrooms/langrooms/durable"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/late"
	"github.com/langrooms/langrooms/room"
)

func TestNewNamesTheBadField(t *testing.T) {
	saver := memory(t)
	for want, cfg := range map[string]late.Config{
		"Config.Saver":  {Roster: delegate.NewLive(nil)},
		"Config.Roster": {Saver: saver},
	} {
		if _, err := late.New(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New without %s: %v", want, err)
		}
	}
}

// Close ends whatever is under way and waits for it; afterwards nothing is waited for.
func TestCloseInEachPhase(t *testing.T) {
	blocked := func(ctx context.Context, _ int) (delegate.TaskView, error) {
		<-ctx.Done()
		return delegate.TaskView{}, ctx.Err()
	}
	for name, tt := range map[string]struct {
		read func(context.Context, int) (delegate.TaskView, error)
		// reach brings the inbox into the phase and returns how to leave it.
		reach func(t *testing.T, pr *program) func()
		want  int // messages on the thread
	}{
		"before anything":       {nil, func(*testing.T, *program) func() { return func() {} }, 0},
		"before the first look": {blocked, func(_ *testing.T, pr *program) func() { pr.address(false); return func() {} }, 2},
		"in a look": {blocked, func(_ *testing.T, pr *program) func() {
			pr.address(false)
			settle()
			return func() {}
		}, 2},
		"waiting for the thread": {after(1, answers("done")), func(t *testing.T, pr *program) func() {
			pr.address(false)
			turn := begin(t, pr.saver)
			pr.quiet()
			return func() { end(t, turn) }
		}, 2},
		"landed, with nobody to be told": {after(1, answers("done")), func(_ *testing.T, pr *program) func() {
			pr.address(false)
			settle()
			return func() {}
		}, 3},
		"a background job at work": {nil, func(t *testing.T, pr *program) func() { pr.background("q"); return func() {} }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				saver := memory(t)
				p := &peer{read: tt.read}
				if tt.read == nil {
					p.ask = func(ctx context.Context, _ delegate.Request) (delegate.Reply, error) {
						<-ctx.Done()
						return delegate.Reply{}, ctx.Err()
					}
				}
				pr := start(t, saver, nil, p)
				leave := tt.reach(t, pr)
				var closers sync.WaitGroup
				for range 3 {
					closers.Go(pr.inbox.Close)
				}
				closers.Wait()
				leave()
				expect(t, "messages", tt.want, len(transcript(t, saver)))
				expect(t, "waits for a handle", delegate.NotWaited, pr.inbox.Collect(t.Context(), delegate.Handle{Thread: thread, Delegate: "slow", Task: "k1"}))
				expect(t, "told of", 0, len(pr.failed))
			})
		})
	}
}

func end(t *testing.T, turn *exchange.Turn) {
	if err := turn.End(); err != nil {
		t.Error(err)
	}
}

// With durable handles a restart loses nothing: the next process on the thread takes the
// waiting up (spec: rooms, 7.4).
func TestResumeAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		saver := memory(t)
		p := &peer{read: after(3, answers("done"))}
		first := start(t, saver, durable.New(saver), p)
		put(t, saver, "hello")
		first.address(false)
		first.stop()
		second := start(t, saver, durable.New(saver), p)
		for range 2 { // taking it up twice is taking it up once
			if err := second.inbox.Resume(t.Context(), thread); err != nil {
				t.Fatal(err)
			}
		}
		a := second.arrival()
		expect(t, "message", "human from=slow round=1 seen=2 late: (This arrived after its turn.)⏎done", line(a.Message))
		second.quiet()
		expect(t, "messages", 4, len(transcript(t, saver)))
		third := start(t, saver, durable.New(saver), p)
		if err := third.inbox.Resume(t.Context(), thread); err != nil {
			t.Fatal(err)
		}
		third.quiet()
	})
}

// Two living processes that wait for the same answer land it once.
func TestResumeBesideTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		saver := memory(t)
		p := &peer{read: after(3, answers("done"))}
		first := start(t, saver, durable.New(saver), p)
		first.address(false)
		second := start(t, saver, durable.New(saver), p)
		if err := second.inbox.Resume(t.Context(), thread); err != nil {
			t.Fatal(err)
		}
		select {
		case <-first.arrived:
		case <-second.arrived:
		}
		first.quiet()
		second.quiet()
		expect(t, "messages", 3, len(transcript(t, saver)))
		expect(t, "rejoined", []string{"t c1"}, p.rejoined)
	})
}

// A handle kept with a thread is dropped with it, so a process that starts later finds
// nothing to wait for.
func TestResumeAfterAWithdrawalElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		saver := memory(t)
		p := &peer{read: after(3, answers("done"))}
		first := start(t, saver, durable.New(saver), p)
		first.address(false)
		if err := durable.New(saver).DropHandles(t.Context(), thread); err != nil {
			t.Fatal(err)
		}
		second := start(t, saver, durable.New(saver), p)
		if err := second.inbox.Resume(t.Context(), thread); err != nil {
			t.Fatal(err)
		}
		second.quiet()
		first.quiet()
	})
}

// flaky is a store that is away for some calls.
type flaky struct {
	*memorysaver.Saver
	locks, puts atomic.Int32 // calls that fail from now on
}

func (f *flaky) Lock(ctx context.Context, thread string) (checkpointer.Lease, error) {
	if f.locks.Add(-1) >= 0 {
		return nil, fmt.Errorf("lock: %w", checkpointer.ErrUnavailable)
	}
	return f.Saver.Lock(ctx, thread)
}

func (f *flaky) Put(ctx context.Context, parent checkpointer.Ref, step checkpointer.Step) (checkpointer.Ref, error) {
	if f.puts.Add(-1) >= 0 {
		return checkpointer.Ref{}, fmt.Errorf("put: %w", checkpointer.ErrFormat)
	}
	return f.Saver.Put(ctx, parent, step)
}

// A store that is away when the answer comes is waited for.
func TestStoreIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		saver := &flaky{Saver: memory(t)}
		pr := start(t, saver, nil, &peer{read: after(1, answers("done"))})
		pr.address(false)
		saver.locks.Store(20)
		pr.arrival()
		pr.quiet()
		expect(t, "messages", 3, len(transcript(t, saver)))
	})
}

// An answer that cannot be stored is told of.
func TestStoreFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		saver := &flaky{Saver: memory(t)}
		pr := start(t, saver, nil, &peer{read: after(1, answers("done"))})
		pr.address(false)
		saver.puts.Store(1)
		err := <-pr.failed
		if !errors.Is(err, checkpointer.ErrFormat) || !strings.Contains(err.Error(), "the late answer of @slow") {
			t.Errorf("told: %v", err)
		}
		pr.quiet()
	})
}

// exampleBackground waits for an answer from the background and shows it.
func exampleBackground() string {
	saver := memorysaver.New()
	defer saver.Close()
	registry, err := delegate.NewRegistry(&peer{ask: func(context.Context, delegate.Request) (delegate.Reply, error) {
		return delegate.Reply{Text: "It is done."}, nil
	}})
	if err != nil {
		return err.Error()
	}
	roster := delegate.NewLive(registry)
	defer roster.Close()
	box, err := late.New(late.Config{Saver: saver, Roster: roster})
	if err != nil {
		return err.Error()
	}
	defer box.Close()
	arrivals, leave := box.Arrivals(thread)
	defer leave()
	turn, err := exchange.Begin(context.Background(), saver, thread)
	if err != nil {
		return err.Error()
	}
	address := room.NewAddress(langrooms.Assistant, []string{"slow"}, "x1", "is it done?", false)
	err = box.Background(delegatetool.Job{Thread: thread, Target: "slow", Query: "is it done?", Exchange: "x1"})
	if err = errors.Join(err, turn.Put("room", address), turn.End()); err != nil {
		return err.Error()
	}
	a := <-arrivals
	return a.Message.Stamp.From + ": " + a.Message.Text()
}
