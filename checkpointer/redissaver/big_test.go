package redissaver_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/redissaver"
)

// Numbers at which a script could run into a limit of Lua's: many entries, resets,
// branches and writes in one call, then a pruning of all of it and going on.
func TestLargeNumbers(t *testing.T) {
	s := fresh(t)
	ctx := within(t, time.Minute)
	var log []checkpointer.Entry
	for i := range 20_000 {
		log = append(log, checkpointer.Append(langrooms.Message{ID: fmt.Sprint("m", i)})...)
		if i%4 == 0 {
			log = append(log, checkpointer.Entry{Op: checkpointer.OpReset})
		}
	}
	ref, err := s.Put(ctx, checkpointer.Ref{Thread: "t"}, checkpointer.Step{ID: "a", Log: log})
	if err != nil {
		t.Fatal(err)
	}
	var w []checkpointer.Write
	channels := map[string][]byte{}
	for range 12_000 {
		w = append(w, checkpointer.Write{Channel: "x"})
	}
	for i := range 1_500 {
		channels[fmt.Sprint("c", i)] = nil
	}
	if err := s.PutWrites(ctx, ref, checkpointer.Task{ID: "task"}, w); err != nil {
		t.Fatal(err)
	}
	if c, err := s.Get(ctx, ref); err != nil || len(c.Writes) != len(w) {
		t.Fatalf("%d writes, %v", len(c.Writes), err)
	}
	for i := range 20 {
		ref, err = s.Put(ctx, ref, checkpointer.Step{Channels: channels, Fork: true, Truncate: ptr(int64(24_990)),
			Log: checkpointer.Append(langrooms.Message{ID: fmt.Sprint("n", i)})})
		if err != nil {
			t.Fatal(err)
		}
	}
	_, before, err := s.Snapshot(ctx, ref, checkpointer.Range{})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := s.Prune(ctx, "t", checkpointer.Retention{Keep: 1}); err != nil || n != 20 {
		t.Fatalf("%d checkpoints removed, %v", n, err)
	}
	c, after, err := s.Snapshot(ctx, ref, checkpointer.Range{})
	if err != nil || len(after) != len(before) || len(c.Channels) != len(channels) {
		t.Errorf("after the pruning: %d messages of %d, %d channels, %v", len(after), len(before), len(c.Channels), err)
	}
	plain := client(t, sharedAddr(t))
	keys := redissaver.ThreadKeys(s, "t")
	for key, most := range map[int]int64{entries: 2*int64(len(before)) + 100, values: int64(len(channels)) + 2, writes: 2, rows: 1} {
		if n := plain.HLen(ctx, keys[key]).Val(); n > most {
			t.Errorf("after the pruning %s has %d fields, want at most %d", keys[key], n, most)
		}
	}
	if _, err := s.Put(ctx, ref, checkpointer.Step{Log: checkpointer.Append(langrooms.Message{ID: "on"})}); err != nil {
		t.Errorf("put after the pruning: %v", err)
	}
}

// A message that is edited very often, in one step and in many, stays cheap to edit and
// to read.
func TestManyEditsOfOneMessage(t *testing.T) {
	s := fresh(t)
	ctx := within(t, time.Minute)
	ref, err := s.Put(ctx, checkpointer.Ref{Thread: "t"}, checkpointer.Step{Log: checkpointer.Append(langrooms.Message{ID: "m"})})
	if err != nil {
		t.Fatal(err)
	}
	edit := func(text string) checkpointer.Entry {
		return checkpointer.Entry{Op: checkpointer.OpReplace, Message: langrooms.Message{ID: "m", Parts: []langrooms.Part{langrooms.TextPart(text)}}}
	}
	for step := range 3 {
		var log []checkpointer.Entry
		for i := range 10_000 {
			log = append(log, edit(fmt.Sprint(step, " ", i)))
		}
		if ref, err = s.Put(ctx, ref, checkpointer.Step{ID: fmt.Sprint(step), Log: log}); err != nil {
			t.Fatal(err)
		}
	}
	for step := range 3 {
		_, got, err := s.Snapshot(ctx, checkpointer.Ref{Thread: "t", ID: fmt.Sprint(step)}, checkpointer.Range{})
		if err != nil || len(got) != 1 || got[0].Text() != fmt.Sprint(step, " ", 9999) {
			t.Errorf("step %d sees %+v, %v", step, got, err)
		}
	}
	list := client(t, sharedAddr(t)).HGet(ctx, redissaver.ThreadKeys(s, "t")[entries], "o1:0").Val()
	if want := "10000,20000,30000"; list != want {
		t.Errorf("the edits of the message are %.60s, want %s", list, want)
	}
}

// A fork to another thread larger than a page keeps every message, id and position, and
// leaves nothing staged; onto a thread that exists it is refused, and leaves nothing
// either.
func TestForkOfLongThread(t *testing.T) {
	s := fresh(t)
	ctx := within(t, time.Minute)
	ref := grow(t, s, "t", 3_500)
	fork, err := s.Fork(ctx, ref, ptr(int64(3_400)), "u")
	if err != nil {
		t.Fatal(err)
	}
	_, want, errWant := s.Snapshot(ctx, ref, checkpointer.Range{To: 3_400})
	_, got, errGot := s.Snapshot(ctx, fork, checkpointer.Range{})
	if err := errors.Join(errWant, errGot); err != nil || len(got) != 3_400 || len(want) != 3_400 {
		t.Fatalf("%d messages of %d, %v", len(got), len(want), err)
	}
	for i := range got {
		if got[i].ID != want[i].ID || got[i].Seq != want[i].Seq {
			t.Fatalf("message %d is %s at %d, want %s at %d", i, got[i].ID, got[i].Seq, want[i].ID, want[i].Seq)
		}
	}
	if _, err := s.Fork(ctx, ref, nil, "u"); !errors.Is(err, checkpointer.ErrConflict) {
		t.Errorf("fork onto a thread that exists: %v", err)
	}
	c := client(t, sharedAddr(t))
	base := redissaver.ThreadKeys(s, "u")[0]
	if staged := c.Keys(ctx, base[:len(base)-1]+"s:*").Val(); len(staged) != 0 {
		t.Errorf("staged keys are left: %q", staged)
	}
}
