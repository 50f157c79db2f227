package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/lifecycle"
	"github.com/langrooms/langrooms/room"
	"github.com/langrooms/langrooms/thread"
)

// pages are n messages of some 100 tokens each.
func pages(n int) (messages []langrooms.Message) {
	for i := range n {
		messages = append(messages, langrooms.NewMessage(langrooms.RoleHuman, fmt.Sprintf("page %d %s", i, strings.Repeat("x", 250))))
	}
	return messages
}

// writer counts the summaries that it writes, and what of a request it was shown at the most.
type writer struct {
	mu     sync.Mutex
	calls  int
	most   int
	before func() // a summary is written
}

func (w *writer) summarize(_ context.Context, messages []langrooms.Message) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	size := 0
	for _, m := range messages {
		size += room.Tokens(m)
	}
	w.calls, w.most = w.calls+1, max(w.most, size)
	if w.before != nil {
		w.before()
	}
	return fmt.Sprintf("summary %d of %d messages", w.calls, len(messages)), nil
}

// A thread that is near the bound is summarized in pieces that fit; a third of the bound stays, and
// what was replaced can be read and put back with everybody's place.
func TestShorten(t *testing.T) {
	onEachStore(t, func(t *testing.T, s store) {
		say(t, s, "t", pages(10)...)
		address(t, s, "t", "well?", false, &member{name: "proto", script: []string{"one"}})
		say(t, s, "t", pages(60)...)
		before := history(t, s, "t")
		w := &writer{}
		threads := threadsOf(s)
		threads.Summarize = w.summarize
		n, err := threads.Shorten(t.Context(), "t", 6000)
		if err != nil || n == 0 {
			t.Fatalf("%d, %v", n, err)
		}
		now := history(t, s, "t")
		expect(t, "the end stays", before[n:], now[1:])
		expect(t, "the summary's place", before[n-1].Seq, now[0].Seq)
		expect(t, "who has spoken", []string{"proto"}, room.Cast(now, ""))
		if size := sizeOf(now[1:]); size > 2000 || size < 1800 {
			t.Errorf("%d tokens are left of 6000", size)
		}
		if w.calls != 2 || w.most > 4500 {
			t.Errorf("%d calls of at most %d tokens", w.calls, w.most)
		}
		again, err := threads.Shorten(t.Context(), "t", 6000)
		if err != nil || again != 0 {
			t.Errorf("again: %d, %v", again, err)
		}
		say(t, s, "t", pages(40)...)
		more, err := threads.Shorten(t.Context(), "t", 6000)
		if err != nil || more == 0 {
			t.Fatalf("the second time: %d, %v", more, err)
		}
		expect(t, "all of it stands for", n+more-1, history(t, s, "t")[0].Summary.Replaced)
		say(t, s, "t", said("the end")...)
		whole, err := thread.Whole(t.Context(), s, "t")
		if err != nil {
			t.Fatal(err)
		}
		expect(t, "the whole thread", 112+1, len(whole))
		expect(t, "its beginning", before, whole[:len(before)])
		end := history(t, s, "t")
		restored, err := threads.Uncompact(t.Context(), "t")
		if err != nil {
			t.Fatal(err)
		}
		expect(t, "restored", n+more, restored)
		if diff := cmp.Diff(whole, history(t, s, "t")); diff != "" {
			t.Errorf("the thread is not what it was (-want +got):\n%s", diff)
		}
		expect(t, "the newest", end[len(end)-1], history(t, s, "t")[112])
		if n, err := threads.Uncompact(t.Context(), "t"); n != 0 || err != nil {
			t.Errorf("nothing to restore: %d, %v", n, err)
		}
		say(t, s, "t", said("going on")...)
		expect(t, "going on", int64(113), history(t, s, "t")[113].Seq)
	})
}

func sizeOf(messages []langrooms.Message) (n int) {
	for _, m := range messages {
		n += room.Tokens(m)
	}
	return n
}

