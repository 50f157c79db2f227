package lifetime_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/langrooms/langrooms/internal/lifetime"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Many goroutines start and close at once: what was begun is over when any Close returns,
// and nothing begins afterwards.
func TestCloseFromManyGoroutines(t *testing.T) {
	for range 100 {
		l := lifetime.New()
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
	l := lifetime.New()
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
