package durable_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/durable"
)

func open(t *testing.T) (*durable.Store, checkpointer.Saver) {
	t.Helper()
	saver := memorysaver.New()
	t.Cleanup(func() {
		if err := saver.Close(); err != nil {
			t.Error(err)
		}
	})
	return durable.New(saver), saver
}

func expect(t *testing.T, what string, want, got any, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

var key = delegate.ContextKey{Thread: "t", Delegate: "proto", URL: "http://p/", Credential: "d"}

// A second store over the same saver, as another process has one, carries on.
func TestContextsAreShared(t *testing.T) {
	one, saver := open(t)
	two := durable.New(saver)
	ctx := t.Context()
	got, err := one.Get(ctx, key)
	expect(t, "nothing known", "", got, err)
	expect(t, "learn", nil, one.Learn(ctx, key, "c1"), nil)
	got, err = two.Get(ctx, key)
	expect(t, "in another process", "c1", got, err)
	for name, other := range map[string]func(*delegate.ContextKey){
		"another thread":     func(k *delegate.ContextKey) { k.Thread = "u" },
		"another name":       func(k *delegate.ContextKey) { k.Delegate = "reviewer" },
		"another url":        func(k *delegate.ContextKey) { k.URL = "http://q/" },
		"another credential": func(k *delegate.ContextKey) { k.Credential = "e" },
	} {
		k := key
		other(&k)
		got, err := two.Get(ctx, k)
		expect(t, name, "", got, err)
	}
	expect(t, "an id in its place", nil, two.Learn(ctx, key, "c2"), nil)
	got, err = one.Get(ctx, key)
	expect(t, "the newer id", "c2", got, err)
	expect(t, "drop", nil, one.Drop(ctx, key), nil)
	got, err = two.Get(ctx, key)
	expect(t, "after drop", "", got, err)
}

// Learning what is known writes nothing; a huge or empty id changes nothing.
func TestLearnWritesOnlyNews(t *testing.T) {
	s, saver := open(t)
	ctx := t.Context()
	for _, id := range []string{"c1", "c1", "", string(make([]byte, delegate.MaxContextID+1))} {
		expect(t, "learn", nil, s.Learn(ctx, key, id), nil)
	}
	n := 0
	for _, err := range saver.List(ctx, checkpointer.Query{Thread: "t"}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	expect(t, "checkpoints", 1, n, nil)
	got, err := s.Get(ctx, key)
	expect(t, "the id", "c1", got, err)
}

func TestDropThread(t *testing.T) {
	s, saver := open(t)
	ctx := t.Context()
	h := delegate.Handle{ID: "h1", Thread: "t", Delegate: "proto", Task: "k"}
	expect(t, "learn", nil, s.Learn(ctx, key, "c1"), nil)
	expect(t, "put", nil, s.PutHandle(ctx, h), nil)
	expect(t, "drop contexts", nil, s.DropThread(ctx, "t"), nil)
	got, err := s.Get(ctx, key)
	expect(t, "the context is gone", "", got, err)
	has, err := s.HasHandle(ctx, h)
	expect(t, "the handle is not", true, has, err)
	expect(t, "drop handles", nil, s.DropHandles(ctx, "t"), nil)
	has, err = s.HasHandle(ctx, h)
	expect(t, "now it is", false, has, err)
	expect(t, "learn again", nil, s.Learn(ctx, key, "c1"), nil)
	expect(t, "delete the thread", nil, saver.DeleteThread(ctx, "t"), nil)
	got, err = s.Get(ctx, key)
	expect(t, "deleted with the thread", "", got, err)
}

// One handle per member; a newer one replaces it; exactly one caller takes it.
func TestHandles(t *testing.T) {
	s, saver := open(t)
	ctx := t.Context()
	old := delegate.Handle{ID: "h1", Thread: "t", Delegate: "slow", Task: "k1"}
	newer := delegate.Handle{ID: "h2", Thread: "t", Delegate: "slow", Task: "k2", Stamp: langrooms.Stamp{From: "slow", Seen: 3}, Anchor: 4}
	other := delegate.Handle{ID: "h3", Thread: "t", Delegate: "a", Task: "k3"}
	for _, h := range []delegate.Handle{old, newer, other} {
		expect(t, "put", nil, s.PutHandle(ctx, h), nil)
	}
	all, err := s.Handles(ctx, "t")
	expect(t, "the handles by name", []delegate.Handle{other, newer}, all, err)
	taken, err := s.TakeHandle(ctx, old)
	expect(t, "a replaced handle does not stand", false, taken, err)
	var winners atomic.Int32
	var racers sync.WaitGroup
	for range 8 {
		racers.Go(func() {
			taken, err := durable.New(saver).TakeHandle(ctx, newer)
			if err != nil {
				t.Error(err)
			}
			if taken {
				winners.Add(1)
			}
		})
	}
	racers.Wait()
	expect(t, "takers", int32(1), winners.Load(), nil)
}

func Example() {
	saver := memorysaver.New()
	defer saver.Close()
	before := durable.New(saver)
	fmt.Println(before.Learn(context.Background(), key, "context-7"))
	after := durable.New(saver) // as after a restart
	fmt.Println(after.Get(context.Background(), key))
	// Output:
	// <nil>
	// context-7 <nil>
}

// What a delegate had under another url or credential is found again when that comes back,
// and does not pile up: a credential may be rotated at each ask.
func TestRotatedCredential(t *testing.T) {
	s, saver := open(t)
	rotated := func(i int) delegate.ContextKey {
		k := key
		k.Credential = fmt.Sprint(i)
		return k
	}
	other := key
	other.Delegate = "reviewer"
	expect(t, "learn", nil, s.Learn(t.Context(), other, "r"), nil)
	for i := range durable.MaxContexts {
		expect(t, "learn", nil, s.Learn(t.Context(), rotated(i), fmt.Sprint("c", i)), nil)
	}
	expect(t, "the oldest is used again", nil, s.Learn(t.Context(), rotated(0), "c0"), nil)
	expect(t, "one more", nil, s.Learn(t.Context(), rotated(100), "c100"), nil)
	cp, err := saver.Get(t.Context(), checkpointer.Ref{Thread: "t", Namespace: durable.Namespace})
	expect(t, "contexts kept", durable.MaxContexts+1, len(cp.Channels), err)
	for k, want := range map[delegate.ContextKey]string{other: "r", rotated(0): "c0", rotated(1): "", rotated(2): "c2", rotated(100): "c100"} {
		got, err := s.Get(t.Context(), k)
		expect(t, k.Delegate+" "+k.Credential, want, got, err)
	}
	expect(t, "drop one", nil, s.Drop(t.Context(), rotated(2)), nil)
	got, err := s.Get(t.Context(), rotated(3))
	expect(t, "another stands", "c3", got, err)
	expect(t, "drop all", nil, s.DropThread(t.Context(), "t"), nil)
	got, err = s.Get(t.Context(), rotated(0))
	expect(t, "after a rewind", "", got, err)
}

// What was learnt before history was erased goes with the first thing that is learnt after.
func TestOtherEpochsGo(t *testing.T) {
	s, saver := open(t)
	erased, now := key, key
	erased.Epoch, now.Epoch = "one", "two"
	erased.URL = "http://q/"
	expect(t, "learn", nil, errors.Join(s.Learn(t.Context(), erased, "c1"), s.Learn(t.Context(), now, "c2")), nil)
	cp, err := saver.Get(t.Context(), checkpointer.Ref{Thread: "t", Namespace: durable.Namespace})
	expect(t, "contexts kept", 1, len(cp.Channels), err)
}
