package checkpointertest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

type (
	ctxT  = context.Context
	ref   = checkpointer.Ref
	step  = checkpointer.Step
	query = checkpointer.Query
)

func allBroken() []broken {
	return slices.Concat(brokenPuts(), brokenChanges(), brokenWrites(), brokenReads(), brokenMessages(),
		brokenIDs(), brokenErrors(), brokenRaces(), brokenLeases(), brokenAbilities(), brokenHandles(), brokenNewer())
}

// altered is a put that changes its step first.
func altered(change func(*step)) func(*hooks) {
	return func(h *hooks) {
		h.put = func(ctx ctxT, parent ref, s step) (ref, error) {
			change(&s)
			return h.full.Put(ctx, parent, s)
		}
	}
}

// without drops the entries of one operation.
func without(op checkpointer.Op) func(*step) {
	return func(s *step) {
		s.Log = slices.DeleteFunc(slices.Clone(s.Log), func(e checkpointer.Entry) bool { return e.Op == op })
	}
}

func alwaysFork(s *step) { s.Fork = true }

func is(target error, errs ...error) bool { return errors.Is(errors.Join(errs...), target) }

// newestRef is the newest checkpoint of a namespace.
func newestRef(ctx ctxT, s checkpointer.Saver, at ref) ref {
	cp, err := s.Get(ctx, ref{Thread: at.Thread, Namespace: at.Namespace})
	if err != nil {
		return ref{Thread: at.Thread, Namespace: at.Namespace}
	}
	return cp.Ref
}

func brokenPuts() []broken {
	return []broken{
		{name: "forgets parents", rules: "put-then-read", breakIt: gets(func(cp *checkpointer.Checkpoint) { cp.Parent = "" })},
		{name: "gives every checkpoint the same id", rules: "saver-chooses-id", breakIt: altered(func(s *step) {
			if s.ID == "" {
				s.ID = "id"
			}
		})},
		{name: "lets the last writer win", rules: "conflict one-winner-a-race", breakIt: altered(alwaysFork)},
		{name: "puts after nothing when the parent is unknown", rules: "unknown-parent", breakIt: func(h *hooks) {
			h.put = func(ctx ctxT, parent ref, s step) (ref, error) {
				r, err := h.full.Put(ctx, parent, s)
				if is(checkpointer.ErrNotFound, err) {
					s.Fork = true
					r, err = h.full.Put(ctx, ref{Thread: parent.Thread, Namespace: parent.Namespace}, s)
				}
				return r, err
			}
		}},
		{name: "does not delete", rules: "delete-thread", breakIt: func(h *hooks) { h.remove = func(ctxT, string) error { return nil } }},
		{name: "never removes channels", rules: "removed-channel-stays-removed", breakIt: altered(func(s *step) { s.Remove = nil })},
		{name: "drops empty values", rules: "empty-values-are-values", breakIt: altered(func(s *step) {
			s.Channels = maps.Clone(s.Channels)
			maps.DeleteFunc(s.Channels, func(_ string, v []byte) bool { return len(v) == 0 })
		})},
		{name: "cuts values at 64 KiB", rules: "large-values", breakIt: altered(func(s *step) {
			s.Channels = maps.Clone(s.Channels)
			for k, v := range s.Channels {
				s.Channels[k] = v[:min(len(v), 1<<16)]
			}
		})},
		{name: "refuses a repeated put", rules: "put-is-idempotent concurrent-repetition", breakIt: existing(checkpointer.ErrConflict)},
		{name: "takes any put of a known id for a repetition", rules: "same-id-other-content", breakIt: existing(nil)},
		{name: "branches off the newest checkpoint", rules: "fork-hides-abandoned-branch fork-of-fork fork-changes-stay-in-branch fork-from-nothing", breakIt: func(h *hooks) {
			h.put = func(ctx ctxT, parent ref, s step) (ref, error) {
				if s.Fork {
					parent = newestRef(ctx, h.full, parent)
				}
				return h.full.Put(ctx, parent, s)
			}
		}},
		{name: "ignores Truncate", rules: "truncate", breakIt: altered(func(s *step) { s.Truncate = nil })},
		{name: "truncates by position", rules: "truncate-keeps-changes", breakIt: truncatesByPosition},
		{name: "keeps the channels of one step only", rules: "channels-carried-over", breakIt: func(h *hooks) {
			own := map[ref]map[string][]byte{}
			h.put = func(ctx ctxT, parent ref, s step) (ref, error) {
				r, err := h.full.Put(ctx, parent, s)
				own[r] = s.Channels
				return r, err
			}
			h.get = func(ctx ctxT, at ref) (checkpointer.Checkpoint, error) {
				cp, err := h.full.Get(ctx, at)
				cp.Channels = own[cp.Ref]
				return cp, err
			}
		}},
	}
}

