package lifecycle_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/lifecycle"
)

// A fork has the messages with their ids and stamps, an epoch of its own, and goes its own
// way; what was remembered under its name is forgotten while it is held.
func TestFork(t *testing.T) {
	onEachStore(t, func(t *testing.T, s store) {
		proto := &member{name: "proto", script: []string{"one", "two"}}
		say(t, s, "t", said("a")...)
		address(t, s, "t", "first?", false, proto)
		all := history(t, s, "t")
		for _, tt := range []struct {
			to, at string
			want   []langrooms.Message
		}{
			{"all", "", all},
			{"at the first", all[0].ID, all[:1]},
			{"at the address", all[1].ID, all[:2]},
			{"at the last", all[2].ID, all},
			{"{hostile}*?[a]:|\x00\n" + strings.Repeat("é", 400), "", all},
		} {
			t.Run(tt.to, func(t *testing.T) {
				threads := threadsOf(s)
				if err := threads.Fork(t.Context(), "t", tt.to, tt.at); err != nil {
					t.Fatal(err)
				}
				expect(t, "fork", tt.want, history(t, s, tt.to))
				expect(t, "forgot", []string{tt.to}, threads.forgot)
				expect(t, "another epoch", true, epoch(t, s, tt.to) != epoch(t, s, "t") && epoch(t, s, tt.to) != "")
				if found := readable(t, s, tt.to); len(tt.want) < 3 && strings.Contains(found, "one") {
					t.Errorf("the fork shows what came after:\n%s", found)
				}
				say(t, s, tt.to, said("its own way")...)
				expect(t, "the thread", all, history(t, s, "t"))
			})
		}
	})
}

func TestForkRefuses(t *testing.T) {
	onEachStore(t, func(t *testing.T, s store) {
		say(t, s, "t", said("a")...)
		say(t, s, "there", said("b")...)
		for _, tt := range []struct {
			thread, to, at string
			want           error
			name           string
		}{
			{"t", "there", "", checkpointer.ErrConflict, `"there"`},
			{"t", "t", "", checkpointer.ErrInvalid, `"t"`},
			{"t", "new", "no-such-id", lifecycle.ErrNoMessage, "no-such-id"},
			{"nowhere", "new", "", checkpointer.ErrNotFound, `"nowhere"`},
			{"t", "", "", langrooms.ErrThreadID, "empty"},
			{"t", "\xff", "", langrooms.ErrThreadID, "UTF-8"},
			{"t", strings.Repeat("x", langrooms.MaxThreadID+1), "", langrooms.ErrThreadID, "long"},
		} {
			threads := threadsOf(s)
			fails(t, threads.Fork(t.Context(), tt.thread, tt.to, tt.at), tt.want, tt.name)
			expect(t, "forgot", []string(nil), threads.forgot)
		}
		expect(t, "not made", []string(nil), texts(t, s, "new"))
		expect(t, "not changed", []string{"human: b"}, texts(t, s, "there"))
	})
}

// Two forks onto each other's threads do not wait for each other for ever.
func TestForkCrosswise(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memorysaver.New()
		defer s.Close()
		say(t, s, "a", said("x")...)
		say(t, s, "b", said("y")...)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		var forks sync.WaitGroup
		for from, to := range map[string]string{"a": "b", "b": "a"} {
			forks.Go(func() {
				for range 50 {
					fails(t, threadsOf(s).Fork(ctx, from, to, ""), checkpointer.ErrConflict)
				}
			})
		}
		forks.Wait()
	})
}

// Forget is called while the new thread is held: nobody can begin it in between.
func TestForkForgetsUnderTheLease(t *testing.T) {
	s := closing(t, memorysaver.New(), nil)
	say(t, s, "t", said("a")...)
	threads := &lifecycle.Threads{Saver: s, Forget: func(ctx context.Context, thread string) error {
		if _, held := checkpointer.Fence(ctx, thread); !held {
			t.Error("the context does not carry the lease of the new thread")
		}
		return nil
	}}
	if err := threads.Fork(t.Context(), "t", "u", ""); err != nil {
		t.Fatal(err)
	}
}
