package late

import (
	"context"
	"errors"
	"time"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/internal/lifetime"
)

// The rhythm of a collection (spec: rooms, 7.5).
const (
	firstPoll   = 2 * time.Second
	slowestPoll = 30 * time.Second
	lateLimit   = time.Hour
	maxLost     = 8
	// pollLimit bounds one poll.
	pollLimit = 30 * time.Second
)

// errWithdrawn says that a handle does not stand any more.
var errWithdrawn = errors.New("the handle was withdrawn")

// follow polls the job's task until that is over. ctx ends it without a word.
func (c *collector) follow(ctx context.Context, j *job) {
	h := j.handle
	limit := h.Since.Add(lateLimit)
	pause := max(0, time.Until(h.Since.Add(firstPoll))) // what was taken up is polled at once
	rhythm, lost := firstPoll, 0
	for {
		left := time.Until(limit)
		last := left <= pause
		if !lifetime.Sleep(ctx, min(pause, left)) {
			return
		}
		rhythm = min(rhythm*3/2, slowestPoll)
		pause = rhythm
		late, err := c.poll(ctx, h)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, delegate.ErrUnknownTask), errors.Is(err, errWithdrawn):
			// Best effort: a handle that stays is found out at its next poll.
			_, _ = c.cfg.handles.TakeHandle(ctx, h)
			return
		case err != nil:
			lost++
		default:
			lost = 0
		}
		switch {
		case err == nil && late.Result != "":
		case last:
			late.Result, late.Err = endedGaveUp, err
		case lost == maxLost:
			late.Result, late.Err = endedLostTouch, err
		default:
			j.first()
			continue
		}
		c.cfg.deliver(c.cfg.life.Context(), late)
		return
	}
}

// poll reads the task once. A handle that does not stand, before or after, is
// errWithdrawn; a task that is not settled leaves the result empty.
func (c *collector) poll(ctx context.Context, h delegate.Handle) (result, error) {
	late := result{Handle: h, store: c.cfg.handles}
	roster, release := c.cfg.live.Acquire()
	defer release()
	reader, err := c.stands(ctx, roster, h)
	if err != nil {
		return late, err
	}
	limited, cancel := context.WithTimeout(ctx, pollLimit)
	defer cancel()
	view, err := reader.ReadTask(limited, h.Task)
	if err != nil {
		return late, err
	}
	if late.reader, err = c.stands(ctx, c.cfg.live.Current(), h); err != nil {
		return late, err
	}
	late.View = view
	switch view.State {
	case delegate.TaskAnswered:
		late.Result = endedAnswered
	case delegate.TaskPaused:
		late.Result = endedPaused
	case delegate.TaskFailed:
		late.Result = endedFailed
	}
	return late, nil
}

// stands returns the reader to poll with while h stands: in the store, in the roster, and
// with the same peer and credential.
func (c *collector) stands(ctx context.Context, roster *delegate.Registry, h delegate.Handle) (delegate.TaskReader, error) {
	has, err := c.cfg.handles.HasHandle(ctx, h)
	if err != nil {
		return nil, err
	}
	reader, ok := readerOf(roster, h.Delegate)
	if !has || !ok {
		return nil, errWithdrawn
	}
	peer, err := reader.PeerKey()
	if err != nil {
		return nil, err
	}
	if peer != h.Peer {
		return nil, errWithdrawn
	}
	return reader, nil
}