// existing answers a put of an id that is there with err.
func existing(err error) func(*hooks) {
	return func(h *hooks) {
		var mu sync.Mutex
		h.put = func(ctx ctxT, parent ref, s step) (ref, error) {
			mu.Lock()
			defer mu.Unlock()
			at := ref{Thread: parent.Thread, Namespace: parent.Namespace, ID: s.ID}
			if _, missing := h.full.Get(ctx, at); s.ID != "" && missing == nil {
				return at, err
			}
			return h.full.Put(ctx, parent, s)
		}
	}
}

// truncatesByPosition lets entries behind the cut, which changed messages before it, be
// forgotten.
func truncatesByPosition(h *hooks) {
	logs := map[ref][]checkpointer.Entry{}
	h.put = func(ctx ctxT, parent ref, s step) (ref, error) {
		log := slices.Concat(logs[parent], s.Log)
		if s.Truncate != nil {
			log = slices.Concat(logs[parent][:min(*s.Truncate, int64(len(logs[parent])))], s.Log)
			parent.ID, s.Truncate, s.Log = "", nil, log
		}
		r, err := h.full.Put(ctx, parent, s)
		logs[r] = log
		return r, err
	}
}

func brokenChanges() []broken {
	return []broken{
		{name: "ignores replacements", rules: "replace", breakIt: altered(without(checkpointer.OpReplace))},
		{name: "ignores removals", rules: "remove", breakIt: altered(without(checkpointer.OpRemove))},
		{name: "ignores resets", rules: "reset", breakIt: altered(without(checkpointer.OpReset))},
		{name: "appends what it cannot replace", rules: "unseen-target-changes-nothing", breakIt: func(h *hooks) {
			h.put = func(ctx ctxT, parent ref, s step) (ref, error) {
				seen, _ := readAll(ctx, h.full, parent, checkpointer.Range{})
				s.Log = slices.Clone(s.Log)
				for i, e := range s.Log {
					there := slices.ContainsFunc(seen, func(m langrooms.Message) bool { return m.ID == e.Message.ID })
					if e.Op == checkpointer.OpReplace && !there {
						s.Log[i].Op = checkpointer.OpAppend
					}
				}
				return h.full.Put(ctx, parent, s)
			}
		}},
		{name: "appends before it changes", rules: "changes-in-one-step", breakIt: altered(func(s *step) {
			s.Log = slices.Clone(s.Log)
			slices.SortStableFunc(s.Log, func(a, b checkpointer.Entry) int { return strings.Compare(string(a.Op), string(b.Op)) })
		})},
	}
}

func brokenWrites() []broken {
	return []broken{
		{name: "drops writes before the put", rules: "writes-before-put", breakIt: func(h *hooks) {
			h.writes = func(ctx ctxT, at ref, task checkpointer.Task, w []checkpointer.Write) error {
				if _, err := h.full.Get(ctx, at); is(checkpointer.ErrNotFound, err) {
					return nil
				}
				return h.full.PutWrites(ctx, at, task, w)
			}
		}},
		{name: "writes to the newest checkpoint", rules: "put-writes-put", breakIt: func(h *hooks) {
			h.writes = func(ctx ctxT, at ref, task checkpointer.Task, w []checkpointer.Write) error {
				return h.full.PutWrites(ctx, newestRef(ctx, h.full, at), task, w)
			}
		}},
		{name: "lets the last ordinary write win", rules: "ordinary-write-first-wins concurrent-first-wins", breakIt: lastOrdinaryWins},
		{name: "lets the first special write win", rules: "special-write-last-wins", breakIt: func(h *hooks) {
			h.writes = func(ctx ctxT, at ref, task checkpointer.Task, w []checkpointer.Write) error {
				cp, _ := h.full.Get(ctx, at)
				for _, there := range cp.Writes {
					w = slices.DeleteFunc(slices.Clone(w), func(w checkpointer.Write) bool {
						return there.Index < 0 && there.Channel == w.Channel
					})
				}
				return h.full.PutWrites(ctx, at, task, w)
			}
		}},
		{name: "returns writes in any order", rules: "writes-ordered", breakIt: gets(func(cp *checkpointer.Checkpoint) { slices.Reverse(cp.Writes) })},
		{name: "lists pending writes", rules: "list-without-writes", breakIt: func(h *hooks) {
			h.list = func(ctx ctxT, q query) iter.Seq2[checkpointer.Checkpoint, error] {
				return func(yield func(checkpointer.Checkpoint, error) bool) {
					for cp, err := range h.full.List(ctx, q) {
						whole, _ := h.full.Get(ctx, cp.Ref)
						cp.Writes = whole.Writes
						if !yield(cp, err) {
							return
						}
					}
				}
			}
		}},
		{name: "drops writes beyond a hundred", rules: "concurrent-writes", breakIt: gets(func(cp *checkpointer.Checkpoint) {
			cp.Writes = cp.Writes[:min(100, len(cp.Writes))]
		})},
	}
}

