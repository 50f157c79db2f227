package redissaver_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/redissaver"
	"github.com/langrooms/langrooms/internal/redistest"
)

// message returns a message whose stored form is size bytes long.
func message(t testing.TB, size int) (langrooms.Message, int) {
	t.Helper()
	m := langrooms.NewMessage(langrooms.RoleHuman, "")
	empty, err := m.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	m.Parts[0].Text = strings.Repeat("x", max(0, size-len(empty)))
	data, err := m.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return m, len(data)
}

// grow puts messages to thread until it is n long, many in each step, and returns the
// newest checkpoint.
func grow(t testing.TB, s checkpointer.Saver, thread string, n int) checkpointer.Ref {
	t.Helper()
	ref := checkpointer.Ref{Thread: thread}
	for at := 0; at < n; at += 1000 {
		var log []checkpointer.Entry
		for range min(1000, n-at) {
			m, _ := message(t, 300)
			log = append(log, checkpointer.Append(m)...)
		}
		var err error
		if ref, err = s.Put(t.Context(), ref, checkpointer.Step{Log: log}); err != nil {
			t.Fatal(err)
		}
	}
	return ref
}

// cost runs do through the proxy and returns what it took.
func cost(t testing.TB, p *redistest.Proxy, do func() error) redistest.Count {
	t.Helper()
	p.Reset()
	if err := do(); err != nil {
		t.Fatal(err)
	}
	return p.Count()
}

// In the steady state each operation is one round trip, and what it sends and reads does
// not depend on the length of the thread.
func TestOneRoundTripWhateverTheLength(t *testing.T) {
	p := redistest.StartProxy(t, sharedAddr(t))
	s := open(t, p.Addr, "prefix="+nextPrefix())
	m, size := message(t, 1024)
	sent, received := map[string][]int64{}, map[string][]int64{}
	for _, n := range []int{10, 10_000} {
		thread := fmt.Sprint("t", n+10_000) // names of one length
		ref := grow(t, s, thread, n)
		put := func() (err error) {
			ref, err = s.Put(t.Context(), ref, checkpointer.Step{Log: checkpointer.Append(m)})
			return err
		}
		if err := put(); err != nil { // now the newest checkpoint has a parent at each length
			t.Fatal(err)
		}
		for _, operation := range []struct {
			name string
			do   func() error
		}{
			{"get", func() error { _, err := s.Get(t.Context(), checkpointer.Ref{Thread: thread}); return err }},
			{"window", func() error {
				_, got, err := s.Snapshot(t.Context(), checkpointer.Ref{Thread: thread}, checkpointer.Range{Backward: true, Limit: checkpointer.N(5)})
				if len(got) != 5 {
					err = errors.Join(err, fmt.Errorf("%d messages", len(got)))
				}
				return err
			}},
			{"messages", func() error {
				return drain(s.Messages(t.Context(), ref, checkpointer.Range{Backward: true, Limit: checkpointer.N(5)}), 5)
			}},
			{"list page", func() error {
				return drain(s.List(t.Context(), checkpointer.Query{Thread: thread, Limit: checkpointer.N(1)}), 1)
			}},
			{"put writes", func() error {
				return s.PutWrites(t.Context(), ref, checkpointer.Task{ID: "task"}, []checkpointer.Write{{Channel: "x", Value: []byte("v")}})
			}},
			{"put", put},
		} {
			name := operation.name
			if err := operation.do(); err != nil { // so that the script is loaded
				t.Fatal(err)
			}
			c := cost(t, p, operation.do)
			if c.Turns != 1 || c.Commands["EVALSHA"] != 1 || len(c.Commands) != 1 {
				t.Errorf("%s at length %d took %d round trips: %v", name, n, c.Turns, c.Commands)
			}
			sent[name], received[name] = append(sent[name], c.Sent), append(received[name], c.Received)
		}
	}
	for name := range sent {
		t.Logf("%-10s sent %v, received %v bytes at lengths 10, 10 000 (a message is %d)", name, sent[name], received[name], size)
		if d := sent[name][1] - sent[name][0]; d < -16 || d > 16 {
			t.Errorf("%s sends %v bytes at lengths 10, 10 000", name, sent[name])
		}
		if d := received[name][1] - received[name][0]; d > 64 {
			t.Errorf("%s reads %v bytes at lengths 10, 10 000", name, received[name])
		}
	}
	if over := sent["put"][1] - int64(size); over > 1024 {
		t.Errorf("put sends %d bytes beside its payload", over)
	}
}

