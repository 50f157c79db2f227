package sqlitesaver

import (
	"errors"
	"testing"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

// counts returns the number of rows of each table that has any.
func counts(t *testing.T, s *Saver) map[string]int {
	t.Helper()
	found := map[string]int{}
	err := s.view(t.Context(), func(q *tx) error {
		for _, table := range []string{"threads", "checkpoints", "logs", "messages", "changes", "channel_values", "writes", "orphans", "pruned", "leases", "tickets"} {
			var n int
			if err := q.row("SELECT count(*) FROM " + table).Scan(&n); err != nil {
				return err
			}
			if n > 0 {
				found[table] = n
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// busy puts a thread with rows in every table.
func busy(t *testing.T, s *Saver, thread string) checkpointer.Ref {
	t.Helper()
	at := fill(t, s, checkpointer.Ref{Thread: thread}, 3)
	var err error
	for _, id := range []string{"b", "c"} {
		step := checkpointer.Step{ID: id, Channels: map[string][]byte{"x": {1}}, Fork: true,
			Log: []checkpointer.Entry{{Op: checkpointer.OpRemove, ID: "x"}, {Op: checkpointer.OpReset}}}
		if _, err = s.Put(t.Context(), at, step); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{"c", "later"} {
		err := s.PutWrites(t.Context(), checkpointer.Ref{Thread: thread, ID: id}, checkpointer.Task{ID: "task"}, []checkpointer.Write{{Channel: "x"}})
		if err != nil {
			t.Fatal(err)
		}
	}
	return checkpointer.Ref{Thread: thread, ID: "c"}
}

func TestDeleteLeavesOnlyATombstone(t *testing.T) {
	s := openHere(t)
	lease, err := s.Lock(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Release()
	busy(t, s, "t")
	if err := s.DeleteThread(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	if got := counts(t, s); len(got) != 1 || got["leases"] != 1 {
		t.Errorf("rows after the delete: %v", got)
	}
	err = s.update(t.Context(), func(q *tx) error { return sweep(q, time.Now().Add(tombstone+time.Minute)) })
	if err != nil {
		t.Fatal(err)
	}
	if got := counts(t, s); len(got) != 0 {
		t.Errorf("rows after the tombstone's time: %v", got)
	}
}

// Writes that no checkpoint came for go with time, others stay.
func TestOrphansGoWithTime(t *testing.T) {
	s := openHere(t)
	busy(t, s, "t")
	for _, thread := range []string{"alone", "u"} {
		err := s.PutWrites(t.Context(), checkpointer.Ref{Thread: thread, ID: "c"}, checkpointer.Task{ID: "task"}, []checkpointer.Write{{Channel: "x"}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Put(t.Context(), checkpointer.Ref{Thread: "u"}, checkpointer.Step{ID: "c"}); err != nil {
		t.Fatal(err)
	}
	sweepAfter := func(d time.Duration) map[string]int {
		t.Helper()
		if err := s.update(t.Context(), func(q *tx) error { return sweep(q, time.Now().Add(d)) }); err != nil {
			t.Fatal(err)
		}
		return counts(t, s)
	}
	if got := sweepAfter(checkpointer.OrphanAge - time.Minute); got["writes"] != 4 {
		t.Errorf("rows before the orphans' time: %v", got)
	}
	got := sweepAfter(checkpointer.OrphanAge + time.Minute)
	if got["writes"] != 2 || got["orphans"] != 0 || got["threads"] != 2 {
		t.Errorf("rows after the orphans' time: %v", got)
	}
}

// A thread whose newest checkpoint is damaged does not end the listing, and can be deleted.
func TestDamagedThreadIsListed(t *testing.T) {
	s := openHere(t)
	for _, thread := range []string{"a", "b", "c"} {
		if _, err := s.Put(t.Context(), checkpointer.Ref{Thread: thread}, checkpointer.Step{}); err != nil {
			t.Fatal(err)
		}
	}
	err := s.update(t.Context(), func(q *tx) error {
		return q.exec("UPDATE checkpoints SET channels = x'7b' WHERE seq = 2")
	})
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for info, err := range s.Threads(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		listed = append(listed, info.Thread)
		if damaged := info.Thread == "b"; damaged != (info.Err != nil) || damaged && !errors.Is(info.Err, checkpointer.ErrFormat) {
			t.Errorf("thread %q is listed with %v", info.Thread, info.Err)
		}
	}
	if len(listed) != 3 {
		t.Errorf("listed: %v", listed)
	}
	if err := s.DeleteThread(t.Context(), "b"); err != nil {
		t.Errorf("delete of the damaged thread: %v", err)
	}
}

// After the clock was set back a dead holder has the lease for its time and no longer.
func TestLeaseBeyondItsTimeIsCut(t *testing.T) {
	s := openHere(t)
	err := s.update(t.Context(), func(q *tx) error {
		return q.exec("INSERT INTO leases (thread, fence, owner, expires) VALUES (?, 7, 'dead', ?)", []byte("t"), time.Now().Add(time.Hour).UnixMilli())
	})
	if err != nil {
		t.Fatal(err)
	}
	if token, err := s.tryLock(t.Context(), "t", "waiter"); token != 0 || err != nil {
		t.Fatalf("the lease was given, token %d, or %v", token, err)
	}
	var expires int64
	if err := s.view(t.Context(), func(q *tx) error { return q.row("SELECT expires FROM leases").Scan(&expires) }); err != nil {
		t.Fatal(err)
	}
	if left := time.Until(time.UnixMilli(expires)); left > leaseTTL {
		t.Errorf("the dead holder has the lease for %v more", left)
	}
}

// The fence of a thread that is made and deleted again and again is remembered from its
// last use.
func TestFenceInUseIsRemembered(t *testing.T) {
	s := openHere(t)
	ctx := checkpointer.WithFence(t.Context(), "t", 7)
	if _, err := s.Put(ctx, checkpointer.Ref{Thread: "t"}, checkpointer.Step{}); err != nil {
		t.Fatal(err)
	}
	err := s.update(t.Context(), func(q *tx) error {
		return q.exec("UPDATE leases SET expires = ?", time.Now().Add(-tombstone-time.Hour).UnixMilli())
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteThread(ctx, "t"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(t.Context(), checkpointer.Ref{Thread: "u"}, checkpointer.Step{}); err != nil { // sweeps
		t.Fatal(err)
	}
	_, err = s.Put(checkpointer.WithFence(t.Context(), "t", 6), checkpointer.Ref{Thread: "t"}, checkpointer.Step{})
	if !errors.Is(err, checkpointer.ErrFenced) {
		t.Errorf("put with an older token: %v", err)
	}
}

// An expired thread is removed by a put to another one.
func TestExpiredThreadIsSwept(t *testing.T) {
	s := openHere(t)
	busy(t, s, "t")
	err := s.update(t.Context(), func(q *tx) error { return q.exec("UPDATE threads SET expires = 1") })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), checkpointer.Ref{Thread: "t"}); !errors.Is(err, checkpointer.ErrNotFound) {
		t.Errorf("get of an expired thread: %v", err)
	}
	if _, err := s.Put(t.Context(), checkpointer.Ref{Thread: "u"}, checkpointer.Step{}); err != nil {
		t.Fatal(err)
	}
	got := counts(t, s)
	if len(got) != 2 || got["threads"] != 1 || got["checkpoints"] != 1 {
		t.Errorf("rows after the sweep: %v", got)
	}
}

// A prune after a compaction leaves what the newest checkpoint needs.
func TestPruneFreesTheOldLog(t *testing.T) {
	s := openHere(t)
	at := fill(t, s, checkpointer.Ref{Thread: "t"}, 1000)
	at, err := s.Compact(t.Context(), at, langrooms.NewMessage(langrooms.RoleSystem, "summary"), 10)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Prune(t.Context(), "t", checkpointer.Retention{Keep: 1}); err != nil {
		t.Fatal(err)
	}
	if got := counts(t, s); got["messages"] != 11 || got["logs"] != 1 || got["checkpoints"] != 1 {
		t.Errorf("rows after the prune: %v", got)
	}
	if cp, err := s.Get(t.Context(), at); err != nil || cp.Length != 1000 {
		t.Errorf("the newest checkpoint: %+v, %v", cp, err)
	}
}

// A lease that lost its row ends at the next renewal.
func TestRenewalOfALostLease(t *testing.T) {
	s := openHere(t)
	held, err := s.Lock(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	l := held.(*lease)
	if still, err := l.renew(); err != nil || !still {
		t.Errorf("renewal of a held lease: %v, %v", still, err)
	}
	if err := s.DeleteThread(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	if still, err := l.renew(); err != nil || still {
		t.Errorf("renewal of a lost lease: %v, %v", still, err)
	}
	if err := held.Release(); err != nil {
		t.Errorf("release of a lost lease: %v", err)
	}
}

// A waiter whose ticket ran out, as after a long sleep of its process, queues anew.
func TestLostTicket(t *testing.T) {
	s := openHere(t)
	ctx := t.Context()
	if token, err := s.tryLock(ctx, "t", "holder"); err != nil || token == 0 {
		t.Fatalf("the first: %d, %v", token, err)
	}
	for _, owner := range []string{"first", "second"} {
		if token, err := s.tryLock(ctx, "t", owner); err != nil || token != 0 {
			t.Fatalf("a waiter got %d, %v", token, err)
		}
	}
	err := s.update(ctx, func(q *tx) error {
		return errors.Join(q.exec("UPDATE tickets SET expires = 1 WHERE owner = 'first'"),
			q.exec("UPDATE leases SET expires = 1"))
	})
	if err != nil {
		t.Fatal(err)
	}
	if token, err := s.tryLock(ctx, "t", "first"); err != nil || token != 0 {
		t.Errorf("the one whose ticket ran out went before the next: %d, %v", token, err)
	}
	if token, err := s.tryLock(ctx, "t", "second"); err != nil || token == 0 {
		t.Errorf("the next in the queue: %d, %v", token, err)
	}
}
