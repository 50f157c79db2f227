package checkpointertest

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

type span = checkpointer.Range

// gets changes what Get returns.
func gets(change func(cp *checkpointer.Checkpoint)) func(*hooks) {
	return func(h *hooks) {
		h.get = func(ctx ctxT, at ref) (checkpointer.Checkpoint, error) {
			cp, err := h.full.Get(ctx, at)
			if err == nil {
				change(&cp)
			}
			return cp, err
		}
	}
}

// asks changes what List is asked.
func asks(change func(q *query)) func(*hooks) {
	return func(h *hooks) {
		h.list = func(ctx ctxT, q query) iter.Seq2[checkpointer.Checkpoint, error] {
			change(&q)
			return h.full.List(ctx, q)
		}
	}
}

// ranges changes what Messages is asked.
func ranges(change func(r *span)) func(*hooks) {
	return func(h *hooks) {
		h.messages = func(ctx ctxT, at ref, r span) iter.Seq2[langrooms.Message, error] {
			change(&r)
			return h.full.Messages(ctx, at, r)
		}
	}
}

// tells changes the messages that are read.
func tells(change func(i int, m *langrooms.Message)) func(*hooks) {
	return func(h *hooks) {
		h.messages = func(ctx ctxT, at ref, r span) iter.Seq2[langrooms.Message, error] {
			return func(yield func(langrooms.Message, error) bool) {
				i := 0
				for m, err := range h.full.Messages(ctx, at, r) {
					change(i, &m)
					i++
					if !yield(m, err) {
						return
					}
				}
			}
		}
	}
}

func noLimitAtZero(limit **int) {
	if *limit != nil && **limit == 0 {
		*limit = nil
	}
}

func brokenReads() []broken {
	return []broken{
		{name: "finds the newest by the clock", rules: "newest-by-sequence", breakIt: func(h *hooks) {
			h.get = func(ctx ctxT, at ref) (checkpointer.Checkpoint, error) {
				newest, err := h.full.Get(ctx, at)
				for cp := range h.full.List(ctx, query{Thread: at.Thread}) {
					if at.ID == "" && cp.Time.After(newest.Time) {
						newest = cp
					}
				}
				return newest, err
			}
		}},
		{name: "returns nothing in place of not found", rules: "not-found", breakIt: func(h *hooks) {
			h.get = func(ctx ctxT, at ref) (checkpointer.Checkpoint, error) {
				cp, err := h.full.Get(ctx, at)
				if is(checkpointer.ErrNotFound, err) {
					return checkpointer.Checkpoint{Ref: at}, nil
				}
				return cp, err
			}
		}},
		{name: "creates what it does not find", rules: "reads-never-create", breakIt: func(h *hooks) {
			h.get = func(ctx ctxT, at ref) (checkpointer.Checkpoint, error) {
				cp, err := h.full.Get(ctx, at)
				if is(checkpointer.ErrNotFound, err) {
					_, _ = h.full.Put(ctx, ref{Thread: at.Thread}, step{})
				}
				return cp, err
			}
		}},
		{name: "takes no namespace for the empty one", rules: "list-namespaces", breakIt: asks(func(q *query) {
			if q.Namespace == nil {
				q.Namespace = ptr("")
			}
		})},
		{name: "ignores Before in another namespace", rules: "list-before", breakIt: asks(func(q *query) {
			if q.Namespace != nil && *q.Namespace != q.Before.Namespace {
				q.Before = ref{}
			}
		})},
		{name: "ignores the filter", rules: "list-filter", breakIt: asks(func(q *query) { q.Filter = nil })},
		{name: "lists all at limit zero", rules: "list-limit", breakIt: asks(func(q *query) { noLimitAtZero(&q.Limit) })},
		{name: "lists oldest first", rules: "list-early-break", breakIt: func(h *hooks) {
			h.list = func(ctx ctxT, q query) iter.Seq2[checkpointer.Checkpoint, error] {
				return func(yield func(checkpointer.Checkpoint, error) bool) {
					var all []checkpointer.Checkpoint
					for cp := range h.full.List(ctx, q) {
						all = append(all, cp)
					}
					for _, cp := range slices.Backward(all) {
						if !yield(cp, nil) {
							return
						}
					}
				}
			}
		}},
		{name: "lists five hundred at most", rules: "long-history", breakIt: asks(func(q *query) {
			if q.Limit == nil {
				q.Limit = checkpointer.N(500)
			}
		})},
		{name: "hands out the same values twice", rules: "values-out-are-copies", breakIt: func(h *hooks) {
			cache := map[ref]checkpointer.Checkpoint{}
			h.get = func(ctx ctxT, at ref) (checkpointer.Checkpoint, error) {
				if cp, ok := cache[at]; ok {
					return cp, nil
				}
				cp, err := h.full.Get(ctx, at)
				cache[at] = cp
				return cp, err
			}
		}},
		{name: "keeps the caller's memory", rules: "values-in-are-copied", breakIt: func(h *hooks) {
			kept := map[ref]map[string][]byte{}
			h.put = func(ctx ctxT, parent ref, s step) (ref, error) {
				r, err := h.full.Put(ctx, parent, s)
				kept[r] = s.Channels
				return r, err
			}
			h.get = func(ctx ctxT, at ref) (checkpointer.Checkpoint, error) {
				cp, err := h.full.Get(ctx, at)
				cp.Channels = kept[cp.Ref]
				return cp, err
			}
		}},
	}
}

