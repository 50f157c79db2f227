package checkpointertest

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

type (
	selection = checkpointer.Selection
	retention = checkpointer.Retention
	point     = checkpointer.Checkpoint
)

func brokenNewer() []broken {
	return slices.Concat(brokenVersions(), brokenSelections(), brokenQueries(), brokenLogs(), brokenWhole(), brokenTurns())
}

func changed[T any](seq iter.Seq2[T, error], change func(v *T)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for v, err := range seq {
			if err == nil {
				change(&v)
			}
			if !yield(v, err) {
				return
			}
		}
	}
}

func brokenVersions() []broken {
	return []broken{
		{name: "versions every channel by its checkpoint", rules: "versions", breakIt: gets(func(cp *point) {
			for name := range cp.Versions {
				cp.Versions[name] = cp.Sequence
			}
		})},
		{name: "versions logs by their checkpoint", rules: "versions-of-logs", breakIt: gets(func(cp *point) {
			for name, state := range cp.Logs {
				state.Version = cp.Sequence
				cp.Logs[name] = state
			}
		})},
		{name: "ignores the base", rules: "base base-of-logs base-arguments", breakIt: altered(func(s *step) { s.Base = "" })},
	}
}

func brokenSelections() []broken {
	all := selection{Writes: true}
	return []broken{
		{name: "selects everything", rules: "select select-errors", breakIt: func(h *hooks) {
			h.sel = func(ctx ctxT, at ref, _ selection) (point, error) { return h.full.Select(ctx, at, all) }
		}},
		{name: "lists without the selection", rules: "list-selects", breakIt: asks(func(q *query) { q.Select = selection{} })},
		{name: "takes the put before for the parent", rules: "ancestors", breakIt: func(h *hooks) {
			h.ancestors = func(ctx ctxT, at ref, sel selection, limit *int) iter.Seq2[point, error] {
				return func(yield func(point, error) bool) {
					cp, err := h.full.Get(ctx, at)
					if !yield(cp, err) || err != nil {
						return
					}
					h.full.List(ctx, query{Thread: at.Thread, Namespace: &at.Namespace, Before: cp.Ref, Limit: limit, Select: sel})(yield)
				}
			}
		}},
		{name: "fails where an ancestor is pruned", rules: "ancestors-stop-at-the-pruned", breakIt: func(h *hooks) {
			h.ancestors = func(ctx ctxT, at ref, sel selection, limit *int) iter.Seq2[point, error] {
				return func(yield func(point, error) bool) {
					for id := " "; id != ""; at.ID = id {
						cp, err := h.full.Get(ctx, at)
						if id = cp.Parent; !yield(cp, err) || err != nil {
							return
						}
					}
				}
			}
		}},
		{name: "walks one page", rules: "ancestors-of-a-long-line ancestors-errors", breakIt: func(h *hooks) {
			h.ancestors = func(ctx ctxT, at ref, sel selection, _ *int) iter.Seq2[point, error] {
				return h.full.Ancestors(ctx, at, sel, ptr(100))
			}
		}},
	}
}

func brokenQueries() []broken {
	worded := func(m checkpointer.Metadata) checkpointer.Metadata {
		words := checkpointer.Metadata{}
		for key, value := range m {
			words[key] = fmt.Sprint(value)
		}
		return words
	}
	return []broken{
		{name: "keeps metadata as text", rules: "metadata-is-json metadata-errors filter-by-type-and-value delete-run", breakIt: func(h *hooks) {
			altered(func(s *step) { s.Metadata = worded(s.Metadata) })(h)
			asks(func(q *query) { q.Filter = worded(q.Filter) })(h)
		}},
		{name: "looks for ids in one namespace", rules: "list-before-id list-before-the-pruned", breakIt: asks(func(q *query) {
			if q.BeforeID != "" {
				q.Before, q.BeforeID = ref{ID: q.BeforeID}, ""
			}
		})},
		{name: "asks nothing at limit zero", rules: "list-limit-zero-before-the-unknown", breakIt: func(h *hooks) {
			h.list = func(ctx ctxT, q query) iter.Seq2[point, error] {
				if q.Limit != nil && *q.Limit == 0 {
					return func(func(point, error) bool) {}
				}
				return h.full.List(ctx, q)
			}
		}},
		{name: "lists one thread of all", rules: "list-all-threads", breakIt: func(h *hooks) {
			h.threads = func(ctx ctxT) iter.Seq2[checkpointer.ThreadInfo, error] {
				return func(yield func(checkpointer.ThreadInfo, error) bool) {
					for info, err := range h.full.Threads(ctx) {
						yield(info, err)
						return
					}
				}
			}
		}},
		{name: "orders writes by the task's id alone", rules: "writes-ordered-by-path", breakIt: func(h *hooks) {
			h.writes = func(ctx ctxT, at ref, task checkpointer.Task, w []checkpointer.Write) error {
				return h.full.PutWrites(ctx, at, checkpointer.Task{ID: task.ID}, w)
			}
		}},
	}
}

