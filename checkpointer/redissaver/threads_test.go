package redissaver_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/redissaver"
	"github.com/langrooms/langrooms/internal/redistest"
)

func listThreads(t testing.TB, s *redissaver.Saver) []string {
	t.Helper()
	var names []string
	for info, err := range s.Threads(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, info.Thread)
	}
	return names
}

// More threads than a page, put to in an order that the index, which is told of a put
// only now and then, does not know: the listing is in the order of the puts.
func TestThreadsInOrderOfPuts(t *testing.T) {
	s := fresh(t)
	const n = 250
	refs := make([]checkpointer.Ref, n)
	put := func(i int) {
		t.Helper()
		ref := refs[i]
		ref.Thread = fmt.Sprint("t", i)
		var err error
		if refs[i], err = s.Put(t.Context(), ref, checkpointer.Step{}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		put(i)
	}
	put(3)
	names := listThreads(t, s)
	if len(names) != n || names[0] != "t3" || names[1] != "t249" || names[n-1] != "t0" {
		t.Errorf("%d threads: %v …", len(names), names[:min(5, len(names))])
	}
}

// When the index is lost a thread is back after its next put that is a minute after the
// one before.
func TestIndexHealsItself(t *testing.T) {
	c := client(t, sharedAddr(t))
	s := fresh(t)
	ref := grow(t, s, "t", 1)
	c.Del(t.Context(), redissaver.IndexKey(s))
	if names := listThreads(t, s); len(names) != 0 {
		t.Fatalf("without the index: %v", names)
	}
	// As if the index had been told two minutes ago.
	setRecord(t, c, redissaver.ThreadKeys(s, "t")[record], recordTold, time.Now().Add(-2*time.Minute).UnixMicro())
	if _, err := s.Put(t.Context(), ref, checkpointer.Step{}); err != nil {
		t.Fatal(err)
	}
	if names := listThreads(t, s); len(names) != 1 {
		t.Errorf("after a put: %v", names)
	}
}

// A writer that died between its put and the index is healed by the repetition of the
// put, which changes nothing else.
func TestRepeatedPutTellsTheIndex(t *testing.T) {
	c := client(t, sharedAddr(t))
	s := fresh(t)
	step := checkpointer.Step{ID: "c"}
	if _, err := s.Put(t.Context(), checkpointer.Ref{Thread: "t"}, step); err != nil {
		t.Fatal(err)
	}
	c.Del(t.Context(), redissaver.IndexKey(s))
	setRecord(t, c, redissaver.ThreadKeys(s, "t")[record], recordTold, false)
	if _, err := s.Put(t.Context(), checkpointer.Ref{Thread: "t"}, step); err != nil {
		t.Fatal(err)
	}
	if names := listThreads(t, s); len(names) != 1 {
		t.Errorf("threads: %v", names)
	}
}

// A key of another kind in the place of the index is named.
func TestForeignIndex(t *testing.T) {
	c := client(t, sharedAddr(t))
	s := fresh(t)
	c.Set(t.Context(), redissaver.IndexKey(s), "mine", 0)
	_, err := s.Put(t.Context(), checkpointer.Ref{Thread: "t"}, checkpointer.Step{})
	if !errors.Is(err, checkpointer.ErrFormat) {
		t.Errorf("put: %v", err)
	}
	if err := drain(s.Threads(t.Context()), 0); !errors.Is(err, checkpointer.ErrFormat) {
		t.Errorf("threads: %v", err)
	}
}

// A watch begins with one yield, tells of puts and writes, and of the deletion as such;
// a thread that is made anew is a change too. It ends with its context.
func TestWatch(t *testing.T) {
	s := fresh(t)
	ctx, cancel := context.WithCancel(within(t, time.Minute))
	changes := make(chan checkpointer.Change)
	ended := make(chan error, 1)
	go func() {
		for change, err := range s.Watch(ctx, "t") {
			if err != nil {
				ended <- err
				return
			}
			changes <- change
		}
		ended <- nil
	}()
	expect := func(what string, deleted bool) {
		t.Helper()
		select {
		case got := <-changes:
			if got != (checkpointer.Change{Thread: "t", Deleted: deleted}) {
				t.Errorf("%s: %+v", what, got)
			}
		case <-ctx.Done():
			t.Fatalf("%s: no change was seen", what)
		}
	}
	expect("the beginning", false)
	ref := grow(t, s, "t", 1)
	expect("a new thread", false)
	if err := s.PutWrites(ctx, ref, checkpointer.Task{ID: "task"}, nil); err != nil {
		t.Fatal(err)
	}
	expect("writes", false)
	if err := s.DeleteThread(ctx, "t"); err != nil {
		t.Fatal(err)
	}
	expect("the deletion", true)
	grow(t, s, "t", 1)
	expect("the thread made anew", false)
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("the watch ended with %v", err)
	}
}

// Values are kept by id, apart from the thread of the same id.
func TestBlobs(t *testing.T) {
	c := client(t, sharedAddr(t))
	s := fresh(t, "ttl=1h")
	b := s.Blobs()
	grow(t, s, "t", 1)
	if v, ok, err := b.Get(t.Context(), "t"); err != nil || ok || v != nil {
		t.Errorf("a value that was never set: %q, %v, %v", v, ok, err)
	}
	for _, id := range []string{"t", "a\x00{b}", "é"} {
		for _, value := range []string{"one", "", "\x00\xff"} {
			if err := b.Set(t.Context(), id, []byte(value)); err != nil {
				t.Fatal(err)
			}
			if v, ok, err := b.Get(t.Context(), id); err != nil || !ok || string(v) != value {
				t.Errorf("value of %q: %q, %v, %v", id, v, ok, err)
			}
		}
	}
	if err := s.DeleteThread(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := b.Get(t.Context(), "t"); err != nil || !ok {
		t.Errorf("the value went with the thread: %v", err)
	}
	keys := c.Keys(t.Context(), "*blob{t}").Val()
	if len(keys) == 0 || c.TTL(t.Context(), keys[0]).Val() <= 0 {
		t.Errorf("the values %q do not expire", keys)
	}
	if err := b.Set(t.Context(), "", nil); !errors.Is(err, checkpointer.ErrInvalid) {
		t.Errorf("an empty id: %v", err)
	}
	s.Close()
	if _, _, err := b.Get(t.Context(), "t"); !errors.Is(err, checkpointer.ErrClosed) {
		t.Errorf("get after close: %v", err)
	}
}

// A client of the caller's stays open, and a slow dial of its own defaults is the
// caller's.
func TestCallersClient(t *testing.T) {
	server := redistest.Start(t)
	c := redis.NewClient(&redis.Options{Addr: server.Addr})
	defer c.Close()
	s, err := redissaver.New(c, redissaver.Config{})
	if err != nil {
		t.Fatal(err)
	}
	everything(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := c.Ping(t.Context()).Err(); err != nil {
		t.Errorf("the caller's client after Close: %v", err)
	}
}
