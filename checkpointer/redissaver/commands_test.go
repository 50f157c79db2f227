package redissaver_test

import (
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

// commands returns how many commands a server has run so far, those of scripts included,
// and by name.
func commands(t testing.TB, c *redis.Client) (total int, byName map[string]int) {
	t.Helper()
	stats, err := c.InfoMap(t.Context(), "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	byName = map[string]int{}
	for name, line := range stats["Commandstats"] {
		var n int
		if _, err := fmt.Sscanf(line, "calls=%d,", &n); err != nil {
			t.Fatal(err)
		}
		name = strings.TrimPrefix(name, "cmdstat_")
		if name == "info" || strings.HasPrefix(name, "config") || name == "hello" || name == "ping" {
			continue
		}
		byName[name] = n
		total += n
	}
	return total, byName
}

// nextMilli waits until the server's clock has moved on by a millisecond.
func nextMilli(t *testing.T, c *redis.Client) {
	t.Helper()
	for began := int64(0); ; {
		now, err := c.Time(t.Context()).Result()
		if err != nil {
			t.Fatal(err)
		}
		if began == 0 {
			began = now.UnixMilli()
		}
		if now.UnixMilli() > began {
			return
		}
	}
}

// What each script asks of the server, the script itself included, at any length of the thread.
func TestCommandsOfScripts(t *testing.T) {
	server := redistest.Start(t)
	s, c := open(t, server.Addr), client(t, server.Addr)
	ctx := t.Context()
	if first, err := s.Lock(ctx, "other"); err != nil || first.Release() != nil { // so that the scripts are loaded
		t.Fatal(err)
	}
	other, _, _, err := s.LockHead(ctx, checkpointer.Ref{Thread: "other"}, checkpointer.Range{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.(checkpointer.LastPutter).PutLast(other.Context(), checkpointer.Ref{Thread: "other"}, checkpointer.Step{}); err != nil {
		t.Fatal(err)
	}
	ofLeases := map[string]bool{"lock": true, "release": true, "lock with the head": true, "last put": true}
	for _, n := range []int{10, 3_000} {
		thread := fmt.Sprint("t", n)
		ref := grow(t, s, thread, n)
		m, _ := message(t, 300)
		put := func(step checkpointer.Step) func() error {
			return func() (err error) {
				step.ID = ""
				ref, err = s.Put(ctx, ref, step)
				return err
			}
		}
		var lease checkpointer.Lease
		limit := checkpointer.Range{Backward: true, Limit: checkpointer.N(20)}
		for _, op := range []struct {
			name string
			most int
			do   func() error
		}{
			{"put", 11, put(checkpointer.Step{Log: checkpointer.Append(m)})},
			{"put of ten messages", 11, func() error {
				ten := make([]langrooms.Message, 10)
				for i := range ten {
					ten[i], _ = message(t, 300)
				}
				return put(checkpointer.Step{Log: checkpointer.Append(ten...)})()
			}},
			{"put with channels", 13, put(checkpointer.Step{Log: checkpointer.Append(m), Channels: map[string][]byte{"x": {1}, "y": {2}}})},
			{"window", 8, func() error { _, _, err := s.Snapshot(ctx, checkpointer.Ref{Thread: thread}, limit); return err }},
			{"put with a replacement", 15, put(checkpointer.Step{Log: []checkpointer.Entry{{Op: checkpointer.OpReplace, Message: m}}})},
			{"get", 8, func() error { _, err := s.Get(ctx, ref); return err }},
			{"list", 8, func() error {
				for _, err := range s.List(ctx, checkpointer.Query{Thread: thread, Limit: checkpointer.N(20)}) {
					if err != nil {
						return err
					}
				}
				return nil
			}},
			{"put writes", 8, func() error {
				return s.PutWrites(ctx, ref, checkpointer.Task{ID: "task"}, []checkpointer.Write{{Channel: "x", Value: []byte("v")}})
			}},
			{"lock", 4, func() (err error) { lease, err = s.Lock(ctx, thread); return err }},
			{"put under the lease", 13, func() (err error) {
				ref, err = s.Put(lease.Context(), ref, checkpointer.Step{Log: checkpointer.Append(m)})
				return err
			}},
			{"release", 4, func() error { return lease.Release() }},
			{"lock with the head", 10, func() (err error) {
				lease, _, _, err = s.LockHead(ctx, checkpointer.Ref{Thread: thread}, checkpointer.Range{Limit: checkpointer.N(0)})
				return err
			}},
			{"last put", 15, func() (err error) {
				ref, err = lease.(checkpointer.LastPutter).PutLast(lease.Context(), ref, checkpointer.Step{Log: checkpointer.Append(m),
					Channels: map[string][]byte{"x": {1}}, Remove: []string{"y"}})
				return err
			}},
		} {
			if !ofLeases[op.name] { // so that the script is loaded
				if err := op.do(); err != nil {
					t.Fatal(op.name, err)
				}
			}
			nextMilli(t, c) // a lease of the same millisecond as the one before takes the longer way
			before, was := commands(t, c)
			if err := op.do(); err != nil {
				t.Fatal(op.name, err)
			}
			after, is := commands(t, c)
			for name, n := range was {
				if is[name] -= n; is[name] == 0 {
					delete(is, name)
				}
			}
			t.Logf("%-22s at length %4d: %2d commands %v", op.name, n, after-before, is)
			if after-before > op.most {
				t.Errorf("%s at length %d runs %d commands, want at most %d", op.name, n, after-before, op.most)
			}
		}
	}
}

// No script does more than its share: neither for one id that many messages have, nor for
// many branches.
func TestNoScriptIsQuadratic(t *testing.T) {
	server := redistest.Start(t)
	s, c := open(t, server.Addr), client(t, server.Addr)
	ctx := within(t, time.Minute)
	count := func(what string, most int, do func() error) {
		t.Helper()
		before, _ := commands(t, c)
		began := time.Now()
		if err := do(); err != nil {
			t.Fatal(what, err)
		}
		after, _ := commands(t, c)
		t.Logf("%s: %d commands in %v", what, after-before, time.Since(began))
		if after-before > most {
			t.Errorf("%s runs %d commands, want at most %d", what, after-before, most)
		}
	}
	const many = 30_000
	same := checkpointer.Append(make([]langrooms.Message, many)...)
	for i := range same {
		same[i].Message.ID = "same"
	}
	ref := checkpointer.Ref{Thread: "ids"}
	put := func(step checkpointer.Step) func() error {
		return func() (err error) { ref, err = s.Put(ctx, ref, step); return err }
	}
	edits := make([]checkpointer.Entry, 1_000)
	for i := range edits {
		edits[i] = checkpointer.Entry{Op: checkpointer.OpReplace, Message: langrooms.Message{ID: "same"}}
	}
	count("a put of 30,000 messages of one id", 100, put(checkpointer.Step{Log: same}))
	count("1,000 replacements of all of them", 300, put(checkpointer.Step{Log: edits}))
	count("a prune of them", 600, func() error { _, err := s.Prune(ctx, "ids", checkpointer.Retention{Keep: 1}); return err })

	ref = grow(t, s, "rewinds", 1)
	for i := range 1_000 {
		m := langrooms.Message{ID: fmt.Sprint("a", i)}
		if err := put(checkpointer.Step{Fork: true, Truncate: ptr(int64(1)), Log: checkpointer.Append(m)})(); err != nil {
			t.Fatal(err)
		}
	}
	window := func(n int) func() error {
		return func() error {
			return drain(s.Messages(ctx, ref, checkpointer.Range{Backward: true, Limit: checkpointer.N(n)}), n)
		}
	}
	count("a window of 2 after 1,000 rewinds", 15, window(2))
	count("a prune of them", 100, func() error { _, err := s.Prune(ctx, "rewinds", checkpointer.Retention{Keep: 1}); return err })
	if n := c.HLen(ctx, redissaver.ThreadKeys(s, "rewinds")[record]).Val(); n > 5 {
		t.Errorf("after the prune the record has %d fields", n)
	}
	count("a window of 2 after the prune", 15, window(2))

	ref = grow(t, s, "branches", 1)
	for i := range 500 { // each branch keeps one message of the one before
		log := checkpointer.Append(langrooms.Message{ID: fmt.Sprint("a", i)}, langrooms.Message{ID: fmt.Sprint("b", i)})
		if err := put(checkpointer.Step{Fork: true, Truncate: ptr(int64(i + 1)), Log: log})(); err != nil {
			t.Fatal(err)
		}
	}
	count("a window of 2 of 500 nested branches", 15, window(2))
	count("all 502 messages of them", 1_100, window(502))
	count("an edit below them", 40, put(checkpointer.Step{Log: []checkpointer.Entry{{Op: checkpointer.OpReplace, Message: langrooms.Message{ID: "a1"}}}}))
}