// logged is a put that changes the entries of its logs first.
func logged(change func(log []checkpointer.LogEntry) []checkpointer.LogEntry) func(*hooks) {
	return altered(func(s *step) {
		s.Logs = maps.Clone(s.Logs)
		for name, log := range s.Logs {
			s.Logs[name] = change(slices.Clone(log))
		}
	})
}

// told changes the entries that are read.
func told(change func(it *checkpointer.LogItem)) func(*hooks) {
	return func(h *hooks) {
		h.entries = func(ctx ctxT, at ref, log string, r span) iter.Seq2[checkpointer.LogItem, error] {
			return changed(h.full.Entries(ctx, at, log, r), change)
		}
	}
}

func brokenLogs() []broken {
	return []broken{
		{name: "gives every entry an id", rules: "log-entries", breakIt: told(func(it *checkpointer.LogItem) {
			if it.ID == "" {
				it.ID = fmt.Sprint(it.Seq)
			}
		})},
		{name: "ignores changes of logs", rules: "log-changes", breakIt: logged(func(log []checkpointer.LogEntry) []checkpointer.LogEntry {
			return slices.DeleteFunc(log, func(e checkpointer.LogEntry) bool { return e.Op != checkpointer.OpAppend })
		})},
		{name: "reads logs forwards only", rules: "log-ranges", breakIt: func(h *hooks) {
			h.entries = func(ctx ctxT, at ref, log string, r span) iter.Seq2[checkpointer.LogItem, error] {
				r.Backward = false
				return h.full.Entries(ctx, at, log, r)
			}
		}},
		{name: "reads logs at the newest checkpoint", rules: "log-branches log-errors", breakIt: func(h *hooks) {
			h.entries = func(ctx ctxT, at ref, log string, r span) iter.Seq2[checkpointer.LogItem, error] {
				return h.full.Entries(ctx, ref{Thread: at.Thread, Namespace: at.Namespace}, log, r)
			}
		}},
		{name: "truncates messages only", rules: "log-truncate", breakIt: altered(func(s *step) { s.TruncateLogs = nil })},
		{name: "forks messages only", rules: "log-fork-thread", breakIt: func(h *hooks) {
			h.fork = func(ctx ctxT, at ref, upTo *int64, to string) (ref, error) {
				all, _ := readAll(ctx, h.full, at, span{})
				return h.full.Put(ctx, ref{Thread: to}, step{Log: checkpointer.Append(all...)})
			}
		}},
		{name: "compacts logs to nothing", rules: "log-compact", breakIt: func(h *hooks) {
			h.compactLog = func(ctx ctxT, at ref, log string, summary checkpointer.LogItem, _ int) (ref, error) {
				return h.full.CompactLog(ctx, at, log, summary, 0)
			}
		}},
		{name: "drops logs that no step of the kept has changed", rules: "log-prune", breakIt: func(h *hooks) {
			h.prune = func(ctx ctxT, thread string, keep retention) (int, error) {
				n, err := h.full.Prune(ctx, thread, keep)
				cp, _ := h.full.Get(ctx, ref{Thread: thread})
				s := step{Logs: map[string][]checkpointer.LogEntry{}}
				for name, state := range cp.Logs {
					if state.Version != cp.Sequence && name != checkpointer.LogMessages {
						s.Logs[name] = []checkpointer.LogEntry{{Op: checkpointer.OpReset}}
					}
				}
				h.entries = func(ctx ctxT, at ref, log string, r span) iter.Seq2[checkpointer.LogItem, error] {
					if s.Logs[log] != nil {
						return func(func(checkpointer.LogItem, error) bool) {}
					}
					return h.full.Entries(ctx, at, log, r)
				}
				return n, err
			}
		}},
		{name: "has another log of messages", rules: "log-of-messages", breakIt: func(h *hooks) {
			h.entries = func(ctx ctxT, at ref, log string, r span) iter.Seq2[checkpointer.LogItem, error] {
				return h.full.Entries(ctx, at, log+" ", r)
			}
		}},
		{name: "trims the names of logs", rules: "log-any-name", breakIt: altered(func(s *step) {
			trimmed := map[string][]checkpointer.LogEntry{}
			for name, log := range s.Logs {
				trimmed[strings.Trim(name, " \x00")+"."] = log
			}
			s.Logs = trimmed
		})},
		{name: "takes logs for no part of a step", rules: "log-is-part-of-the-put", breakIt: func(h *hooks) {
			h.put = func(ctx ctxT, parent ref, s step) (ref, error) {
				r, err := h.full.Put(ctx, parent, s)
				if is(checkpointer.ErrConflict, err) {
					if there, gone := h.full.Get(ctx, ref{Thread: parent.Thread, ID: s.ID}); gone == nil {
						return there.Ref, nil
					}
				}
				return r, err
			}
		}},
	}
}

