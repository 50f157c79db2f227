package sqlitesaver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"modernc.org/sqlite"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

// held makes the store's next transaction wait until release is called. Commits are
// counted from then on.
func held(t *testing.T, s *Saver) (release func(), commits *atomic.Int64) {
	t.Helper()
	l, err := s.writer.take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	commits = &atomic.Int64{}
	err = l.conn.Raw(func(conn any) error {
		conn.(sqlite.HookRegisterer).RegisterCommitHook(func() int32 { commits.Add(1); return 0 })
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return func() { s.writer.give(l, nil) }, commits
}

// queued waits until n writes are in the queue.
func queued(s *Saver, n int) {
	for {
		s.commits.mu.Lock()
		there := len(s.commits.waiting)
		s.commits.mu.Unlock()
		if there >= n {
			return
		}
	}
}

// Writes that wait share one transaction; one that fails takes nothing with it, and one
// whose context ends meanwhile has not happened.
func TestWritesShareATransaction(t *testing.T) {
	s := openHere(t)
	release, commits := held(t, s)
	errs := make([]error, 12)
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	for i := range errs {
		done.Go(func() {
			at := checkpointer.Ref{Thread: fmt.Sprint("t", i)}
			mine := t.Context()
			switch i {
			case 3:
				at.ID = "unknown"
			case 4:
				mine = ctx
			}
			_, errs[i] = s.Put(mine, at, checkpointer.Step{ID: "c1", Log: checkpointer.Append(langrooms.NewMessage(langrooms.RoleHuman, "hello"))})
		})
	}
	queued(s, len(errs))
	cancel()
	for gone := false; !gone; {
		s.commits.mu.Lock()
		gone = len(s.commits.waiting) < len(errs)
		s.commits.mu.Unlock()
	}
	release()
	done.Wait()
	if n := commits.Load(); n != 1 {
		t.Errorf("the writes took %d transactions, want 1", n)
	}
	for i, err := range errs {
		_, there := s.Get(t.Context(), checkpointer.Ref{Thread: fmt.Sprint("t", i), ID: "c1"})
		switch i {
		case 3:
			if !errors.Is(err, checkpointer.ErrNotFound) || !errors.Is(there, checkpointer.ErrNotFound) {
				t.Errorf("put after an unknown parent: %v; get: %v", err, there)
			}
		case 4:
			if !errors.Is(err, context.Canceled) || !errors.Is(there, checkpointer.ErrNotFound) {
				t.Errorf("put whose context ended: %v; get: %v", err, there)
			}
		default:
			if err != nil || there != nil {
				t.Errorf("put %d: %v; get: %v", i, err, there)
			}
		}
	}
}

// A put is not acknowledged when the log that it went to is no longer the file's.
func TestSidecarsInPlace(t *testing.T) {
	for _, suffix := range []string{"-wal", "-shm"} {
		for _, replaced := range []bool{false, true} {
			t.Run(fmt.Sprint(suffix, " replaced ", replaced), func(t *testing.T) {
				s := openHere(t)
				at, err := s.Put(t.Context(), checkpointer.Ref{Thread: "t"}, checkpointer.Step{ID: "a"})
				if err != nil {
					t.Fatal(err)
				}
				if err := os.Rename(s.path+suffix, s.path+".away"); err != nil {
					t.Fatal(err)
				}
				if replaced {
					if err := os.WriteFile(s.path+suffix, nil, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				_, err = s.Put(t.Context(), at, checkpointer.Step{ID: "b"})
				if !errors.Is(err, checkpointer.ErrUnavailable) || !strings.Contains(err.Error(), "store.db"+suffix) {
					t.Errorf("put: %v, want unavailable and the sidecar's name", err)
				}
				if err := os.Rename(s.path+".away", s.path+suffix); err != nil {
					t.Fatal(err)
				}
				if _, err = s.Put(t.Context(), at, checkpointer.Step{ID: "b"}); err != nil {
					t.Errorf("put when the sidecar is back: %v", err)
				}
			})
		}
	}
}
