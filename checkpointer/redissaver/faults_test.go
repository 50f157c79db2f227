package redissaver_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/internal/redistest"
)

// batch is the number of messages in each step of the child's.
const batch = 3

// intact reads a thread that the child has written and reports a step that is not whole,
// or fewer steps than were acknowledged. It returns how many there are.
func intact(t testing.TB, s checkpointer.Saver, thread string, acknowledged int) int {
	t.Helper()
	ctx := within(t, time.Minute)
	at, err := s.Get(ctx, checkpointer.Ref{Thread: thread})
	if errors.Is(err, checkpointer.ErrNotFound) && acknowledged < 0 {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	steps := int(at.Length) / batch
	if at.Length%batch != 0 || steps <= acknowledged || string(at.Channels["n"]) != fmt.Sprint(steps-1) {
		t.Fatalf("length %d, n=%s, acknowledged up to %d", at.Length, at.Channels["n"], acknowledged)
	}
	i := 0
	for m, err := range s.Messages(ctx, at.Ref, checkpointer.Range{}) {
		if err != nil {
			t.Fatal(err)
		}
		if m.Seq != int64(i) || m.Text() != fmt.Sprint(i/batch) {
			t.Fatalf("message %d is %q at %d", i, m.Text(), m.Seq)
		}
		i++
	}
	if i != int(at.Length) {
		t.Fatalf("%d messages of %d", i, at.Length)
	}
	return steps
}

// A writer is killed at random points, 200 times: every acknowledged step is there, no
// step is there in part, and the next writer goes on from what it finds.
func TestKilledWriter(t *testing.T) {
	kills := 200
	if testing.Short() {
		kills = 20
	}
	addr, prefix := sharedAddr(t), nextPrefix()
	s := open(t, addr, "prefix="+prefix)
	for i := range kills {
		thread := fmt.Sprint("t", i/20) // 20 writers one after the other on each thread
		c := startChild(t, "write "+thread, addr, prefix)
		for range 1 + rand.IntN(8) {
			if !c.out.Scan() {
				t.Fatalf("the writer ended: %v", c.wait())
			}
		}
		// The writer is some way into a later step by now.
		c.signal(t, syscall.SIGKILL)
		acknowledged := c.last(t)
		intact(t, s, thread, acknowledged)
	}
}

// The server is killed and started again. With appendfsync always nothing that was
// acknowledged is lost; with everysec at most the last second is, and what is there is
// whole.
func TestKilledServer(t *testing.T) {
	for _, fsync := range []string{"always", "everysec"} {
		t.Run(fsync, func(t *testing.T) {
			server := redistest.Start(t, "--appendonly", "yes", "--appendfsync", fsync)
			s := open(t, server.Addr)
			for round := range 3 {
				c := startChild(t, "write t", server.Addr, "langrooms:")
				for range 50 {
					if !c.out.Scan() {
						t.Fatalf("round %d: the writer ended: %v", round, c.wait())
					}
				}
				server.Kill()
				c.signal(t, syscall.SIGKILL)
				acknowledged := c.last(t)
				if err := server.Restart(); err != nil {
					t.Fatal(err)
				}
				if fsync == "everysec" {
					acknowledged = -1 // up to a second of puts may be gone
				}
				intact(t, s, "t", acknowledged)
			}
		})
	}
}

// Connections are cut in the middle of a reply, at every byte of it: the call is
// repeated, succeeds, and has taken effect once.
func TestCutConnections(t *testing.T) {
	p := redistest.StartProxy(t, sharedAddr(t))
	s := open(t, p.Addr, "prefix="+nextPrefix())
	ctx := within(t, time.Minute)
	ref, err := s.Put(ctx, checkpointer.Ref{Thread: "t"}, checkpointer.Step{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		p.CutOnceAfter(int64(i))
		ref, err = s.Put(ctx, ref, checkpointer.Step{Log: checkpointer.Append(langrooms.NewMessage(langrooms.RoleHuman, fmt.Sprint(i)))})
		if err != nil {
			t.Fatalf("put %d: %v", i, err)
		}
		p.CutOnceAfter(int64(i))
		if _, got, err := s.Snapshot(ctx, ref, checkpointer.Range{}); err != nil || len(got) != i+1 {
			t.Fatalf("after put %d there are %d messages, %v", i, len(got), err)
		}
	}
	if err := drain(s.List(ctx, checkpointer.Query{Thread: "t"}), 41); err != nil {
		t.Error(err)
	}
}

// A server that is not there is an error of its own, within a second, for every call.
func TestDeadServer(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := open(t, server.Addr)
	ref := grow(t, s, "t", 3)
	server.Kill()
	ctx := within(t, time.Minute)
	calls := map[string]func() error{
		"put":      func() error { _, err := s.Put(ctx, ref, checkpointer.Step{}); return err },
		"writes":   func() error { return s.PutWrites(ctx, ref, checkpointer.Task{ID: "task"}, nil) },
		"get":      func() error { _, err := s.Get(ctx, ref); return err },
		"messages": func() error { return drain(s.Messages(ctx, ref, checkpointer.Range{}), 0) },
		"list":     func() error { return drain(s.List(ctx, checkpointer.Query{Thread: "t"}), 0) },
		"threads":  func() error { return drain(s.Threads(ctx), 0) },
		"delete":   func() error { return s.DeleteThread(ctx, "t") },
		"lock":     func() error { _, err := s.Lock(ctx, "t"); return err },
		"watch":    func() error { return drain(s.Watch(ctx, "t"), 0) },
		"prune":    func() error { _, err := s.Prune(ctx, "t", checkpointer.Retention{Keep: 1}); return err },
		"ping":     func() error { return s.Ping(ctx) },
		"blob":     func() error { _, _, err := s.Blobs().Get(ctx, "t"); return err },
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			within := soon(time.Second, func() {
				if err := call(); !errors.Is(err, checkpointer.ErrUnavailable) || errors.Is(err, checkpointer.ErrNotFound) {
					t.Errorf("%v, want ErrUnavailable", err)
				}
			})
			if !within {
				t.Error("not reported within a second")
			}
		})
	}
}