func brokenWhole() []broken {
	return []broken{
		{name: "copies the newest checkpoint", rules: "copy-thread", breakIt: func(h *hooks) {
			h.copyThread = func(ctx ctxT, from, to string) error {
				_, err := h.full.Fork(ctx, ref{Thread: from}, nil, to)
				return err
			}
		}},
		{name: "copies over what exists", rules: "copy-thread-errors", breakIt: func(h *hooks) {
			h.copyThread = func(ctx ctxT, from, to string) error {
				err := h.full.CopyThread(ctx, from, to)
				if is(checkpointer.ErrConflict, err) && from != to {
					_ = h.full.DeleteThread(ctx, to)
					err = h.full.CopyThread(ctx, from, to)
				}
				return err
			}
		}},
		{name: "keeps the newest of every run", rules: "delete-run", breakIt: func(h *hooks) {
			h.prune = func(ctx ctxT, thread string, keep retention) (int, error) {
				keep.Keep = max(keep.Keep, 1)
				return h.full.Prune(ctx, thread, keep)
			}
		}},
		{name: "prunes at any age", rules: "prune-by-age", breakIt: func(h *hooks) {
			h.prune = func(ctx ctxT, thread string, keep retention) (int, error) {
				keep.Before = time.Time{}
				return h.full.Prune(ctx, thread, keep)
			}
		}},
		{name: "never sees an answer", rules: "prune-answered-interrupts", breakIt: func(h *hooks) {
			h.writes = func(ctx ctxT, at ref, task checkpointer.Task, w []checkpointer.Write) error {
				w = slices.DeleteFunc(slices.Clone(w), func(w checkpointer.Write) bool { return w.Channel == checkpointer.ChannelResume })
				return h.full.PutWrites(ctx, at, task, w)
			}
		}},
		{name: "keeps what it prunes elsewhere", rules: "pruned-contents-are-gone", breakIt: func(h *hooks) {
			h.prune = func(ctx ctxT, thread string, keep retention) (int, error) {
				_ = h.full.CopyThread(ctx, thread, "trash of "+thread)
				return h.full.Prune(ctx, thread, keep)
			}
		}},
		{name: "prunes by what the newest sees", rules: "prune-keeps-what-branches-see", breakIt: func(h *hooks) {
			pruned := false
			h.prune = func(ctx ctxT, thread string, keep retention) (int, error) {
				pruned = true
				return h.full.Prune(ctx, thread, keep)
			}
			h.messages = func(ctx ctxT, at ref, r span) iter.Seq2[langrooms.Message, error] {
				if pruned {
					at.ID = ""
				}
				return h.full.Messages(ctx, at, r)
			}
		}},
		{name: "drops writes that wait", rules: "orphans-wait-for-their-put", breakIt: func(h *hooks) {
			h.writes = func(ctx ctxT, at ref, task checkpointer.Task, w []checkpointer.Write) error {
				if _, err := h.full.Get(ctx, at); err != nil {
					return nil
				}
				return h.full.PutWrites(ctx, at, task, w)
			}
		}},
		{name: "cuts what is too large", rules: "limits", breakIt: altered(func(s *step) { s.Channels, s.Log, s.Logs = nil, nil, nil })},
		{name: "cuts blobs", rules: "large-blobs", breakIt: altered(func(s *step) {
			s.Channels = maps.Clone(s.Channels)
			for name, value := range s.Channels {
				s.Channels[name] = value[:min(len(value), 1<<16)]
			}
		})},
	}
}

