package setup

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/durable"
	"github.com/langrooms/langrooms/internal/redistest"
)

func expect(t *testing.T, what string, want, got any, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Errorf("%s: %v", what, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// With a change of `continuity` conversations begin anew and are not gone back to; what was
// waited for stays waited for, once.
func TestContinuityIsSwitched(t *testing.T) {
	for first, second := range map[string]string{"memory": "durable", "durable": "memory"} {
		t.Run(first+" to "+second, func(t *testing.T) {
			saver := memorysaver.New()
			defer saver.Close()
			ctx, s := t.Context(), newSwitched(saver, first)
			key := delegate.ContextKey{Thread: "t", Delegate: "slow"}
			h1 := delegate.Handle{ID: "1", Thread: "t", Delegate: "slow", Task: "k1"}
			h2 := delegate.Handle{ID: "2", Thread: "t", Delegate: "quick", Task: "k2"}
			expect(t, "learn", nil, s.Learn(ctx, key, "c1"))
			expect(t, "put", nil, errors.Join(s.PutHandle(ctx, h1), s.PutHandle(ctx, h2)))
			s.remember(first) // no change
			id, err := s.Get(ctx, key)
			expect(t, "still known", "c1", id, err)

			s.remember(second)
			id, err = s.Get(ctx, key)
			expect(t, "begun anew", "", id, err)
			handles, err := s.Handles(ctx, "t")
			expect(t, "handles", []delegate.Handle{h2, h1}, handles, err)
			has, err := s.HasHandle(ctx, h1)
			expect(t, "still waited for", true, has, err)
			taken, err := s.TakeHandle(ctx, h2)
			expect(t, "taken", true, taken, err)
			taken, err = s.TakeHandle(ctx, h2)
			expect(t, "taken again", false, taken, err)
			newer := delegate.Handle{ID: "3", Thread: "t", Delegate: "slow", Task: "k3"}
			expect(t, "put", nil, s.PutHandle(ctx, newer))
			handles, err = s.Handles(ctx, "t")
			expect(t, "the newer in place of the older", []delegate.Handle{newer}, handles, err)
			expect(t, "learn", nil, s.Learn(ctx, key, "c2"))

			s.remember(first)
			id, err = s.Get(ctx, key)
			expect(t, "not gone back to", "", id, err)
			expect(t, "drop handles", nil, s.DropHandles(ctx, "t"))
			handles, err = s.Handles(ctx, "t")
			expect(t, "no handle", 0, len(handles), err)
			expect(t, "drop", nil, errors.Join(s.Learn(ctx, key, "c3"), s.DropThread(ctx, "t")))
			id, err = s.Get(ctx, key)
			expect(t, "dropped", "", id, err)
			kept, err := durable.New(saver).Get(ctx, key)
			expect(t, "kept with the thread", "", kept, err)
		})
	}
}

// A file that changes while the app is being opened is taken over as soon as it is open.
func TestChangeWhileOpening(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	write := func(name string) {
		text := "checkpointer: { url: \"memory:\" }\nidentity: { name: " + name + " }\ndelegates:\n  - { name: of-" + name + ", type: a2a, url: \"http://127.0.0.1:1/\" }\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("vera")
	a, err := newApp(Options{Path: path, Required: true})
	defer func() { expect(t, "Close", nil, a.Close()) }()
	config, opened := a.openConfig(t.Context())
	err = errors.Join(err, opened)
	write("otto")
	if err == nil {
		err = errors.Join(a.file.file.Reload(t.Context()), a.openParts(t.Context(), config))
	}
	a.file.open(err == nil)
	if err != nil {
		t.Fatal(err)
	}
	err = redistest.Eventually(10*time.Second, func() error {
		if a.Lead() != "otto" {
			return errors.New("the change is lost")
		}
		_, ok := a.Roster.Current().Get("of-otto")
		if !ok {
			return errors.New("the roster is the first one")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