// A window of 20 reads 20 entries and no more than 1 KB beside them.
func TestWindowReadsItsEntries(t *testing.T) {
	p := redistest.StartProxy(t, sharedAddr(t))
	s := open(t, p.Addr, "prefix="+nextPrefix())
	ref := grow(t, s, "t", 10_000)
	branch, err := s.Put(t.Context(), ref, checkpointer.Step{Fork: true, Truncate: ptr(int64(9_990)), Log: checkpointer.Append(langrooms.NewMessage("ai", "x"))})
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]checkpointer.Range{
		"newest":          {Backward: true, Limit: checkpointer.N(20)},
		"deep":            {From: 5_000, Limit: checkpointer.N(20)},
		"deep, backwards": {To: 5_000, Backward: true, Limit: checkpointer.N(20)},
	} {
		for _, at := range []checkpointer.Ref{ref, branch} {
			size := 0
			read := func() error {
				size = 0
				_, got, err := s.Snapshot(t.Context(), at, r)
				for _, m := range got {
					data, _ := m.MarshalJSON()
					size += len(data)
				}
				if len(got) != 20 {
					t.Errorf("%s: %d messages", name, len(got))
				}
				return err
			}
			if err := read(); err != nil {
				t.Fatal(err)
			}
			c := cost(t, p, read)
			if over := c.Received - int64(size); c.Turns != 1 || over > 1024 {
				t.Errorf("%s: %d round trips, %d bytes beside 20 entries", name, c.Turns, over)
			}
		}
	}
}