// lastLeased is a lease whose last put is replaced.
type lastLeased struct {
	checkpointer.Lease
	put func(ctx ctxT, parent ref, s step) (ref, error)
}

func (l lastLeased) PutLast(ctx context.Context, parent checkpointer.Ref, step checkpointer.Step) (checkpointer.Ref, error) {
	return l.put(ctx, parent, step)
}

// leases replaces the last put of every lease.
func leases(last func(h *hooks, l checkpointer.Lease, ctx ctxT, parent ref, s step) (ref, error)) func(*hooks) {
	return func(h *hooks) {
		h.lock = func(ctx ctxT, thread string) (checkpointer.Lease, error) {
			l, err := h.full.Lock(ctx, thread)
			if err != nil {
				return nil, err
			}
			return lastLeased{l, func(ctx ctxT, parent ref, s step) (ref, error) { return last(h, l, ctx, parent, s) }}, nil
		}
	}
}

// tokens changes the tokens of puts and deletes on the thread "t" and others.
func tokens(change func(h *hooks, thread string, token int64) int64) func(*hooks) {
	return func(h *hooks) {
		with := func(ctx ctxT, thread string) ctxT {
			if token, ok := checkpointer.Fence(ctx, thread); ok {
				ctx = checkpointer.WithFence(ctx, thread, change(h, thread, token))
			}
			return ctx
		}
		h.put = func(ctx ctxT, parent ref, s step) (ref, error) {
			return h.full.Put(with(ctx, parent.Thread), parent, s)
		}
		h.remove = func(ctx ctxT, thread string) error { return h.full.DeleteThread(with(ctx, thread), thread) }
	}
}

func brokenTurns() []broken {
	greatest := map[*hooks]int64{}
	return []broken{
		{name: "remembers the head of the last lease", rules: "lock-head", breakIt: func(h *hooks) {
			var cp point
			h.lockHead = func(ctx ctxT, at ref, r span) (checkpointer.Lease, point, []langrooms.Message, error) {
				l, now, messages, err := h.full.LockHead(ctx, at, r)
				last := cp
				cp = now
				return l, last, messages, err
			}
		}},
		{name: "keeps the lease when the head cannot be read", rules: "lock-head-errors", breakIt: func(h *hooks) {
			h.lockHead = func(ctx ctxT, at ref, r span) (checkpointer.Lease, point, []langrooms.Message, error) {
				l, err := h.full.Lock(ctx, at.Thread)
				if err != nil {
					return nil, point{}, nil, err
				}
				cp, messages, err := h.full.Snapshot(ctx, at, r)
				if is(checkpointer.ErrNotFound, err) {
					err = nil
				}
				return l, cp, messages, err
			}
		}},
		{name: "keeps the lease after the last put", rules: "put-last-gives-the-lease-back", breakIt: leases(
			func(h *hooks, l checkpointer.Lease, ctx ctxT, parent ref, s step) (ref, error) {
				token, _ := checkpointer.Fence(l.Context(), parent.Thread)
				return h.full.Put(checkpointer.WithFence(ctx, parent.Thread, token), parent, s)
			})},
		{name: "gives the lease back whatever becomes of the put", rules: "put-last-that-fails-keeps-the-lease", breakIt: leases(
			func(h *hooks, l checkpointer.Lease, ctx ctxT, parent ref, s step) (ref, error) {
				defer l.Release()
				return l.(checkpointer.LastPutter).PutLast(ctx, parent, s)
			})},
		{name: "keeps tokens as floating point numbers", rules: "fences-are-exact", breakIt: tokens(func(_ *hooks, _ string, token int64) int64 {
			return int64(min(float64(token), 1<<62))
		})},
		{name: "fences all threads by the greatest token", rules: "fence-of-each-thread", breakIt: func(h *hooks) {
			h.put = func(ctx ctxT, parent ref, s step) (ref, error) {
				token, ok := checkpointer.Fence(ctx, parent.Thread)
				if ok && token < greatest[h] {
					return ref{}, checkpointer.ErrFenced
				}
				greatest[h] = max(greatest[h], token)
				return h.full.Put(ctx, parent, s)
			}
		}},
		{name: "raises no fence where nothing changes", rules: "success-raises-the-fence", breakIt: func(h *hooks) {
			h.writes = func(ctx ctxT, at ref, task checkpointer.Task, w []checkpointer.Write) error {
				if len(w) == 0 {
					return nil
				}
				return h.full.PutWrites(ctx, at, task, w)
			}
		}},
	}
}
