package late_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/late"
)

// What is waited for is listed with its member and task, and lands no more once it is withdrawn.
func TestWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		saver := memory(t)
		pr := start(t, saver, nil, &peer{read: after(3, answers("done"))})
		put(t, saver, "hello")
		if !pr.address(false).Collecting {
			t.Fatal("the answer is not waited for")
		}
		list, err := pr.inbox.Waiting(t.Context(), thread)
		if err != nil || len(list) != 1 || list[0].Delegate != "slow" || list[0].Task != "k1" || list[0].Since.IsZero() {
			t.Fatalf("waited for: %+v, %v", list, err)
		}
		before := transcript(t, saver)
		if ok, err := pr.inbox.Withdraw(t.Context(), thread, "slow"); !ok || err != nil {
			t.Errorf("Withdraw = %v, %v", ok, err)
		}
		if list, err := pr.inbox.Waiting(t.Context(), thread); len(list) > 0 || err != nil {
			t.Errorf("afterwards: %+v, %v", list, err)
		}
		if ok, err := pr.inbox.Withdraw(t.Context(), thread, "slow"); ok || err != nil {
			t.Errorf("a second Withdraw = %v, %v", ok, err)
		}
		<-time.After(2 * time.Hour)
		synctest.Wait()
		expect(t, "thread", before, transcript(t, saver))
	})
}

// An answer that has landed cannot be withdrawn.
func TestWithdrawAfterItLanded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		saver := memory(t)
		pr := start(t, saver, nil, &peer{read: after(1, answers("done"))})
		put(t, saver, "hello")
		pr.address(false)
		pr.arrival()
		if ok, err := pr.inbox.Withdraw(t.Context(), thread, "slow"); ok || err != nil {
			t.Errorf("Withdraw = %v, %v", ok, err)
		}
	})
}

// lost is a store of handles that is away; with stuck it takes none out.
type lost struct {
	delegate.HandleStore
	stuck bool
}

var errLost = errors.New("planted")

func (l lost) Handles(ctx context.Context, thread string) ([]delegate.Handle, error) {
	if l.stuck {
		return l.HandleStore.Handles(ctx, thread)
	}
	return nil, errLost
}

func (lost) TakeHandle(context.Context, delegate.Handle) (bool, error) { return false, errLost }

// A store that is away is an error, and not nothing.
func TestWaitingWithoutTheStore(t *testing.T) {
	for _, stuck := range []bool{false, true} {
		handles := lost{late.NewMemoryHandles(), stuck}
		if err := handles.PutHandle(t.Context(), delegate.Handle{ID: "h", Thread: thread, Delegate: "slow", Task: "k1"}); err != nil {
			t.Fatal(err)
		}
		pr := start(t, memory(t), handles, &peer{})
		if _, err := pr.inbox.Waiting(t.Context(), thread); errors.Is(err, errLost) == stuck {
			t.Errorf("Waiting: %v", err)
		}
		if ok, err := pr.inbox.Withdraw(t.Context(), thread, "slow"); ok || !errors.Is(err, errLost) {
			t.Errorf("Withdraw: %v, %v", ok, err)
		}
	}
}

// raced is a store whose handles another takes between the look and the take.
type raced struct{ delegate.HandleStore }

func (r raced) TakeHandle(ctx context.Context, h delegate.Handle) (bool, error) {
	_, err := r.HandleStore.TakeHandle(ctx, h)
	return false, err
}

// An answer that lands while it is being withdrawn has not been withdrawn.
func TestWithdrawWhileItLands(t *testing.T) {
	handles := raced{late.NewMemoryHandles()}
	if err := handles.PutHandle(t.Context(), delegate.Handle{ID: "h", Thread: thread, Delegate: "slow", Task: "k1"}); err != nil {
		t.Fatal(err)
	}
	pr := start(t, memory(t), handles, &peer{})
	if ok, err := pr.inbox.Withdraw(t.Context(), thread, "slow"); ok || err != nil {
		t.Errorf("Withdraw: %v, %v", ok, err)
	}
}
