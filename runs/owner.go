package runs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

// holdOwner takes the lease that tells other processes, as long as it is held, that the run
// has an owner. The lease outlives the caller; the wait for it does not, and is bounded, because
// nobody else knows the id yet: only a store that hangs lets it last.
func (m *Manager) holdOwner(ctx context.Context, j *job) error {
	locker, ok := m.cfg.Saver.(checkpointer.Locker)
	if !ok {
		return nil
	}
	waiting, done := context.WithTimeoutCause(ctx, storeBound, errNoLease)
	defer done()
	held, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	inTime := context.AfterFunc(waiting, giveUp)
	lease, err := locker.Lock(held, controlThread(j.run.ID))
	switch {
	case err != nil && waiting.Err() != nil:
		err = errors.Join(context.Cause(waiting), err)
	case err == nil && !inTime():
		return errors.Join(context.Cause(waiting), lease.Release())
	}
	j.lease = lease
	return err
}

var errNoLease = fmt.Errorf("the store gave no lease within %s", storeBound)

func (j *job) release() error {
	if j.lease == nil {
		return nil
	}
	return j.lease.Release()
}

// drop gives up a job that has not begun.
func (j *job) drop() error {
	j.cancel(nil)
	return j.release()
}

// The patience with an owner.
const (
	// ownerAnswers is how long the lease is waited for to see whether somebody holds it.
	ownerAnswers = 40 * time.Millisecond
	// lookEvery is how often that is tried for one run.
	lookEvery = 3 * time.Second
)

// diedCause is what is said of a run whose process has gone.
const diedCause = "the process that ran it has ended"

// closeIfDead returns the record of r, closed as failed when its process is gone.
func (m *Manager) closeIfDead(ctx context.Context, r Run) (Run, error) {
	if !r.Status.Live() || !m.due(r.ID) {
		return r, nil
	}
	locker, ok := m.cfg.Saver.(checkpointer.Locker)
	if !ok {
		return r, nil
	}
	wait, cancel := context.WithTimeout(ctx, ownerAnswers)
	defer cancel()
	lease, err := locker.Lock(wait, controlThread(r.ID))
	switch {
	case err != nil && wait.Err() != nil && ctx.Err() == nil:
		return r, nil // somebody holds it
	case err != nil:
		return r, err
	}
	defer lease.Release()
	now, err := m.book.get(ctx, r.Thread, r.ID)
	if err != nil || !now.Status.Live() {
		return now, err // it ended meanwhile
	}
	now.Status, now.Error, now.Updated = Failed, diedCause, time.Now().UTC()
	if err := m.book.put(ctx, now, checkpointer.OpReplace); err != nil {
		return r, err
	}
	return now, m.endStored(ctx, now)
}

// due reports whether the owner of a run that is not ours may be looked for again.
func (m *Manager) due(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ours := m.jobs[id]; ours {
		return false
	}
	now := time.Now()
	for other, at := range m.looked {
		if now.Sub(at) > lookEvery {
			delete(m.looked, other)
		}
	}
	if _, lately := m.looked[id]; lately {
		return false
	}
	m.looked[id] = now
	return true
}

// endStored puts the last event behind what a dead process has stored.
func (m *Manager) endStored(ctx context.Context, r Run) error {
	cp, err := m.cfg.Saver.Get(ctx, checkpointer.Ref{Thread: eventsThread(r.ID)})
	if err != nil && !errors.Is(err, checkpointer.ErrNotFound) {
		return err
	}
	log := &eventLog{saver: m.cfg.Saver, run: r.ID, head: cp.Ref, next: cp.Length}
	err = log.write(ctx, []Event{{Seq: cp.Length, Type: EventStatus, Time: time.Now().UTC(), Status: r.Status, Error: r.Error}})
	return errors.Join(err, log.expire(ctx, m.cfg.Keep))
}

// stop ends a job of this process; with undo it takes back what it wrote.
func (m *Manager) stop(j *job, undo bool, why langrooms.Stop) {
	m.mu.Lock()
	j.undo = j.undo || undo
	m.mu.Unlock()
	j.cancel(why)
}

// undoes reports whether a job takes back what it wrote.
func (m *Manager) undoes(j *job) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return j.undo
}