func brokenMessages() []broken {
	return []broken{
		{name: "numbers messages by their place in the answer", rules: "seq-stable", breakIt: tells(func(i int, m *langrooms.Message) { m.Seq = int64(i) })},
		{name: "drops fields that it does not know", rules: "message-round-trip", breakIt: tells(func(_ int, m *langrooms.Message) { m.Extra = nil })},
		{name: "includes the upper bound", rules: "messages-range", breakIt: ranges(func(r *span) {
			if r.To > 0 {
				r.To++
			}
		})},
		{name: "reads all at limit zero", rules: "messages-limit", breakIt: ranges(func(r *span) { noLimitAtZero(&r.Limit) })},
		{name: "refuses writes while it is read", rules: "messages-early-break", breakIt: func(h *hooks) {
			var reading atomic.Int32
			h.messages = func(ctx ctxT, at ref, r span) iter.Seq2[langrooms.Message, error] {
				return func(yield func(langrooms.Message, error) bool) {
					reading.Add(1)
					defer reading.Add(-1)
					h.full.Messages(ctx, at, r)(yield)
				}
			}
			h.put = func(ctx ctxT, parent ref, s step) (ref, error) {
				if reading.Load() > 0 {
					return ref{}, checkpointer.ErrUnavailable
				}
				return h.full.Put(ctx, parent, s)
			}
		}},
		{name: "pages through what is there now", rules: "messages-of-the-first-moment delete-while-reading", breakIt: func(h *hooks) {
			h.messages = func(ctx ctxT, at ref, r span) iter.Seq2[langrooms.Message, error] {
				return func(yield func(langrooms.Message, error) bool) { onePerPage(ctx, h.full, at, r, yield) }
			}
		}},
		{name: "ends silently with the context", rules: "cancel-while-reading", breakIt: func(h *hooks) {
			h.messages = func(ctx ctxT, at ref, r span) iter.Seq2[langrooms.Message, error] {
				return func(yield func(langrooms.Message, error) bool) {
					for m, err := range h.full.Messages(context.WithoutCancel(ctx), at, r) {
						if ctx.Err() != nil || !yield(m, err) {
							return
						}
					}
				}
			}
		}},
	}
}

