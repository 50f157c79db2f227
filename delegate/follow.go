package delegate

import (
	"context"
	"errors"
	"time"
)

// The rhythm of a collection (spec: rooms, 7.5).
const (
	firstLook    = 2 * time.Second
	longestPause = 30 * time.Second
	lateLimit    = time.Hour
	maxLost      = 8
	// lookLimit bounds one look.
	lookLimit = 30 * time.Second
)

// errWithdrawn says that a handle does not stand any more.
var errWithdrawn = errors.New("the handle was withdrawn")

// follow looks at h's task until that is over. ctx ends it without a word.
func (c *Collector) follow(ctx context.Context, h Handle) {
	limit := h.Since.Add(lateLimit)
	pause := max(0, time.Until(h.Since.Add(firstLook))) // what was taken up is looked at at once
	rhythm, lost := firstLook, 0
	for {
		left := time.Until(limit)
		last := left <= pause
		if !sleep(ctx, min(pause, left)) {
			return
		}
		rhythm = min(rhythm*3/2, longestPause)
		pause = rhythm
		late, err := c.look(ctx, h)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, ErrUnknownTask), errors.Is(err, errWithdrawn):
			// Best effort: a handle that stays is found out at its next look.
			_, _ = c.cfg.Handles.TakeHandle(ctx, h)
			return
		case err != nil:
			lost++
		default:
			lost = 0
		}
		switch {
		case err == nil && late.Result != "":
		case last:
			late.Result, late.Err = LateGaveUp, err
		case lost == maxLost:
			late.Result, late.Err = LateLostTouch, err
		default:
			continue
		}
		c.cfg.Deliver(c.life, late)
		return
	}
}

// look reads the task once. A handle that does not stand, before or after, is
// errWithdrawn; a task that is not settled leaves the result empty.
func (c *Collector) look(ctx context.Context, h Handle) (Late, error) {
	late := Late{Handle: h, store: c.cfg.Handles}
	roster, release := c.cfg.Live.Acquire()
	defer release()
	reader, err := c.stands(ctx, roster, h)
	if err != nil {
		return late, err
	}
	limited, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	view, err := reader.ReadTask(limited, h.Task)
	if err != nil {
		return late, err
	}
	if late.reader, err = c.stands(ctx, c.cfg.Live.Current(), h); err != nil {
		return late, err
	}
	late.View = view
	switch view.State {
	case TaskAnswered:
		late.Result = LateAnswered
	case TaskPaused:
		late.Result = LatePaused
	case TaskFailed:
		late.Result = LateFailed
	}
	return late, nil
}

// stands returns the reader to look with while h stands: in the store, in the roster, and
// with the same peer and credential.
func (c *Collector) stands(ctx context.Context, roster *Registry, h Handle) (TaskReader, error) {
	has, err := c.cfg.Handles.HasHandle(ctx, h)
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

// sleep waits for d and reports false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