// A context that ends ends a call on a server that hangs: a read at once, a write within
// the second that its outcome is waited for. What was begun is finished.
func TestCancelledWhileTheServerHangs(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, server.Addr)
	ref := grow(t, s, "t", 3)
	if err := server.Pause(); err != nil {
		t.Fatal(err)
	}
	ended := func(what string, call func(ctx context.Context) error) func() {
		return func() {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if err := call(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	if !soon(500*time.Millisecond, ended("get", func(ctx context.Context) error { _, err := s.Get(ctx, ref); return err })) {
		t.Error("get did not return at once")
	}
	put := func(ctx context.Context) error { _, err := s.Put(ctx, ref, checkpointer.Step{ID: "begun"}); return err }
	if !soon(2*time.Second, ended("put", put)) {
		t.Error("put did not return after its second")
	}
	if err := server.Resume(); err != nil {
		t.Fatal(err)
	}
	err := redistest.Eventually(10*time.Second, func() error {
		_, err := s.Get(t.Context(), checkpointer.Ref{Thread: "t", ID: "begun"})
		return err
	})
	if err != nil {
		t.Errorf("the put that was begun: %v", err)
	}
}

// 50 writers of one checkpoint: every task's writes are there.
func TestConcurrentWrites(t *testing.T) {
	s := fresh(t)
	ctx := within(t, time.Minute)
	ref := grow(t, s, "t", 1)
	var work sync.WaitGroup
	for i := range 50 {
		work.Go(func() {
			w := []checkpointer.Write{{Channel: "x", Value: []byte(fmt.Sprint(i))}, {Channel: checkpointer.ChannelResume, Value: []byte(fmt.Sprint(i))}}
			if err := s.PutWrites(ctx, ref, checkpointer.Task{ID: fmt.Sprintf("task%02d", i)}, w); err != nil {
				t.Error(err)
			}
		})
	}
	work.Wait()
	c, err := s.Get(ctx, ref)
	if err != nil || len(c.Writes) != 100 {
		t.Fatalf("%d writes, %v", len(c.Writes), err)
	}
	for i, w := range c.Writes {
		if w.Task.ID != fmt.Sprintf("task%02d", i/2) || string(w.Value) != fmt.Sprint(i/2) {
			t.Errorf("write %d is %+v", i, w)
		}
	}
}

// Two writers that both continue the same checkpoint: one succeeds, the other is told.
func TestTwoWriters(t *testing.T) {
	s := fresh(t)
	ctx := within(t, time.Minute)
	ref := grow(t, s, "t", 1)
	for range 50 {
		results := make(chan error, 2)
		refs := make(chan checkpointer.Ref, 2)
		for range 2 {
			go func() {
				next, err := s.Put(ctx, ref, checkpointer.Step{Log: checkpointer.Append(langrooms.NewMessage("ai", "x"))})
				if err == nil {
					refs <- next
				}
				results <- err
			}()
		}
		a, b := <-results, <-results
		if (a == nil) == (b == nil) || !errors.Is(errors.Join(a, b), checkpointer.ErrConflict) {
			t.Fatalf("two writers: %v, %v", a, b)
		}
		ref = <-refs
	}
}
