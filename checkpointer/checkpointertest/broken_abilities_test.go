package checkpointertest

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
)

func brokenAbilities() []broken {
	return slices.Concat(brokenThreads(), brokenForks(), brokenPrunes(), brokenCompactions(), brokenExpiry(), brokenViews())
}

func brokenThreads() []broken {
	return []broken{
		{name: "lists threads by name", rules: "threads-newest-put-first", breakIt: func(h *hooks) {
			h.threads = func(ctx ctxT) iter.Seq2[checkpointer.ThreadInfo, error] {
				all, _ := threads(ctx, h.full)
				slices.SortFunc(all, func(a, b checkpointer.ThreadInfo) int { return strings.Compare(a.Thread, b.Thread) })
				return func(yield func(checkpointer.ThreadInfo, error) bool) {
					for _, info := range all {
						if !yield(info, nil) {
							return
						}
					}
				}
			}
		}},
		{name: "lists printable threads only", rules: "threads-any-id", breakIt: func(h *hooks) {
			h.threads = func(ctx ctxT) iter.Seq2[checkpointer.ThreadInfo, error] {
				return func(yield func(checkpointer.ThreadInfo, error) bool) {
					for info, err := range h.full.Threads(ctx) {
						if !strings.ContainsRune(info.Thread, 0) && !yield(info, err) {
							return
						}
					}
				}
			}
		}},
	}
}

func brokenForks() []broken {
	return []broken{
		{name: "numbers the messages of a fork anew", rules: "fork-thread", breakIt: func(h *hooks) {
			h.fork = func(ctx ctxT, at ref, _ *int64, to string) (ref, error) {
				all, err := readAll(ctx, h.full, at, span{})
				if err != nil {
					return ref{}, err
				}
				cp, _ := h.full.Get(ctx, at)
				return h.full.Put(ctx, ref{Thread: to}, step{Log: checkpointer.Append(all...), Channels: cp.Channels})
			}
		}},
		{name: "forks all there is", rules: "fork-thread-up-to", breakIt: func(h *hooks) {
			h.fork = func(ctx ctxT, at ref, _ *int64, to string) (ref, error) { return h.full.Fork(ctx, at, nil, to) }
		}},
		{name: "deletes the fork with its origin", rules: "fork-thread-is-independent", breakIt: func(h *hooks) {
			h.remove = func(ctx ctxT, thread string) error {
				_ = h.full.DeleteThread(ctx, "u")
				return h.full.DeleteThread(ctx, thread)
			}
		}},
		{name: "forks over what exists", rules: "fork-thread-errors", breakIt: func(h *hooks) {
			h.fork = func(ctx ctxT, at ref, upTo *int64, to string) (ref, error) {
				r, err := h.full.Fork(ctx, at, upTo, to)
				if is(checkpointer.ErrConflict, err) && to != at.Thread {
					_ = h.full.DeleteThread(ctx, to)
					r, err = h.full.Fork(ctx, at, upTo, to)
				}
				return r, err
			}
		}},
	}
}