// onePerPage finds the checkpoint anew for each message and takes not found for the end.
func onePerPage(ctx ctxT, s checkpointer.Saver, at ref, r span, yield func(langrooms.Message, error) bool) {
	for {
		r.Limit = checkpointer.N(1)
		page, err := readAll(ctx, s, at, r)
		if err != nil || len(page) == 0 || !yield(page[0], nil) {
			return
		}
		if r.From = page[0].Seq + 1; r.Backward {
			r.From, r.To = 0, page[0].Seq
			if r.To == 0 {
				return
			}
		}
	}
}

// renamed is a store that changes ids before it uses them.
func renamed(thread, namespace, id func(string) string) func(*hooks) {
	same := func(s string) string { return s }
	for _, f := range []*func(string) string{&thread, &namespace, &id} {
		if *f == nil {
			*f = same
		}
	}
	to := func(at ref) ref {
		return ref{Thread: thread(at.Thread), Namespace: namespace(at.Namespace), ID: id(at.ID)}
	}
	return func(h *hooks) {
		h.put = func(ctx ctxT, parent ref, s step) (ref, error) {
			s.ID = id(s.ID)
			_, err := h.full.Put(ctx, to(parent), s)
			return ref{Thread: parent.Thread, Namespace: parent.Namespace, ID: s.ID}, err
		}
		h.get = func(ctx ctxT, at ref) (checkpointer.Checkpoint, error) { return h.full.Get(ctx, to(at)) }
		h.writes = func(ctx ctxT, at ref, task checkpointer.Task, w []checkpointer.Write) error {
			return h.full.PutWrites(ctx, to(at), task, w)
		}
		h.messages = func(ctx ctxT, at ref, r span) iter.Seq2[langrooms.Message, error] {
			return h.full.Messages(ctx, to(at), r)
		}
	}
}

func brokenIDs() []broken {
	return []broken{
		{name: "takes threads apart by letters only", rules: "hostile-threads", breakIt: renamed(strings.ToLower, nil, nil)},
		{name: "ends namespaces at a separator", rules: "hostile-namespaces", breakIt: renamed(nil, func(s string) string {
			s, _, _ = strings.Cut(s, ":")
			return s
		}, nil)},
		{name: "ends checkpoint ids at NUL", rules: "hostile-checkpoint-ids", breakIt: renamed(nil, nil, func(s string) string {
			if before, _, found := strings.Cut(s, "\x00"); found && before != "" {
				return before
			}
			return s
		})},
		{name: "trims tasks", rules: "hostile-tasks-and-channels", breakIt: func(h *hooks) {
			h.writes = func(ctx ctxT, at ref, task checkpointer.Task, w []checkpointer.Write) error {
				return h.full.PutWrites(ctx, at, checkpointer.Task{ID: strings.TrimSpace(task.ID)}, w)
			}
		}},
		{name: "folds message ids", rules: "hostile-message-ids-and-metadata", breakIt: altered(func(s *step) {
			s.Log = slices.Clone(s.Log)
			for i := range s.Log {
				s.Log[i].Message.ID = strings.ToLower(s.Log[i].Message.ID)
			}
		})},
	}
}

