package memorysaver_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/checkpointertest"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	open := func(t testing.TB) checkpointer.Saver {
		s := memorysaver.New()
		t.Cleanup(func() { s.Close() })
		return s
	}
	checkpointertest.Run(t, open, checkpointertest.Config{Abilities: checkpointertest.AllAbilities(),
		Contains: func(_ testing.TB, s checkpointer.Saver, text string) bool { return checkpointertest.Holds(s, text) }})
}

// A thread lives for its TTL after the last put, to the moment.
func TestExpiryByTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memorysaver.New()
		defer s.Close()
		ctx := t.Context()
		put := func(parent checkpointer.Ref) checkpointer.Ref {
			ref, err := s.Put(ctx, parent, checkpointer.Step{})
			if err != nil {
				t.Fatal(err)
			}
			return ref
		}
		at := put(checkpointer.Ref{Thread: "t"})
		if err := s.SetTTL(ctx, "t", time.Hour); err != nil {
			t.Fatal(err)
		}
		<-time.After(59 * time.Minute)
		at = put(at)
		<-time.After(59 * time.Minute)
		if _, err := s.Get(ctx, at); err != nil {
			t.Fatalf("a put did not prolong the thread's life: %v", err)
		}
		<-time.After(2 * time.Minute)
		if _, err := s.Get(ctx, at); !errors.Is(err, checkpointer.ErrNotFound) {
			t.Fatalf("the thread did not expire: %v", err)
		}
	})
}

// Writes that no checkpoint came for go with time, and the fence of a deleted thread a day
// after its last use.
func TestForgetsWithTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memorysaver.New()
		defer s.Close()
		at := checkpointer.Ref{Thread: "t", ID: "c1"}
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		fenced := func(token int64) error {
			return s.DeleteThread(checkpointer.WithFence(t.Context(), "u", token), "u")
		}
		must(s.PutWrites(t.Context(), at, checkpointer.Task{ID: "a"}, []checkpointer.Write{{Channel: "orphaned"}}))
		must(fenced(7))
		<-time.After(20 * time.Hour)
		must(fenced(7))
		<-time.After(20 * time.Hour)
		if err := fenced(6); !errors.Is(err, checkpointer.ErrFenced) {
			t.Errorf("an older token 20 hours after the last use: %v", err)
		}
		if checkpointertest.Holds(s, "orphaned") {
			t.Error("the writes are kept longer than a day and an hour")
		}
		<-time.After(25 * time.Hour)
		must(fenced(6))
	})
}

func Example() {
	ctx := context.Background()
	s := memorysaver.New()
	defer s.Close()

	question := langrooms.NewMessage(langrooms.RoleHuman, "what broke the build?")
	first, err := s.Put(ctx, checkpointer.Ref{Thread: "main"}, checkpointer.Step{Log: checkpointer.Append(question)})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer := langrooms.NewMessage(langrooms.RoleAI, "a missing import")
	if _, err := s.Put(ctx, first, checkpointer.Step{Log: checkpointer.Append(answer)}); err != nil {
		fmt.Println(err)
		return
	}
	newest := checkpointer.Range{Backward: true, Limit: checkpointer.N(20)}
	for m, err := range s.Messages(ctx, checkpointer.Ref{Thread: "main"}, newest) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(m.Seq, m.Text())
	}
	// Output:
	// 1 a missing import
	// 0 what broke the build?
}
