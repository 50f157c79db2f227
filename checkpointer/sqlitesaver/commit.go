package sqlitesaver

import (
	"context"
	"slices"
	"sync"
)

// batch is the most writes that share a transaction.
const batch = 64

// commits is the queue of writes. Those that wait while another transaction is flushed to
// the disk make up the next one together: each has happened, or left nothing behind, when
// it returns, and one flush serves all.
type commits struct {
	mu      sync.Mutex
	waiting []*write
	leading bool               // a goroutine takes writes from the queue
	giveUp  context.CancelFunc // ends the wait for the database's lock; nil once it is held
	done    sync.WaitGroup     // of the leading goroutine
}

// write is one write in the queue.
type write struct {
	f      func(q *tx) error
	tried  bool // the database's lock is being waited for on its behalf
	err    error
	result chan error // holds one
}

// update runs f and commits, or leaves nothing behind. It waits for its turn until ctx
// ends; a write that has begun is brought to its end, which takes no waiting.
func (s *Saver) update(ctx context.Context, f func(q *tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w := &write{f: f, result: make(chan error, 1)}
	s.commits.mu.Lock()
	s.commits.waiting = append(s.commits.waiting, w)
	if !s.commits.leading {
		s.commits.leading = true
		s.commits.done.Go(s.lead)
	}
	s.commits.mu.Unlock()
	select {
	case err := <-w.result:
		return err
	case <-ctx.Done():
	}
	if s.commits.leave(w) {
		return ctx.Err()
	}
	return <-w.result
}

// leave takes a write from the queue, unless it has begun.
func (c *commits) leave(w *write) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.waiting, w)
	if i < 0 {
		return false
	}
	c.waiting = slices.Delete(c.waiting, i, i+1)
	if len(c.waiting) == 0 && c.giveUp != nil {
		c.giveUp()
	}
	return true
}

// lead commits until nothing waits.
func (s *Saver) lead() {
	for {
		ctx, cancel := context.WithCancel(context.Background())
		if !s.commits.try(cancel) {
			cancel()
			return
		}
		s.commit(ctx)
		cancel()
	}
}

// try says whether there is something to commit.
func (c *commits) try(giveUp context.CancelFunc) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) == 0 {
		c.leading = false
		return false
	}
	for _, w := range c.waiting {
		w.tried = true
	}
	c.giveUp = giveUp
	return true
}

// take removes from the queue the writes of one transaction or, when that could not
// begin, those for which it was tried.
func (c *commits) take(begun bool) []*write {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.giveUp = nil
	n := min(len(c.waiting), batch)
	if !begun {
		n = 0
		for n < len(c.waiting) && c.waiting[n].tried {
			n++
		}
	}
	taken := slices.Clone(c.waiting[:n])
	c.waiting = slices.Delete(c.waiting, 0, n)
	return taken
}

// commit makes one transaction of what waits when it has the database's lock.
func (s *Saver) commit(ctx context.Context) {
	l, err := s.writer.take(ctx)
	if err != nil {
		finish(s.commits.take(false), err)
		return
	}
	defer func() { s.writer.give(l, err) }()
	if err = (&tx{ctx, l}).exec("BEGIN IMMEDIATE"); err != nil {
		(&tx{ctx, l}).rollback()
		finish(s.commits.take(false), err)
		return
	}
	q := &tx{context.Background(), l}
	writes := s.commits.take(true)
	if err = s.inPlace(); err == nil {
		err = q.writes(writes)
	}
	if err == nil && slices.ContainsFunc(writes, func(w *write) bool { return w.err == nil }) {
		if err = q.exec("COMMIT"); err == nil {
			err = s.inPlace()
			finish(writes, err)
			return
		}
	}
	q.rollback()
	finish(writes, err)
}

// writes runs each write in a savepoint of its own. An error is that of the transaction.
func (q *tx) writes(all []*write) error {
	if len(all) == 1 { // needs none: what fails is rolled back whole
		all[0].err = all[0].f(q)
		return nil
	}
	for _, w := range all {
		if err := q.exec("SAVEPOINT one"); err != nil {
			return err
		}
		if w.err = w.f(q); w.err != nil {
			if err := q.exec("ROLLBACK TO one"); err != nil {
				return w.err // SQLite has ended the transaction
			}
		}
		if err := q.exec("RELEASE one"); err != nil {
			return err
		}
	}
	return nil
}

// finish tells the writers. An error of the transaction is one of those that had none.
func finish(writes []*write, err error) {
	for _, w := range writes {
		if w.err == nil {
			w.err = err
		}
		w.result <- w.err
	}
}