// What was edited, removed or rewritten after a compaction stays so when it is undone; what a rewind
// has erased is not there to be restored.
func TestUncompactAfterEdits(t *testing.T) {
	onEachStore(t, func(t *testing.T, s store) {
		ids := say(t, s, "t", said("a", "b", "c", "d", "e")...)
		threads := threadsOf(s)
		if _, err := threads.Compact(t.Context(), "t", 2, "short"); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, say(t, s, "t", said("f", "g")...)...)
		hold, err := exchange.Hold(t.Context(), s, "t")
		if err != nil {
			t.Fatal(err)
		}
		changed := langrooms.NewMessage(langrooms.RoleHuman, "E")
		changed.ID = ids[4]
		err = hold.Edit("update", []checkpointer.Entry{{Op: checkpointer.OpReplace, Message: changed}, {Op: checkpointer.OpRemove, ID: ids[3]}, {Op: checkpointer.OpRemove, ID: ids[5]}})
		if err = errors.Join(err, hold.End()); err != nil {
			t.Fatal(err)
		}
		say(t, s, "t", said("h")...)
		now := history(t, s, "t")
		if n, err := threads.Uncompact(t.Context(), "t"); n != 3 || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
		expect(t, "thread", []string{"human: a", "human: b", "human: c", "human: E", "human: g", "human: h"}, texts(t, s, "t"))
		after := history(t, s, "t")
		expect(t, "places", []int64{now[len(now)-2].Seq, now[len(now)-1].Seq}, []int64{after[4].Seq, after[5].Seq})

		if _, err := threads.Compact(t.Context(), "t", 2, "short"); err != nil {
			t.Fatal(err)
		}
		say(t, s, "t", said("i", "j")...)
		if _, err := threads.Rewind(t.Context(), "t", after[5].ID); err != nil {
			t.Fatal(err)
		}
		_, err = threads.Uncompact(t.Context(), "t")
		fails(t, err, thread.ErrNotKept, `"t"`)
		whole, err := thread.Whole(t.Context(), s, "t")
		if err != nil || len(whole) != 3 || whole[0].Summary == nil {
			t.Errorf("the whole thread: %v, %v", whole, err)
		}
	})
}

// Two processes do not summarize one thread at once, and a summary of what has been rewritten
// meanwhile is not put.
func TestShortenBesideOthers(t *testing.T) {
	onEachStore(t, func(t *testing.T, s store) {
		say(t, s, "t", pages(60)...)
		threads := threadsOf(s)
		other := threadsOf(s)
		other.Summarize = (&writer{}).summarize
		w := &writer{}
		w.before = func() {
			if n, err := other.Shorten(t.Context(), "t", 6000); n != 0 || err != nil {
				t.Errorf("beside it: %d, %v", n, err)
			}
			say(t, s, "t", said("meanwhile")...) // nobody is held up
		}
		threads.Summarize = w.summarize
		n, err := threads.Shorten(t.Context(), "t", 6000)
		if err != nil || n == 0 {
			t.Fatalf("%d, %v", n, err)
		}
		texts := texts(t, s, "t")
		expect(t, "what came meanwhile", "human: meanwhile", texts[len(texts)-1])

		ids := say(t, s, "u", pages(60)...)
		w.before = func() {
			if _, err := threads.Rewind(t.Context(), "u", ids[3]); err != nil {
				t.Error(err)
			}
		}
		if n, err := threads.Shorten(t.Context(), "u", 6000); n != 0 || err != nil {
			t.Errorf("of a rewound thread: %d, %v", n, err)
		}
		expect(t, "it stays", 4, len(history(t, s, "u")))
	})
}

// A model that fails leaves the thread as it is.
func TestShortenFails(t *testing.T) {
	onEachStore(t, func(t *testing.T, s store) {
		say(t, s, "t", pages(60)...)
		threads := threadsOf(s)
		planted := errors.New("planted")
		threads.Summarize = func(context.Context, []langrooms.Message) (string, error) { return "", planted }
		_, err := threads.Shorten(t.Context(), "t", 6000)
		fails(t, err, planted)
		expect(t, "thread", 60, len(history(t, s, "t")))
		threads.Summarize = nil
		_, err = threads.Shorten(t.Context(), "t", 6000)
		fails(t, err, lifecycle.ErrNoSummary)
		if n, err := threads.Shorten(t.Context(), "none", 6000); n != 0 || err != nil {
			t.Errorf("no thread: %d, %v", n, err)
		}
	})
}