// 200 steps of 1 KB cost the server less than 600 KB.
func TestServerMemory(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, server.Addr)
	used := func() int64 {
		info, err := redistest.Command(server.Addr, "INFO", "memory")
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(info, "used_memory_dataset:")
		n, err := strconv.ParseInt(strings.TrimSpace(rest[:strings.IndexByte(rest, '\n')]), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if _, err := s.Put(t.Context(), checkpointer.Ref{Thread: "other"}, checkpointer.Step{}); err != nil {
		t.Fatal(err)
	}
	before, ref := used(), checkpointer.Ref{Thread: "t"}
	for i := range 200 {
		m, _ := message(t, 1024)
		var err error
		if ref, err = s.Put(t.Context(), ref, checkpointer.Step{Log: checkpointer.Append(m), Channels: map[string][]byte{"turn": []byte(fmt.Sprint(i))}}); err != nil {
			t.Fatal(err)
		}
	}
	cost := used() - before
	t.Logf("200 steps of 1 KB: %d bytes", cost)
	if cost > 600_000 {
		t.Errorf("200 steps of 1 KB cost %d bytes of the server's memory", cost)
	}
}

// Deleting a thread leaves no key but the fence, which expires.
func TestDeleteLeavesOneExpiringKey(t *testing.T) {
	server := redistest.Start(t)
	s, c := open(t, server.Addr), client(t, server.Addr)
	lease, err := s.Lock(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	ref := grow(t, s, "t", 5)
	for _, step := range []checkpointer.Step{{Channels: map[string][]byte{"x": nil}}, {Fork: true, Truncate: ptr(int64(2))}} {
		if ref, err = s.Put(t.Context(), ref, step); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.PutWrites(t.Context(), ref, checkpointer.Task{ID: "task"}, []checkpointer.Write{{Channel: "x"}}); err != nil {
		t.Fatal(err)
	}
	if err := lease.Release(); err != nil {
		t.Fatal(err)
	}
	if n, err := c.DBSize(t.Context()).Result(); err != nil || n != 8 {
		t.Errorf("a thread has %d keys with its fence and the index (%v), want 8", n, err)
	}
	if err := s.DeleteThread(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	keys, err := c.Keys(t.Context(), "*").Result()
	if err != nil || !slices.Equal(keys, []string{"langrooms:{t}:f"}) {
		t.Fatalf("after the delete: keys %q, %v", keys, err)
	}
	if ttl := c.PTTL(t.Context(), keys[0]).Val(); ttl <= 0 || ttl > 24*time.Hour {
		t.Errorf("the fence expires in %v", ttl)
	}
}

// Everything that the server is asked to do is in this list: plain data commands of 6.2 and messages,
// no KEYS, SCAN, MODULE, CONFIG, FUNCTION.
func TestCommandsUsed(t *testing.T) {
	allowed := strings.Fields(`eval evalsha get set del unlink exists type rename persist pexpire pexpireat time
		hset hsetnx hget hmget hdel hexists hlen hkeys hincrby zadd zcard zrandmember zrem zscore zrevrange zrevrangebyscore
		publish subscribe unsubscribe ping info hello select`)
	server := redistest.Start(t)
	c := client(t, server.Addr)
	s := open(t, server.Addr+"/0", "ttl=1h", "refresh=true")
	everything(t, s)
	// CONFIG, INFO and others of this test itself come after the statistics were read.
	stats, err := c.InfoMap(t.Context(), "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(stats["Commandstats"])) {
		name = strings.TrimPrefix(name, "cmdstat_")
		if !slices.Contains(allowed, name) {
			t.Errorf("the command %s was used", name)
		}
	}
}

// everything makes each call of the saver at least once.
func everything(t testing.TB, s *redissaver.Saver) {
	t.Helper()
	ctx := within(t, time.Minute)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.Ping(ctx))
	lease, err := s.Lock(ctx, "t")
	must(err)
	m := langrooms.NewMessage(langrooms.RoleHuman, "hello")
	ref, err := s.Put(lease.Context(), checkpointer.Ref{Thread: "t"}, checkpointer.Step{
		Log: append(checkpointer.Append(m, langrooms.NewMessage("ai", "b")), checkpointer.Entry{Op: checkpointer.OpReplace, Message: m},
			checkpointer.Entry{Op: checkpointer.OpRemove, ID: m.ID}), Channels: map[string][]byte{"x": []byte("1")}})
	must(err)
	must(s.PutWrites(lease.Context(), ref, checkpointer.Task{ID: "task"}, []checkpointer.Write{{Channel: "x"}}))
	for _, step := range []checkpointer.Step{{Log: []checkpointer.Entry{{Op: checkpointer.OpReset}}}, {Log: checkpointer.Append(m, m)}} {
		ref, err = s.Put(lease.Context(), ref, step)
		must(err)
	}
	_, err = s.Get(ctx, ref)
	must(err)
	_, _, err = s.Snapshot(ctx, ref, checkpointer.Range{})
	must(err)
	must(drain(s.Messages(ctx, ref, checkpointer.Range{}), 2))
	must(drain(s.List(ctx, checkpointer.Query{Thread: "t"}), 3))
	_, err = s.Compact(lease.Context(), ref, m, 1)
	must(err)
	_, err = s.Prune(lease.Context(), "t", checkpointer.Retention{Keep: 1})
	must(err)
	must(s.SetTTL(ctx, "t", time.Hour))
	must(s.SetTTL(ctx, "t", 0))
	to := langrooms.NewID()
	_, err = s.Fork(ctx, checkpointer.Ref{Thread: "t"}, nil, to)
	must(err)
	for _, err := range s.Watch(ctx, "t") {
		must(err)
		break
	}
	must(lease.Release())
	must(s.DeleteThread(ctx, to))
	must(drain(s.Threads(ctx), 1))
	must(s.Blobs().Set(ctx, "b", []byte("v")))
	_, _, err = s.Blobs().Get(ctx, "b")
	must(err)
}