func brokenPrunes() []broken {
	// counted returns what a sound store would have removed, having done something else.
	counted := func(h *hooks, ctx ctxT, thread string, keep int, do func()) (int, error) {
		before := 0
		seen := map[string]int{}
		for cp := range h.full.List(ctx, query{Thread: thread}) {
			if seen[cp.Ref.Namespace]++; seen[cp.Ref.Namespace] > keep {
				before++
			}
		}
		do()
		return before, nil
	}
	return []broken{
		{name: "prunes everything", rules: "prune-keeps-newest prune-branches", breakIt: func(h *hooks) {
			h.prune = func(ctx ctxT, thread string, keep checkpointer.Retention) (int, error) {
				return counted(h, ctx, thread, keep.Keep, func() { _ = h.full.DeleteThread(ctx, thread) })
			}
		}},
		{name: "prunes nothing", rules: "prune-then-go-on", breakIt: func(h *hooks) {
			h.prune = func(ctx ctxT, thread string, keep checkpointer.Retention) (int, error) {
				return counted(h, ctx, thread, keep.Keep, func() {})
			}
		}},
		{name: "forgets interrupts", rules: "prune-keeps-interrupted", breakIt: func(h *hooks) {
			h.writes = func(ctx ctxT, at ref, task checkpointer.Task, w []checkpointer.Write) error {
				w = slices.DeleteFunc(slices.Clone(w), func(w checkpointer.Write) bool { return w.Channel == checkpointer.ChannelInterrupt })
				return h.full.PutWrites(ctx, at, task, w)
			}
		}},
		{name: "prunes every run", rules: "prune-of-a-run", breakIt: func(h *hooks) {
			h.prune = func(ctx ctxT, thread string, keep checkpointer.Retention) (int, error) {
				keep.RunID = ""
				return h.full.Prune(ctx, thread, keep)
			}
		}},
		{name: "takes keep none for one", rules: "prune-arguments", breakIt: func(h *hooks) {
			h.prune = func(ctx ctxT, thread string, keep checkpointer.Retention) (int, error) {
				keep.Keep = max(keep.Keep, 1)
				return h.full.Prune(ctx, thread, keep)
			}
		}},
	}
}

func brokenCompactions() []broken {
	return []broken{
		{name: "numbers what a compaction keeps anew", rules: "compact", breakIt: func(h *hooks) {
			h.compact = func(ctx ctxT, at ref, m langrooms.Message, keep int) (ref, error) {
				kept, err := readAll(ctx, h.full, at, span{Backward: true, Limit: &keep})
				if err != nil {
					return ref{}, err
				}
				slices.Reverse(kept)
				log := append([]checkpointer.Entry{reset()}, checkpointer.Append(append([]langrooms.Message{m}, kept...)...)...)
				return h.full.Put(ctx, at, step{Log: log})
			}
		}},
		{name: "counts the summary among what is kept", rules: "compact-keeps-what-was-changed", breakIt: func(h *hooks) {
			h.compact = func(ctx ctxT, at ref, m langrooms.Message, keep int) (ref, error) {
				return h.full.Compact(ctx, at, m, max(keep-1, 0))
			}
		}},
		{name: "puts a checkpoint for nothing", rules: "compact-nothing-to-do", breakIt: func(h *hooks) {
			h.compact = func(ctx ctxT, at ref, m langrooms.Message, keep int) (ref, error) {
				r, err := h.full.Compact(ctx, at, m, keep)
				if err != nil || r != at {
					return r, err
				}
				return h.full.Put(ctx, at, step{})
			}
		}},
		{name: "compacts whatever is newest", rules: "compact-errors", breakIt: func(h *hooks) {
			h.compact = func(ctx ctxT, at ref, m langrooms.Message, keep int) (ref, error) {
				return h.full.Compact(ctx, newestRef(ctx, h.full, at), m, keep)
			}
		}},
	}
}

func brokenExpiry() []broken {
	return []broken{
		{name: "lets checkpoints outlive their thread", rules: "expiry-takes-the-whole-thread", breakIt: func(h *hooks) {
			kept := map[ref]checkpointer.Checkpoint{}
			h.get = func(ctx ctxT, at ref) (checkpointer.Checkpoint, error) {
				cp, err := h.full.Get(ctx, at)
				if old, ok := kept[at]; ok && err != nil {
					return old, nil
				}
				if at.ID == "c1" {
					return cp, err
				}
				kept[at] = cp
				return cp, err
			}
			h.put = func(ctx ctxT, parent ref, s step) (ref, error) {
				r, err := h.full.Put(ctx, parent, s)
				_, _ = h.get(ctx, r)
				return r, err
			}
		}},
		{name: "counts the TTL from when it was set", rules: "expiry-counts-from-the-last-put", breakIt: func(h *hooks) {
			var end time.Time
			h.ttl = func(_ ctxT, _ string, ttl time.Duration) error {
				end = time.Now().Add(ttl)
				return nil
			}
			h.get = func(ctx ctxT, at ref) (checkpointer.Checkpoint, error) {
				if time.Now().After(end) {
					return checkpointer.Checkpoint{}, checkpointer.ErrNotFound
				}
				return h.full.Get(ctx, at)
			}
		}},
		{name: "cannot pin", rules: "ttl-zero-pins", breakIt: func(h *hooks) {
			h.ttl = func(ctx ctxT, thread string, ttl time.Duration) error {
				if ttl == 0 {
					return nil
				}
				return h.full.SetTTL(ctx, thread, ttl)
			}
		}},
		{name: "sets the TTL of nothing", rules: "ttl-errors", breakIt: func(h *hooks) {
			h.ttl = func(ctx ctxT, thread string, ttl time.Duration) error {
				if err := h.full.SetTTL(ctx, thread, ttl); !is(checkpointer.ErrNotFound, err) {
					return err
				}
				return nil
			}
		}},
	}
}

