package runs

import (
	"context"
	"errors"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/internal/lifetime"
)

// take runs a job to its end. The record says how it ended before the last event does.
func (m *Manager) take(j *job) {
	writing := make(chan struct{})
	go func() {
		defer close(writing)
		m.write(j)
	}()
	status, words := m.turn(j)
	if m.undoes(j) && status == Interrupted {
		if err := m.undo(j); err != nil {
			status, words = Failed, err.Error()
		}
	}
	j.run.Status, j.run.Error = status, words
	m.record(j)
	j.stream.add(Event{Type: EventStatus, Time: time.Now().UTC(), Status: status, Error: words})
	j.stream.end()
	<-writing
	j.cancel(nil)
	m.failed(j.release())
}

// turn waits for its time, takes the turn and says how it ended.
func (m *Manager) turn(j *job) (Status, string) {
	waited := lifetime.Sleep(j.ctx, time.Until(j.after))
	if waited && j.queued {
		m.hear(j) // what is told to one that waits is told before the one in front of it is stopped
	}
	if !waited || j.ctx.Err() != nil {
		return Interrupted, ""
	}
	if err := m.begin(j); err != nil {
		return Failed, err.Error()
	}
	result, err := m.cfg.Turn(j.ctx, j.run, j.input, j.stream.feed())
	if err == nil || result.Text != "" {
		j.stream.add(Event{Type: EventResult, Time: time.Now().UTC(), Result: &result})
	}
	switch {
	case j.ctx.Err() != nil:
		return Interrupted, ""
	case err != nil:
		return Failed, err.Error()
	case result.Reason == langrooms.ReasonStopped:
		return Interrupted, ""
	}
	return Success, ""
}

// begin notes where the thread stands, and says that the run is under way.
func (m *Manager) begin(j *job) error {
	cp, err := m.cfg.Saver.Get(j.ctx, checkpointer.Ref{Thread: j.run.Thread})
	if err != nil && !errors.Is(err, checkpointer.ErrNotFound) {
		return err
	}
	j.run.Base, j.run.Length = cp.Ref.ID, cp.Length
	j.run.Status = Running
	m.record(j)
	j.stream.add(Event{Type: EventStatus, Time: time.Now().UTC(), Status: Running})
	return nil
}

func (m *Manager) record(j *job) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(j.ctx), storeBound)
	defer cancel()
	j.run.Updated = time.Now().UTC()
	m.failed(m.book.put(ctx, j.run, checkpointer.OpReplace))
}

// undo takes back what the run wrote, within a bounded time.
func (m *Manager) undo(j *job) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(j.ctx), 4*storeBound)
	defer cancel()
	return m.cfg.Undo(ctx, j.run)
}

// write stores the events of a job as they come, in pages, until the stream has ended. What
// cannot be stored is told; readers of this process lose nothing by it.
func (m *Manager) write(j *job) {
	if j.input.Incognito {
		return
	}
	log := &eventLog{saver: m.cfg.Saver, run: j.run.ID}
	for {
		events, ended, changed := j.stream.from(log.next)
		if len(events) > 0 {
			if err := m.writePage(j, log, events); err != nil {
				m.failed(err)
				return
			}
		}
		if ended {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(j.ctx), storeBound)
			m.failed(log.expire(ctx, m.cfg.Keep))
			cancel()
			return
		}
		if len(events) > 0 { // what comes soon goes with the next page
			pause(j.stream, flushEvery)
			continue
		}
		<-changed
	}
}

func (m *Manager) writePage(j *job, log *eventLog, events []Event) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(j.ctx), storeBound)
	defer cancel()
	return log.write(ctx, events)
}

// pause waits for d or for the end of the stream.
func pause(s *stream, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		_, ended, changed := s.from(s.len())
		if ended {
			return
		}
		select {
		case <-timer.C:
			return
		case <-changed:
		}
	}
}
