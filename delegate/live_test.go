package delegate

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

func TestLiveClosesWhatLeftAfterTheLastTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stays, leaves, unused := &fake{name: "stays"}, &fake{name: "leaves"}, &fake{name: "unused"}
		l := NewLive(roster(t, stays, leaves))
		first, releaseFirst := l.Acquire()
		second, releaseSecond := l.Acquire()

		l.Swap(roster(t, unused, stays))
		l.Swap(roster(t, stays))
		synctest.Wait()
		if unused.closed() != 1 {
			t.Error("a delegate that no turn uses is closed at once")
		}
		if got := strings.Join(first.Names(), " "); got != "stays leaves" || second != first {
			t.Errorf("the turn's roster changed: %s", got)
		}
		if now, release := l.Acquire(); now.Names()[0] != "stays" || len(now.Names()) != 1 {
			t.Errorf("the next turn has %v", now.Names())
		} else {
			release()
		}
		releaseFirst()
		releaseFirst() // again does nothing
		synctest.Wait()
		if leaves.closed() != 0 {
			t.Error("closed while a turn used it")
		}
		releaseSecond()
		synctest.Wait()
		if leaves.closed() != 1 || stays.closed() != 0 {
			t.Errorf("closes: leaves %d, stays %d", leaves.closed(), stays.closed())
		}
		if err := l.Close(); err != nil || stays.closed() != 1 {
			t.Errorf("Close = %v, stays closed %d times", err, stays.closed())
		}
	})
}

// A delegate of the same name that is another one is another one; one that comes back
// before its last turn ended is kept.
func TestLiveTellsDelegatesByIdentity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old, next, back := &fake{name: "proto"}, &fake{name: "proto"}, &fake{name: "back"}
		l := NewLive(roster(t, old, back))
		_, release := l.Acquire()
		l.Swap(roster(t, next))
		l.Swap(roster(t, next, back))
		release()
		synctest.Wait()
		if old.closed() != 1 || next.closed() != 0 || back.closed() != 0 {
			t.Errorf("closes: old %d, next %d, back %d", old.closed(), next.closed(), back.closed())
		}
		l.Close()
	})
}

func TestLiveCloseWaitsAndSaysWhatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := errors.New("the process resists")
		slow := &fake{name: "slow", hold: make(chan struct{}), closeErr: bad}
		good := &fake{name: "good"}
		l := NewLive(roster(t, slow, good))
		_, release := l.Acquire()
		var closes sync.WaitGroup
		for range 3 {
			closes.Go(func() {
				if err := l.Close(); !errors.Is(err, bad) || !strings.Contains(err.Error(), `"slow"`) {
					t.Errorf("Close = %v", err)
				}
			})
		}
		synctest.Wait() // all of them wait for slow
		close(slow.hold)
		closes.Wait()
		release()
		if slow.closed() != 1 || good.closed() != 1 {
			t.Errorf("slow closed %d times, good %d", slow.closed(), good.closed())
		}
		if r, release := l.Acquire(); len(r.Names()) != 0 {
			t.Errorf("after Close the roster is %v", r.Names())
		} else {
			release()
		}
		late := &fake{name: "late"}
		l.Swap(roster(t, late))
		if late.closed() != 1 || len(l.Current().Names()) != 0 {
			t.Error("a roster that comes after Close is closed")
		}
	})
}

func TestLiveUnderLoad(t *testing.T) {
	var all []*fake
	l := NewLive(nil)
	var turns sync.WaitGroup
	for range 4 {
		turns.Go(func() {
			for range 200 {
				r, release := l.Acquire()
				for _, d := range r.All() {
					if d.(*fake).closed() > 0 {
						t.Error("a turn was given a closed delegate")
					}
				}
				release()
			}
		})
	}
	for i := range 200 {
		f := &fake{name: fmt.Sprint("d", i)}
		all = append(all, f)
		l.Swap(roster(t, f))
	}
	turns.Wait()
	l.Swap(nil)
	l.Close()
	for _, f := range all {
		if f.closed() != 1 {
			t.Errorf("%s was closed %d times", f.name, f.closed())
		}
	}
}
