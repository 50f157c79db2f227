package redissaver_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/redissaver"
	"github.com/langrooms/langrooms/internal/redistest"
)

// A long thread goes over in pages, with what waits for its checkpoints on either side, and
// leaves nothing of the way behind.
func TestCopyThread(t *testing.T) {
	c := client(t, sharedAddr(t))
	s := fresh(t, "ttl=1h")
	ctx := within(t, time.Minute)
	ref := grow(t, s, "t", 3000)
	if err := s.SetTTL(ctx, "t", 0); err != nil {
		t.Fatal(err)
	}
	writes := func(thread, id, value string) {
		t.Helper()
		err := s.PutWrites(ctx, checkpointer.Ref{Thread: thread, ID: id}, checkpointer.Task{ID: "task"}, []checkpointer.Write{{Channel: "x", Value: []byte(value)}})
		if err != nil {
			t.Fatal(err)
		}
	}
	writes("t", ref.ID, "the origin's")
	writes("t", "never", "an orphan of the origin")
	writes("u", ref.ID, "an orphan that comes too late")
	writes("u", "later", "an orphan")
	want, messages, err := s.Snapshot(ctx, ref, checkpointer.Range{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.CopyThread(ctx, "t", "u"); err != nil {
		t.Fatal(err)
	}
	got, copied, err := s.Snapshot(ctx, checkpointer.Ref{Thread: "u"}, checkpointer.Range{})
	if err != nil || got.Ref.ID != ref.ID || fmt.Sprint(copied) != fmt.Sprint(messages) || fmt.Sprint(got.Writes) != fmt.Sprint(want.Writes) {
		t.Errorf("the copy has %d messages and the writes %v, want %d and %v; %v", len(copied), got.Writes, len(messages), want.Writes, err)
	}
	for id, writes := range map[string]int{"later": 1, "never": 0} {
		if got.Ref, err = s.Put(ctx, got.Ref, checkpointer.Step{ID: id}); err != nil {
			t.Fatal(err)
		}
		if cp, err := s.Get(ctx, got.Ref); err != nil || len(cp.Writes) != writes {
			t.Errorf("checkpoint %q has the writes %v, want %d; %v", id, cp.Writes, writes, err)
		}
	}
	if d := deadlines(t, c, s, "u"); len(d) != 1 || d[-1] != 0 {
		t.Errorf("the copy of a pinned thread ends at %v", d)
	}
	if err := drain(s.Threads(ctx), 2); err != nil {
		t.Errorf("threads: %v", err)
	}
	none(t, s, "t", "u")
}

// none reports keys of the threads that hold what was on its way.
func none(t testing.TB, s *redissaver.Saver, threads ...string) {
	t.Helper()
	c := client(t, sharedAddr(t))
	for _, thread := range threads {
		base := strings.TrimSuffix(redissaver.ThreadKeys(s, thread)[0], "t") + "s:*"
		if keys := c.Keys(t.Context(), base).Val(); len(keys) > 0 {
			t.Errorf("the keys %q are left", keys)
		}
	}
}

// What is put to the origin during a copy is in the copy whole or not at all, and nobody sees
// half a copy.
func TestCopyOfABusyThread(t *testing.T) {
	s := fresh(t)
	ctx := within(t, time.Minute)
	ref := grow(t, s, "t", 500)
	done := make(chan error, 1)
	stop := make(chan struct{})
	go func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			var err error
			step := checkpointer.Step{Log: checkpointer.Append(langrooms.NewMessage("ai", "x")), Channels: map[string][]byte{"n": fmt.Append(nil, 501+i)}}
			if ref, err = s.Put(ctx, ref, step); err != nil {
				done <- err
				return
			}
		}
	}()
	for i := range 10 {
		to := fmt.Sprint("u", i)
		if err := s.CopyThread(ctx, "t", to); err != nil {
			t.Fatal(err)
		}
		cp, messages, err := s.Snapshot(ctx, checkpointer.Ref{Thread: to}, checkpointer.Range{})
		if n := fmt.Sprint(len(messages)); err != nil || len(messages) > 500 && string(cp.Channels["n"]) != n {
			t.Errorf("the copy has %s messages and counts %q, %v", n, cp.Channels["n"], err)
		}
		if err := drain(s.List(ctx, checkpointer.Query{Thread: to}), len(messages)-499); err != nil {
			t.Errorf("the copy's checkpoints: %v", err)
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// Connections are cut in the middle of any reply: the copy is repeated and known again, or
// nothing came of it.
func TestCopyIsRepeated(t *testing.T) {
	p := redistest.StartProxy(t, sharedAddr(t))
	s := open(t, p.Addr, "prefix="+nextPrefix())
	ctx := within(t, time.Minute)
	grow(t, s, "t", 5)
	for i := range 60 {
		to := fmt.Sprint("u", i)
		p.CutOnceAfter(int64(i * 60))
		if err := s.CopyThread(ctx, "t", to); err != nil {
			t.Fatalf("cut after %d bytes: %v", i*60, err)
		}
		if err := drain(s.Messages(ctx, checkpointer.Ref{Thread: to}, checkpointer.Range{}), 5); err != nil {
			t.Errorf("cut after %d bytes: messages: %v", i*60, err)
		}
		if err := s.CopyThread(ctx, "t", to); !errors.Is(err, checkpointer.ErrConflict) {
			t.Errorf("another copy onto it: %v", err)
		}
	}
}