func brokenViews() []broken {
	return []broken{
		{name: "tells of nothing", rules: "watch-sees-changes", breakIt: func(h *hooks) {
			h.watch = func(ctx ctxT, _ string) iter.Seq2[checkpointer.Change, error] {
				return func(func(checkpointer.Change, error) bool) { <-ctx.Done() }
			}
		}},
		{name: "calls the end of a watch an error", rules: "watch-ends-with-context", breakIt: func(h *hooks) {
			h.watch = func(ctx ctxT, thread string) iter.Seq2[checkpointer.Change, error] {
				return func(yield func(checkpointer.Change, error) bool) {
					for change, err := range h.full.Watch(ctx, thread) {
						if !yield(change, err) {
							return
						}
					}
					yield(checkpointer.Change{}, context.Canceled)
				}
			}
		}},
		{name: "leaves the writes out of a snapshot", rules: "snapshot", breakIt: func(h *hooks) {
			h.snapshot = func(ctx ctxT, at ref, r span) (checkpointer.Checkpoint, []langrooms.Message, error) {
				cp, messages, err := h.full.Snapshot(ctx, at, r)
				cp.Writes = nil
				return cp, messages, err
			}
		}},
		{name: "takes a snapshot of two moments", rules: "snapshot-of-one-moment", breakIt: func(h *hooks) {
			var last checkpointer.Checkpoint
			h.snapshot = func(ctx ctxT, at ref, r span) (checkpointer.Checkpoint, []langrooms.Message, error) {
				cp, messages, err := h.full.Snapshot(ctx, at, r)
				cp, last = last, cp
				return cp, messages, err
			}
		}},
	}
}

// brokenHandles are wrong with more than one handle on the data.
func brokenHandles() []broken {
	return []broken{
		{name: "keeps its data to itself", rules: "shared-persistence", breakIt: func(*hooks) {},
			reopen: func(*hooks) full { return memorysaver.New() }},
		{name: "lets the last handle win", rules: "shared-one-winner-a-race", breakIt: altered(alwaysFork)},
		{name: "keeps a cache of the newest", rules: "shared-no-lost-put", breakIt: func(h *hooks) {
			var mu sync.Mutex
			var newest checkpointer.Checkpoint
			h.get = func(ctx ctxT, at ref) (checkpointer.Checkpoint, error) {
				mu.Lock()
				defer mu.Unlock()
				if newest.Ref.ID != "" {
					return newest, nil
				}
				return h.full.Get(ctx, at)
			}
			h.put = func(ctx ctxT, parent ref, s step) (ref, error) {
				s.Fork = true
				r, err := h.full.Put(ctx, parent, s)
				mu.Lock()
				defer mu.Unlock()
				newest = checkpointer.Checkpoint{Ref: r}
				return r, err
			}
		}},
		{name: "lets the last handle that waits in first", rules: "shared-lock-in-order-of-arrival", breakIt: new(lifo).breakIt},
		{name: "keeps its leases when it is closed", rules: "shared-close-gives-the-lease-back", breakIt: func(h *hooks) {
			h.close = func() error { return nil }
		}},
	}
}
