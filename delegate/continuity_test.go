package delegate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

var ctx = context.Background()

// recall returns what c has for key.
func recall(t *testing.T, c Continuity, key ContextKey) string {
	t.Helper()
	id, err := c.Get(ctx, key)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func learn(t *testing.T, c Continuity, key ContextKey, id string) {
	t.Helper()
	if err := c.Learn(ctx, key, id); err != nil {
		t.Fatal(err)
	}
}

func TestContinuityIsKeyedByThreadNamePeerAndPrincipal(t *testing.T) {
	c := NewMemoryContinuity()
	key := ContextKey{"main", "proto", "http://a", CredentialDigest("bearer", "t1"), ""}
	learn(t, c, key, "ctx-1")
	others := map[string]ContextKey{
		"another thread":     {"side", key.Delegate, key.URL, key.Credential, ""},
		"renamed":            {key.Thread, "proto2", key.URL, key.Credential, ""},
		"re-pointed":         {key.Thread, key.Delegate, "http://b", key.Credential, ""},
		"another credential": {key.Thread, key.Delegate, key.URL, CredentialDigest("bearer", "t2"), ""},
		"another epoch":      {key.Thread, key.Delegate, key.URL, key.Credential, "2"},
		"another scheme":     {key.Thread, key.Delegate, key.URL, CredentialDigest("apiKey", "t1"), ""},
	}
	for name, other := range others {
		if id := recall(t, c, other); id != "" {
			t.Errorf("%s finds %q", name, id)
		}
	}
	learn(t, c, key, "")
	if id := recall(t, c, key); id != "ctx-1" {
		t.Errorf("an empty id changed it to %q", id)
	}
	learn(t, c, key, "ctx-2")
	if id := recall(t, c, key); id != "ctx-2" {
		t.Errorf("the newest id is %q", id)
	}
	if err := c.Drop(ctx, key); err != nil || recall(t, c, key) != "" {
		t.Errorf("Drop = %v, left %q", err, recall(t, c, key))
	}
}

func TestTheCredentialIsNotInItsDigest(t *testing.T) {
	if d := CredentialDigest("bearer", "planted-secret"); strings.Contains(d, "planted") || d == CredentialDigest("bearerplanted", "-secret") {
		t.Errorf("digest = %s", d)
	}
}

func TestDropThreadDropsThatThreadOnly(t *testing.T) {
	c := NewMemoryContinuity()
	keys := []ContextKey{{"a", "x", "u", "", ""}, {"a", "y", "u", "", ""}, {"ab", "x", "u", "", ""}}
	for _, key := range keys {
		learn(t, c, key, key.Thread+key.Delegate)
	}
	if err := c.DropThread(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	if recall(t, c, keys[0])+recall(t, c, keys[1]) != "" || recall(t, c, keys[2]) != "abx" {
		t.Error("DropThread dropped too little or too much")
	}
}

func TestTheLeastRecentlyUsedGoesFirst(t *testing.T) {
	c := NewMemoryContinuity()
	key := func(i int) ContextKey { return ContextKey{Thread: fmt.Sprint(i)} }
	for i := range maxContexts {
		learn(t, c, key(i), "id")
	}
	recall(t, c, key(0)) // a use
	learn(t, c, key(1), "id")
	learn(t, c, key(maxContexts), "id")
	learn(t, c, key(maxContexts+1), "id")
	for i, want := range map[int]string{0: "id", 1: "id", 2: "", 3: "", 4: "id", maxContexts: "id"} {
		if id := recall(t, c, key(i)); id != want {
			t.Errorf("entry %d = %q, want %q", i, id, want)
		}
	}
	if n := c.recent.Len(); n != maxContexts || len(c.entries) != n {
		t.Errorf("%d entries", n)
	}
}

// Spec: rooms, 7.2 and 7.3.
func TestSettle(t *testing.T) {
	fail := func(kind Kind, accepted bool) error {
		return &Error{Kind: kind, Accepted: accepted, Err: errors.New("x")}
	}
	tests := []struct {
		name  string
		id    string
		reply Reply
		err   error
		want  string // of "old"
	}{
		{"words teach", "new", Reply{Text: "hi"}, nil, "new"},
		{"words without an id", "", Reply{Text: "hi"}, nil, "old"},
		{"an absurd id", strings.Repeat("x", MaxContextID+1), Reply{Text: "hi"}, nil, ""},
		{"paused", "new", Reply{Text: "⏸", Paused: true}, nil, ""},
		{"no text", "new", Reply{}, nil, ""},
		{"unreachable", "", Reply{}, fail(KindUnreachable, false), "old"},
		{"refused before acceptance", "", Reply{}, fail(KindRefused, false), "old"},
		{"JSON-RPC error before acceptance", "", Reply{}, fail(KindFailed, false), "old"},
		{"wrapped", "", Reply{}, fmt.Errorf("w: %w", fail(KindRefused, false)), "old"},
		{"rejected", "", Reply{}, fail(KindRefused, true), ""},
		{"failed", "", Reply{}, fail(KindFailed, true), ""},
		{"unreadable", "", Reply{}, fail(KindProtocol, true), ""},
		{"still running", "", Reply{}, fail(KindStillRunning, true), ""},
		{"timed out", "", Reply{}, fail(KindTimeout, true), ""},
		{"canceled", "", Reply{}, fail(KindCanceled, false), ""},
		{"another error", "", Reply{}, errors.New("x"), ""},
	}
	for _, test := range tests {
		c, key := NewMemoryContinuity(), ContextKey{Thread: "main"}
		learn(t, c, key, "old")
		if err := Settle(ctx, c, key, test.id, test.reply, test.err); err != nil {
			t.Fatal(err)
		}
		if id := recall(t, c, key); id != test.want {
			t.Errorf("%s leaves %q, want %q", test.name, id, test.want)
		}
	}
}

func TestAPeerThatSharesAnIDBetweenThreads(t *testing.T) {
	var said []ContextKey
	g := NewEchoGuard(NewMemoryContinuity(), func(key ContextKey) { said = append(said, key) })
	a, b := ContextKey{"a", "proto", "u", "c", ""}, ContextKey{"b", "proto", "u", "c", ""}
	learn(t, g, a, "session")
	learn(t, g, a, "session") // the same thread again is right
	if recall(t, g, a) != "session" || len(said) > 0 {
		t.Fatalf("one thread: %q, said %v", recall(t, g, a), said)
	}
	learn(t, g, b, "session")
	if recall(t, g, a)+recall(t, g, b) != "" {
		t.Error("a shared id is still echoed")
	}
	learn(t, g, a, "session")
	learn(t, g, b, "session")
	learn(t, g, a, "session-2")
	learn(t, g, b, "session-2")
	if recall(t, g, a)+recall(t, g, b) != "" || len(said) != 1 || said[0] != b {
		t.Errorf("echoed %q and %q, said %v; want once, on b", recall(t, g, a), recall(t, g, b), said)
	}
	learn(t, g, a, "own")
	if recall(t, g, a) != "own" {
		t.Error("an id of one thread is echoed, also to this peer")
	}
	elsewhere := ContextKey{"b", "proto", "u2", "c", ""}
	learn(t, g, elsewhere, "own")
	if recall(t, g, elsewhere) != "own" {
		t.Error("the same id at another peer is another conversation")
	}
	row := ContextKey{"c", "second-row", "u", "c", ""}
	learn(t, g, row, "own")
	if recall(t, g, row) != "" {
		t.Error("another row of the same peer and principal is the same principal there")
	}
}

// A thread's ids are known at the peer after the thread is gone.
func TestAnIDOfADeletedThreadIsNotEchoedForAnother(t *testing.T) {
	g := NewEchoGuard(NewMemoryContinuity(), nil)
	a, b := ContextKey{"a", "proto", "u", "", ""}, ContextKey{"b", "proto", "u", "", ""}
	learn(t, g, a, "session")
	if err := g.DropThread(ctx, "a"); err != nil || recall(t, g, a) != "" {
		t.Fatalf("DropThread = %v", err)
	}
	learn(t, g, b, "session")
	if id := recall(t, g, b); id != "" {
		t.Errorf("thread b joins the conversation of the deleted thread: %q", id)
	}
	if err := g.Drop(ctx, b); err != nil {
		t.Error(err)
	}
}

func TestTheGuardSeesWhatAStoreAlreadyHad(t *testing.T) {
	inner := NewMemoryContinuity()
	a, b := ContextKey{"a", "proto", "u", "", ""}, ContextKey{"b", "proto", "u", "", ""}
	learn(t, inner, a, "session")
	learn(t, inner, b, "session")
	g := NewEchoGuard(inner, nil)
	if recall(t, g, a) != "session" || recall(t, g, b) != "" || recall(t, g, a) != "" {
		t.Error("an id that comes out for a second thread is shared")
	}
}

func TestTheGuardIsBounded(t *testing.T) {
	g := NewEchoGuard(NewMemoryContinuity(), nil)
	for i := range 2 * maxWatched {
		learn(t, g, ContextKey{Thread: "a"}, fmt.Sprint(i))
		learn(t, g, ContextKey{Thread: "b"}, fmt.Sprint(i))
	}
	if len(g.owners) > maxWatched || len(g.shared) > maxWatched {
		t.Errorf("%d owners, %d shared", len(g.owners), len(g.shared))
	}
}

// A peer with one context for everything would bring back what was erased: the id that it
// gave in one epoch of a thread is not echoed in the next (spec: rooms, 7.3).
func TestAnIDOfAnErasedEpochIsNotEchoed(t *testing.T) {
	var said []ContextKey
	g := NewEchoGuard(NewMemoryContinuity(), func(key ContextKey) { said = append(said, key) })
	one, two := ContextKey{"a", "proto", "u", "", "1"}, ContextKey{"a", "proto", "u", "", "2"}
	learn(t, g, one, "constant")
	if recall(t, g, one) != "constant" || recall(t, g, two) != "" {
		t.Fatalf("epoch 1 has %q, epoch 2 %q", recall(t, g, one), recall(t, g, two))
	}
	if err := g.DropThread(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	learn(t, g, two, "constant")
	if id := recall(t, g, two); id != "" || len(said) != 1 || said[0] != two {
		t.Errorf("epoch 2 rejoins the erased conversation as %q, said %v", id, said)
	}
	learn(t, g, two, "new")
	if id := recall(t, g, two); id != "new" {
		t.Errorf("an id of this epoch alone is not echoed: %q", id)
	}
}
