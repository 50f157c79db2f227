package lifetime_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/langrooms/langrooms/internal/lifetime"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Many goroutines start and close at once: what was begun is over when any Close returns,
// and nothing begins afterwards.
func TestCloseFromManyGoroutines(t *testing.T) {
	for range 100 {
		l := lifetime.New(nil)
		var running atomic.Int32
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				l.Go(func(ctx context.Context) {
					running.Add(1)
					defer running.Add(-1)
					<-ctx.Done()
				})
			})
			all.Go(func() {
				l.Close()
				if n := running.Load(); n != 0 {
					t.Errorf("%d run after Close", n)
				}
				if l.Go(func(context.Context) { t.Error("work after Close") }) {
					t.Error("Go after Close is true")
				}
			})
		}
		all.Wait()
	}
}

func ExampleLife() {
	l := lifetime.New(nil)
	l.Go(func(ctx context.Context) {
		<-ctx.Done()
		fmt.Println("over")
	})
	l.Close()
	fmt.Println(l.Go(func(context.Context) {}))
	// Output:
	// over
	// false
}

var errOver = errors.New("over")

func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		if !lifetime.Sleep(ctx, 0) || !lifetime.Sleep(ctx, time.Second/2) || time.Since(start) != time.Second/2 {
			t.Errorf("woken after %v", time.Since(start))
		}
		if lifetime.Sleep(ctx, time.Hour) || lifetime.Sleep(ctx, 0) || time.Since(start) != time.Second {
			t.Errorf("not woken by the end, but after %v", time.Since(start))
		}
	})
}

// A call that was let in ends with its own context or with the life, and Close waits for it
// and for what clears up, which is run once.
func TestEnter(t *testing.T) {
	l := lifetime.New(errOver)
	own, cancel := context.WithCancel(t.Context())
	first, leaveFirst, ok := l.Enter(own)
	second, leaveSecond, _ := l.Enter(t.Context())
	if cancel(); !ok || !errors.Is(context.Cause(first), context.Canceled) || second.Err() != nil {
		t.Errorf("the first ended with %v, the second %v", context.Cause(first), second.Err())
	}
	leaveFirst()
	var cleared atomic.Int32
	var closers sync.WaitGroup
	for range 3 {
		closers.Go(func() {
			l.Close(func() { cleared.Add(1) })
			if cleared.Load() != 1 {
				t.Errorf("cleared %d times", cleared.Load())
			}
		})
	}
	<-second.Done()
	if cause := context.Cause(second); cause != errOver {
		t.Errorf("the second ended with %v", cause)
	}
	leaveSecond()
	closers.Wait()
	if _, _, ok := l.Enter(t.Context()); ok {
		t.Error("a call after Close was let in")
	}
}