// lastOrdinaryWins overwrites all but the first write of a task.
func lastOrdinaryWins(h *hooks) {
	type spot struct {
		at    ref
		task  string
		index int
	}
	var mu sync.Mutex
	last := map[spot][]byte{}
	h.writes = func(ctx ctxT, at ref, task checkpointer.Task, w []checkpointer.Write) error {
		mu.Lock()
		defer mu.Unlock()
		for i, w := range w[1:] {
			last[spot{at, task.ID, i + 1}] = w.Value
		}
		return h.full.PutWrites(ctx, at, task, w)
	}
	h.get = func(ctx ctxT, at ref) (checkpointer.Checkpoint, error) {
		cp, err := h.full.Get(ctx, at)
		mu.Lock()
		defer mu.Unlock()
		for i, w := range cp.Writes {
			if v, ok := last[spot{cp.Ref, w.Task.ID, w.Index}]; ok {
				cp.Writes[i].Value = append([]byte("last "), v...)
			}
		}
		return cp, err
	}
}

func brokenRaces() []broken {
	return []broken{
		{name: "acknowledges what it refuses", rules: "no-lost-put", breakIt: func(h *hooks) {
			h.put = func(ctx ctxT, parent ref, s step) (ref, error) {
				r, err := h.full.Put(ctx, parent, s)
				if is(checkpointer.ErrConflict, err) {
					return parent, nil
				}
				return r, err
			}
		}},
		{name: "puts in two halves", rules: "put-is-all-or-nothing", breakIt: func(h *hooks) {
			got := make(chan struct{})
			h.get = func(ctx ctxT, at ref) (checkpointer.Checkpoint, error) {
				cp, err := h.full.Get(ctx, at)
				select {
				case got <- struct{}{}:
				default:
				}
				return cp, err
			}
			h.put = func(ctx ctxT, parent ref, s step) (ref, error) {
				if len(s.Log) < 2 {
					return h.full.Put(ctx, parent, s)
				}
				half, err := h.full.Put(ctx, parent, step{Log: s.Log[:1]})
				if err != nil {
					return half, err
				}
				<-got
				<-got // a get that began after the first half
				s.Log = s.Log[1:]
				return h.full.Put(ctx, half, s)
			}
		}},
	}
}

// brokenErrors hide, rename or ignore failures.
func brokenErrors() []broken {
	return []broken{
		{name: "takes invalid puts", rules: "invalid-put", breakIt: func(h *hooks) {
			h.put = func(ctx ctxT, parent ref, s step) (ref, error) {
				r, err := h.full.Put(ctx, parent, s)
				if is(checkpointer.ErrInvalid, err) {
					return parent, nil
				}
				return r, err
			}
		}},
		{name: "takes invalid writes", rules: "invalid-writes", breakIt: func(h *hooks) {
			h.writes = func(ctx ctxT, at ref, task checkpointer.Task, w []checkpointer.Write) error {
				if err := h.full.PutWrites(ctx, at, task, w); !is(checkpointer.ErrInvalid, err) {
					return err
				}
				return nil
			}
		}},
		{name: "finds nothing under invalid ids", rules: "invalid-reads", breakIt: func(h *hooks) {
			h.get = func(ctx ctxT, at ref) (checkpointer.Checkpoint, error) {
				cp, err := h.full.Get(ctx, at)
				if is(checkpointer.ErrInvalid, err) {
					err = checkpointer.ErrNotFound
				}
				return cp, err
			}
		}},
		{name: "returns bare errors", rules: "errors-name-the-thread", breakIt: func(h *hooks) {
			h.put = func(ctx ctxT, parent ref, s step) (ref, error) {
				r, err := h.full.Put(ctx, parent, s)
				if is(checkpointer.ErrConflict, err) {
					err = checkpointer.ErrConflict
				}
				return r, err
			}
		}},
		{name: "ignores contexts", rules: "cancelled-context", breakIt: func(h *hooks) {
			h.put = func(ctx ctxT, parent ref, s step) (ref, error) {
				return h.full.Put(context.WithoutCancel(ctx), parent, s)
			}
		}},
		{name: "calls a failure not found", rules: "closed-saver", breakIt: func(h *hooks) {
			h.get = func(ctx ctxT, at ref) (checkpointer.Checkpoint, error) {
				cp, err := h.full.Get(ctx, at)
				if is(checkpointer.ErrClosed, err) {
					err = fmt.Errorf("get: %w", checkpointer.ErrNotFound)
				}
				return cp, err
			}
		}},
		{name: "cannot be closed twice", rules: "close-is-idempotent", breakIt: func(h *hooks) {
			var mu sync.Mutex
			closed := false
			h.close = func() error {
				mu.Lock()
				defer mu.Unlock()
				if closed {
					return checkpointer.ErrClosed
				}
				closed = true
				return h.full.Close()
			}
		}},
	}
}