func brokenLeases() []broken {
	return []broken{
		{name: "takes any fence for the thread's", rules: "fence-of-another-thread", breakIt: func(h *hooks) {
			h.put = func(ctx ctxT, parent ref, s step) (ref, error) {
				if _, ok := checkpointer.Fence(ctx, "other"); ok {
					return ref{}, checkpointer.ErrFenced
				}
				return h.full.Put(ctx, parent, s)
			}
		}},
		{name: "ignores fences", rules: "newer-token-raises-the-fence fenced-writes-nothing delete-fences-the-holder shared-delete-fences", breakIt: func(h *hooks) {
			h.put = func(_ ctxT, parent ref, s step) (ref, error) { return h.full.Put(context.Background(), parent, s) }
			h.lock = leased(h, func(l *fakeLease) { l.ctx = context.WithoutCancel(l.ctx) })
		}},
		{name: "lets everybody in", rules: "lock-excludes shared-lock-excludes", breakIt: func(h *hooks) {
			h.lock = func(ctx ctxT, thread string) (checkpointer.Lease, error) {
				return &fakeLease{ctx: checkpointer.WithFence(ctx, thread, 1), release: func() error { return nil }}, nil
			}
		}},
		{name: "lets the last waiter in first", rules: "lock-in-order-of-arrival", breakIt: new(lifo).breakIt},
		{name: "calls the end of the context a failure", rules: "lock-wait-ends-with-context", breakIt: func(h *hooks) {
			h.lock = func(ctx ctxT, thread string) (checkpointer.Lease, error) {
				l, err := h.full.Lock(ctx, thread)
				if is(context.Canceled, err) {
					err = checkpointer.ErrUnavailable
				}
				return l, err
			}
		}},
		{name: "has one lock for all threads", rules: "lock-of-other-threads", breakIt: func(h *hooks) {
			h.lock = func(ctx ctxT, _ string) (checkpointer.Lease, error) { return h.full.Lock(ctx, "all") }
		}},
		{name: "creates what it locks", rules: "lock-does-not-create", breakIt: func(h *hooks) {
			h.lock = func(ctx ctxT, thread string) (checkpointer.Lease, error) {
				_, _ = h.full.Put(ctx, ref{Thread: thread}, step{})
				return h.full.Lock(ctx, thread)
			}
		}},
		{name: "cannot release twice", rules: "lease-release", breakIt: func(h *hooks) {
			h.lock = leased(h, func(l *fakeLease) {
				release, released := l.release, false
				l.release = func() error {
					if released {
						return checkpointer.ErrNotFound
					}
					released = true
					return release()
				}
			})
		}},
		{name: "gives the same token twice", rules: "lease-tokens-ascend", breakIt: func(h *hooks) {
			h.lock = leased(h, func(l *fakeLease) { l.ctx = checkpointer.WithFence(l.ctx, "t", 1<<62) })
		}},
		{name: "locks what has no name", rules: "lock-arguments", breakIt: func(h *hooks) {
			h.lock = func(ctx ctxT, thread string) (checkpointer.Lease, error) {
				l, err := h.full.Lock(ctx, thread)
				if is(checkpointer.ErrInvalid, err) {
					err = checkpointer.ErrNotFound
				}
				return l, err
			}
		}},
		{name: "leaves leases behind", rules: "close-ends-leases-and-waits", breakIt: func(h *hooks) {
			h.lock = leased(h, func(l *fakeLease) { l.ctx = context.WithoutCancel(l.ctx) })
		}},
	}
}

type fakeLease struct {
	ctx     ctxT
	release func() error
}

func (l *fakeLease) Context() context.Context { return l.ctx }
func (l *fakeLease) Release() error           { return l.release() }

// leased changes the leases that Lock returns.
func leased(h *hooks, change func(l *fakeLease)) func(ctx ctxT, thread string) (checkpointer.Lease, error) {
	return func(ctx ctxT, thread string) (checkpointer.Lease, error) {
		l, err := h.full.Lock(ctx, thread)
		if err != nil {
			return nil, err
		}
		fake := &fakeLease{l.Context(), l.Release}
		change(fake)
		return fake, nil
	}
}

// lifo keeps the waiters for one thread on a stack.
type lifo struct {
	mu    sync.Mutex
	held  bool
	stack []chan struct{}
}

func (l *lifo) breakIt(h *hooks) {
	h.lock = func(ctx ctxT, thread string) (checkpointer.Lease, error) {
		l.mu.Lock()
		turn := make(chan struct{})
		if l.held {
			l.stack = append(l.stack, turn)
		} else {
			l.held = true
			close(turn)
		}
		l.mu.Unlock()
		<-turn
		return &fakeLease{ctx, sync.OnceValue(l.next)}, nil
	}
}

func (l *lifo) next() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held = len(l.stack) > 0; l.held {
		close(l.stack[len(l.stack)-1])
		l.stack = l.stack[:len(l.stack)-1]
	}
	return nil
}
