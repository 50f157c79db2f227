package redissaver_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/checkpointertest"
	"github.com/langrooms/langrooms/checkpointer/redissaver"
	"github.com/langrooms/langrooms/internal/redistest"
)

func openURL(t testing.TB, url string) *redissaver.Saver {
	t.Helper()
	s, err := redissaver.Open(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// A cluster of three masters keeps the contract too: all keys of a thread share a slot,
// whatever its id holds.
func TestCluster(t *testing.T) {
	t.Parallel()
	servers := redistest.StartCluster(t)
	url := fmt.Sprintf("redis+cluster://%s,%s", servers[0].Addr, servers[1].Addr)
	s := openURL(t, url)
	if err := s.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Run("one slot", func(t *testing.T) {
		slots := map[int64]bool{}
		node := redis.NewClient(&redis.Options{Addr: servers[0].Addr, Protocol: 2, DisableIdentity: true})
		defer node.Close()
		for _, id := range checkpointertest.HostileIDs() {
			keys := redissaver.ThreadKeys(s, id)
			first := node.ClusterKeySlot(t.Context(), keys[0]).Val()
			slots[first] = true
			for _, key := range keys {
				if slot, err := node.ClusterKeySlot(t.Context(), key).Result(); err != nil || slot != first {
					t.Errorf("thread %q: key %q has the slot %d (%v), not %d", id, key, slot, err, first)
				}
			}
		}
		if n := len(checkpointertest.HostileIDs()); len(slots) < n-5 {
			t.Errorf("%d ids share %d slots", n, len(slots))
		}
	})
	t.Run("everything", func(t *testing.T) { everything(t, openURL(t, url+"?prefix=e:")) })
	t.Run("a node alone", func(t *testing.T) {
		err := openURL(t, "redis://"+servers[0].Addr).Ping(t.Context())
		if err == nil || !strings.Contains(err.Error(), "redis+cluster://") {
			t.Errorf("ping of one node: %v", err)
		}
	})
	t.Run("conformance", func(t *testing.T) {
		prefix := map[checkpointer.Saver]string{}
		openWith := func(t testing.TB, p string) checkpointer.Saver {
			s := openURL(t, url+"?prefix="+p)
			prefix[s] = p
			return s
		}
		checkpointertest.Run(t, func(t testing.TB) checkpointer.Saver { return openWith(t, nextPrefix()) }, checkpointertest.Config{
			Abilities: abilities,
			Reopen:    func(t testing.TB, s checkpointer.Saver) checkpointer.Saver { return openWith(t, prefix[s]) },
		})
	})
}

// The master is killed: after the Sentinel has promoted the replica the same saver goes
// on, and what was put before (and has reached the replica) is there.
func TestSentinelFailover(t *testing.T) {
	t.Parallel()
	pair := redistest.StartSentinel(t)
	s := openURL(t, fmt.Sprintf("redis+sentinel://%s/%s", pair.Addr, redistest.MasterName))
	ctx := within(t, time.Minute)
	if err := s.Ping(ctx); err != nil {
		t.Fatal(err)
	}
	ref := grow(t, s, "t", 10)
	replica := client(t, pair.Replica.Addr)
	err := redistest.Eventually(10*time.Second, func() error {
		if n, err := replica.DBSize(ctx).Result(); err != nil || n < 5 {
			return fmt.Errorf("the replica has %d keys, %v", n, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("a replica alone", func(t *testing.T) {
		err := openURL(t, "redis://"+pair.Replica.Addr).Ping(ctx)
		if err == nil || !strings.Contains(err.Error(), "it is a replica of "+pair.Master.Addr) {
			t.Errorf("ping of the replica: %v", err)
		}
	})
	t.Run("a Sentinel alone", func(t *testing.T) {
		err := openURL(t, "redis://"+pair.Addr).Ping(ctx)
		if err == nil || !strings.Contains(err.Error(), "redis+sentinel://") {
			t.Errorf("ping of the Sentinel: %v", err)
		}
	})
	pair.Master.Kill()
	step := checkpointer.Step{ID: "after"}
	if _, err := s.Put(ctx, ref, step); err != nil && !errors.Is(err, checkpointer.ErrUnavailable) {
		t.Errorf("put during the failover: %v", err)
	}
	err = redistest.Eventually(30*time.Second, func() error { _, err := s.Put(ctx, ref, step); return err })
	if err != nil {
		t.Fatalf("put after the failover: %v", err)
	}
	_, got, err := s.Snapshot(ctx, checkpointer.Ref{Thread: "t"}, checkpointer.Range{})
	if err != nil || len(got) != 10 {
		t.Errorf("after the failover: %d messages, %v", len(got), err)
	}
}
