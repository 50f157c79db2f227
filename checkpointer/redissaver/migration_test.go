package redissaver_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/redissaver"
	"github.com/langrooms/langrooms/internal/redistest"
)

// A slot moves to another master key by key while a thread in it is written and read.
// Before the first key moves and after the last one everything is served; a call in between
// succeeds or is ErrUnavailable; no half thread is ever seen, none is begun anew where a part
// has gone ahead, and nothing that was acknowledged is lost.
func TestSlotMigration(t *testing.T) {
	t.Parallel()
	servers := redistest.StartCluster(t)
	s := openURL(t, "redis+cluster://"+servers[0].Addr)
	ctx := within(t, time.Minute)
	put := func(parent checkpointer.Ref, id string) (checkpointer.Ref, error) {
		return s.Put(ctx, parent, checkpointer.Step{ID: id, Log: checkpointer.Append(langrooms.NewMessage("ai", id))})
	}
	at, err := put(checkpointer.Ref{Thread: "t"}, "0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.PutWrites(ctx, at, checkpointer.Task{ID: "task"}, []checkpointer.Write{{Channel: "x"}}); err != nil {
		t.Fatal(err)
	}
	from, to, slot := owner(t, servers, redissaver.ThreadKeys(s, "t")[0])
	must := func(args ...string) {
		t.Helper()
		addr := args[0]
		if got, err := redistest.Command(addr, args[1:]...); err != nil || strings.HasPrefix(got, "-") {
			t.Fatalf("%q: %s %v", args, got, err)
		}
	}
	must(to, "CLUSTER", "SETSLOT", slot, "IMPORTING", id(t, from))
	must(from, "CLUSTER", "SETSLOT", slot, "MIGRATING", id(t, to))
	acknowledged := 1
	// served is what holds before the first key has moved and after the last one.
	served := func(when string) {
		t.Helper()
		next, err := put(at, when)
		if err != nil {
			t.Fatalf("put %s: %v", when, err)
		}
		at, acknowledged = next, acknowledged+1
		if err := s.PutWrites(ctx, at, checkpointer.Task{ID: "task"}, []checkpointer.Write{{Channel: "x"}}); err != nil {
			t.Fatalf("put of writes %s: %v", when, err)
		}
		if _, got, err := s.Snapshot(ctx, checkpointer.Ref{Thread: "t"}, checkpointer.Range{}); err != nil || len(got) != acknowledged {
			t.Fatalf("read %s: %d messages of %d, %v", when, len(got), acknowledged, err)
		}
		lease, err := s.Lock(ctx, "t")
		if err != nil {
			t.Fatalf("lease %s: %v", when, err)
		}
		if err := lease.Release(); err != nil {
			t.Fatalf("release %s: %v", when, err)
		}
	}
	served("before the first key moves")
	host, port, _ := strings.Cut(to, ":")
	for i, key := range redissaver.ThreadKeys(s, "t") {
		must(from, "MIGRATE", host, port, key, "0", "5000")
		if i != record && i != entries { // a call that has to wait takes its time
			continue
		}
		next, err := put(at, fmt.Sprint("during ", i))
		switch {
		case err == nil:
			at = next
			acknowledged++
		case !errors.Is(err, checkpointer.ErrUnavailable):
			t.Fatalf("put with %d keys moved: %v", i+1, err)
		}
		_, got, err := s.Snapshot(ctx, checkpointer.Ref{Thread: "t"}, checkpointer.Range{})
		if err == nil && len(got) != acknowledged || err != nil && !errors.Is(err, checkpointer.ErrUnavailable) {
			t.Fatalf("with %d keys moved: %d messages of %d, %v", i+1, len(got), acknowledged, err)
		}
	}
	served("after the last key has moved")
	for _, s := range servers {
		must(s.Addr, "CLUSTER", "SETSLOT", slot, "NODE", id(t, to))
	}
	if at, err = put(at, "after"); err != nil {
		t.Fatal(err)
	}
	c, got, err := s.Snapshot(ctx, at, checkpointer.Range{})
	if err != nil || len(got) != acknowledged+1 {
		t.Errorf("after the move: %+v with %d messages of %d, %v", c, len(got), acknowledged+1, err)
	}
	t.Logf("%d puts succeeded during the move", acknowledged-1)
}

// id is the name of a node of the cluster.
func id(t *testing.T, addr string) string {
	t.Helper()
	name, err := redistest.Command(addr, "CLUSTER", "MYID")
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// owner returns the master that has key, another one, and the key's slot.
func owner(t *testing.T, servers []*redistest.Server, key string) (from, to, slot string) {
	t.Helper()
	for _, s := range servers {
		c := redis.NewClient(&redis.Options{Addr: s.Addr, Protocol: 2, DisableIdentity: true})
		n, err := c.Exists(t.Context(), key).Result()
		slot = fmt.Sprint(c.ClusterKeySlot(t.Context(), key).Val())
		c.Close()
		if err == nil && n == 1 {
			from = s.Addr
		} else {
			to = s.Addr
		}
	}
	if from == "" {
		t.Fatalf("no master has %q", key)
	}
	return from, to, slot
}
