package redissaver_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/redissaver"
	"github.com/langrooms/langrooms/internal/redistest"
)

// deadlines returns when each existing key of the thread ends; the fence has a life of
// its own and is left out.
func deadlines(t testing.TB, c *redis.Client, s *redissaver.Saver, thread string) map[time.Duration]int {
	t.Helper()
	all := map[time.Duration]int{}
	for _, key := range redissaver.ThreadKeys(s, thread)[:fence] {
		if c.Exists(t.Context(), key).Val() == 0 {
			continue
		}
		at, err := c.PExpireTime(t.Context(), key).Result()
		if err != nil {
			t.Fatal(err)
		}
		all[at]++
	}
	return all
}

// All keys of a thread end in the same millisecond, after whatever was written last.
func TestWholeThreadExpires(t *testing.T) {
	c := client(t, sharedAddr(t))
	s := fresh(t, "ttl=1h")
	if err := s.PutWrites(t.Context(), checkpointer.Ref{Thread: "t", ID: "c"}, checkpointer.Task{ID: "task"}, []checkpointer.Write{{Channel: "x"}}); err != nil {
		t.Fatal(err)
	}
	if d := deadlines(t, c, s, "t"); len(d) != 1 || d[-1] != 0 {
		t.Errorf("writes before the put end at %v", d)
	}
	ref := checkpointer.Ref{Thread: "t"}
	for _, step := range []checkpointer.Step{
		{ID: "c", Log: checkpointer.Append(langrooms.NewMessage("ai", "x"))},
		{ID: "d", Channels: map[string][]byte{"x": nil}},
	} {
		var err error
		if ref, err = s.Put(t.Context(), ref, step); err != nil {
			t.Fatal(err)
		}
		if d := deadlines(t, c, s, "t"); len(d) != 1 || d[-1] != 0 {
			t.Errorf("after %s the keys end at %v", step.ID, d)
		}
	}
	if err := s.SetTTL(t.Context(), "t", 0); err != nil {
		t.Fatal(err)
	}
	if d := deadlines(t, c, s, "t"); len(d) != 1 || d[-1] != 6 {
		t.Errorf("a pinned thread ends at %v", d)
	}
	if _, err := s.Put(t.Context(), ref, checkpointer.Step{}); err != nil {
		t.Fatal(err)
	}
	if d := deadlines(t, c, s, "t"); len(d) != 1 || d[-1] != 6 {
		t.Errorf("a pinned thread ends, after a put, at %v", d)
	}
	if err := s.SetTTL(t.Context(), "none", time.Hour); !errors.Is(err, checkpointer.ErrNotFound) {
		t.Errorf("TTL of a thread that does not exist: %v", err)
	}
}

// The thread is there until its end, then nothing of it is, and a fork of it has a life
// of its own.
func TestExpiry(t *testing.T) {
	c := client(t, sharedAddr(t))
	s := fresh(t)
	ctx := within(t, time.Minute)
	ref := grow(t, s, "t", 5)
	fork, err := s.Fork(ctx, ref, nil, "u")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SetTTL(ctx, "t", 300*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	last := 5
	err = redistest.Eventually(10*time.Second, func() error {
		_, messages, err := s.Snapshot(ctx, ref, checkpointer.Range{})
		if err == nil {
			last = len(messages)
			err = errors.New("still there")
		} else if errors.Is(err, checkpointer.ErrNotFound) {
			err = nil
		}
		return err
	})
	if err != nil || last != 5 {
		t.Fatalf("%v; the last reading had %d messages", err, last)
	}
	for _, key := range redissaver.ThreadKeys(s, "t") {
		if c.Exists(ctx, key).Val() != 0 {
			t.Errorf("key %s has outlived the thread", key)
		}
	}
	if err := drain(s.Threads(ctx), 1); err != nil {
		t.Errorf("threads: %v", err)
	}
	if n := c.ZCard(ctx, redissaver.IndexKey(s)).Val(); n != 1 {
		t.Errorf("after a listing the index has %d threads", n)
	}
	if _, messages, err := s.Snapshot(ctx, fork, checkpointer.Range{}); err != nil || len(messages) != 5 {
		t.Errorf("the fork has %d messages, %v", len(messages), err)
	}
}

// A token given before a thread expired stays behind the ones given after.
func TestTokensOutliveExpiry(t *testing.T) {
	s := fresh(t)
	ctx := within(t, time.Minute)
	old, err := s.Lock(ctx, "t")
	if err != nil {
		t.Fatal(err)
	}
	stale := checkpointer.WithFence(ctx, "t", tokenOf(t, old))
	if _, err := s.Put(old.Context(), checkpointer.Ref{Thread: "t"}, checkpointer.Step{}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(old.Release(), s.SetTTL(ctx, "t", time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if err := redistest.Eventually(10*time.Second, func() error {
		if _, err := s.Get(ctx, checkpointer.Ref{Thread: "t"}); !errors.Is(err, checkpointer.ErrNotFound) {
			return fmt.Errorf("get of what has expired: %v", err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	next, err := s.Lock(ctx, "t")
	if err != nil {
		t.Fatal(err)
	}
	defer next.Release()
	if _, err := s.Put(stale, checkpointer.Ref{Thread: "t"}, checkpointer.Step{}); !errors.Is(err, checkpointer.ErrFenced) {
		t.Errorf("put with the token from before the expiry: %v", err)
	}
}

// With RefreshOnRead a read puts the end off, but only in the second half of the life.
func TestRefreshOnRead(t *testing.T) {
	c := client(t, sharedAddr(t))
	s := fresh(t, "ttl=1h", "refresh=true")
	grow(t, s, "t", 1)
	key := redissaver.ThreadKeys(s, "t")[record]
	end := func() time.Duration { return c.PExpireTime(t.Context(), key).Val() }
	before := end()
	for range 2 {
		if _, err := s.Get(t.Context(), checkpointer.Ref{Thread: "t"}); err != nil {
			t.Fatal(err)
		}
	}
	if end() != before {
		t.Error("a read in the first half of the life has put off its end")
	}
	setRecord(t, c, key, recordEnds, (before - 40*time.Minute).Milliseconds())
	if _, err := s.Get(t.Context(), checkpointer.Ref{Thread: "t"}); err != nil {
		t.Fatal(err)
	}
	if d := deadlines(t, c, s, "t"); len(d) != 1 || end() < before {
		t.Errorf("a read in the second half: the keys end at %v, before %v", d, before)
	}
}
