package redissaver_test

import (
	"fmt"
	"testing"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/internal/redistest"
)

// A named log costs what a step adds, at 10 entries as at 10,000: one round trip, the new entry and
// little beside it. Its newest entries are one round trip, and so is a checkpoint without what is
// not selected.
func TestNamedLogsCostWhatAStepAdds(t *testing.T) {
	p := redistest.StartProxy(t, sharedAddr(t))
	s := open(t, p.Addr, "prefix="+nextPrefix())
	entry := make([]byte, 1000)
	for _, n := range []int{10, 10_000} {
		thread := fmt.Sprint("t", n)
		ref := checkpointer.Ref{Thread: thread}
		put := func(entries int, channels map[string][]byte) func() error {
			return func() (err error) {
				log := make([]checkpointer.LogEntry, entries)
				for i := range log {
					log[i] = checkpointer.LogEntry{Op: checkpointer.OpAppend, Data: entry}
				}
				ref, err = s.Put(t.Context(), ref, checkpointer.Step{Logs: map[string][]checkpointer.LogEntry{"results": log}, Channels: channels})
				return err
			}
		}
		if err := put(n, map[string][]byte{"big": make([]byte, 1<<20), "small": []byte("x")})(); err != nil {
			t.Fatal(err)
		}
		for _, op := range []struct {
			name           string
			sent, received int64 // at the most
			do             func() error
		}{
			{"put of an entry", 1000 + 600, 200, put(1, nil)},
			{"the newest five", 400, 5*1000 + 400, func() error {
				return drain(s.Entries(t.Context(), ref, "results", checkpointer.Range{Backward: true, Limit: checkpointer.N(5)}), 5)
			}},
			{"five in the middle", 400, 5*1000 + 400, func() error {
				return drain(s.Entries(t.Context(), ref, "results", checkpointer.Range{From: int64(n / 2), Limit: checkpointer.N(5)}), 5)
			}},
			{"one channel of two", 400, 600, func() error {
				cp, err := s.Select(t.Context(), ref, checkpointer.Selection{Channels: []string{"small"}})
				if err == nil && len(cp.Channels) != 1 {
					err = fmt.Errorf("%d channels", len(cp.Channels))
				}
				return err
			}},
			{"no channel", 400, 600, func() error {
				_, err := s.Select(t.Context(), ref, checkpointer.Selection{Channels: []string{}})
				return err
			}},
		} {
			if err := op.do(); err != nil { // so that the script is loaded
				t.Fatal(op.name, err)
			}
			c := cost(t, p, op.do)
			t.Logf("%d entries, %s: sent %d, received %d bytes", n, op.name, c.Sent, c.Received)
			if c.Turns != 1 || c.Sent > op.sent || c.Received > op.received {
				t.Errorf("%d entries, %s: %d round trips, sent %d, received %d bytes", n, op.name, c.Turns, c.Sent, c.Received)
			}
		}
	}
}

// A history sends what its checkpoints share once a page: 1,000 checkpoints that all carry a value of
// 100 KB are a few round trips and a few such values, with the writes of each; without channels it is
// none of them.
func TestHistorySendsOnce(t *testing.T) {
	p := redistest.StartProxy(t, sharedAddr(t))
	s := open(t, p.Addr, "prefix="+nextPrefix())
	const rows, value = 1000, 100_000
	ref, err := s.Put(t.Context(), checkpointer.Ref{Thread: "t"}, checkpointer.Step{Channels: map[string][]byte{"big": make([]byte, value)}})
	for i := 1; i < rows && err == nil; i++ {
		ref, err = s.Put(t.Context(), ref, checkpointer.Step{Channels: map[string][]byte{"turn": fmt.Append(nil, i)}})
		if err == nil && i%10 == 0 {
			err = s.PutWrites(t.Context(), ref, checkpointer.Task{ID: "task"}, []checkpointer.Write{{Channel: "x", Value: []byte("v")}})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	read := func(sel checkpointer.Selection) func() error {
		return func() error {
			writes := 0
			for cp, err := range s.List(t.Context(), checkpointer.Query{Thread: "t", Select: sel}) {
				if err != nil {
					return err
				}
				if sel.Channels == nil && len(cp.Channels["big"]) != value {
					return fmt.Errorf("the value of %s has %d bytes", cp.Ref.ID, len(cp.Channels["big"]))
				}
				writes += len(cp.Writes)
			}
			if sel.Writes && writes != (rows-1)/10 {
				return fmt.Errorf("%d writes came", writes)
			}
			return nil
		}
	}
	for _, tt := range []struct {
		name     string
		sel      checkpointer.Selection
		turns    int
		received int64
	}{
		{"all of it", checkpointer.Selection{Writes: true}, rows / 50, rows/50*value + rows*500},
		{"without channels", checkpointer.Selection{Channels: []string{}, Writes: true}, rows / 50, rows * 500},
	} {
		if err := read(tt.sel)(); err != nil { // so that the script is loaded
			t.Fatal(tt.name, err)
		}
		c := cost(t, p, read(tt.sel))
		t.Logf("%s: %d round trips, %d bytes", tt.name, c.Turns, c.Received)
		if c.Turns > tt.turns || c.Received > tt.received {
			t.Errorf("%s: %d round trips, %d bytes", tt.name, c.Turns, c.Received)
		}
	}
}
