package a2aagent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
)

// maxFailedPolls in a row end the wait.
const maxFailedPolls = 8

// wait polls the task until it has settled or patience ends. outer is the caller's
// context, ctx that of the requests, which also ends at a hard limit.
func (x *ask) wait(outer, ctx context.Context) error {
	if x.task.phase() != pending {
		return nil
	}
	if x.task.id == "" {
		return x.peer.protocolError("its task has neither an id nor a final state")
	}
	x.report()
	ctx, cancel := context.WithCancel(ctx)
	w := x.watch(ctx)
	defer w.wait()
	defer cancel()
	failures := 0
	var rest time.Duration
	for {
		rest = interval(rest, x.pace)
		x.pause(ctx, w, min(rest, x.patience.left()))
		if outer.Err() != nil {
			return outer.Err()
		}
		if x.patience.hard && x.patience.left() <= 0 {
			return x.stillRunning()
		}
		if err := x.poll(ctx); err == nil {
			failures = 0
		} else if failures++; failures == maxFailedPolls {
			return x.lostTouch(err)
		}
		if x.task.phase() != pending {
			return nil
		}
		if x.patience.left() <= 0 && outer.Err() == nil {
			return x.stillRunning()
		}
	}
}

// poll reads the task once. A material change starts the waiting time again.
func (x *ask) poll(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pollBound)
	defer cancel()
	t, err := x.peer.get(ctx, x.task.id)
	if err != nil {
		return err
	}
	t = t.follow(x.task)
	moved := t.moved(x.task)
	if x.task = t; moved {
		x.patience.renew()
		x.report()
	}
	return nil
}

// pause passes the time until the next poll. The end of the subscription wakes it: the task
// has settled, or there is nothing more to hear.
func (x *ask) pause(ctx context.Context, w *watcher, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		select {
		case p := <-w.reports:
			x.progress(p)
		case <-w.ended():
			w.seen = true
			return
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// report passes the task's state on when it has changed, its reasoning, and what it has of the
// answer by now.
func (x *ask) report() {
	x.tell()
	p := langrooms.Progress{Kind: langrooms.ProgressStatus, State: stateWord(x.task.state), Text: clip(x.task.status, maxReport)}
	if key := p.State + "\x00" + p.Text; key != x.reported && x.task.phase() == pending {
		x.reported = key
		x.progress(p)
	}
	x.think()
}

// tell passes on by how much the answer of a peer without subscriptions has grown. One that has
// become another is not told any more.
func (x *ask) tell() {
	rest, grown := strings.CutPrefix(x.task.artifacts, x.told)
	if x.peer.streaming || !grown || blank(rest) || x.task.phase() != pending || len(x.task.artifacts) > maxAnswer {
		return
	}
	x.told = x.task.artifacts
	x.progress(langrooms.Progress{Kind: langrooms.ProgressText, Text: rest})
}

// stillRunning is the end of patience with a peer that works.
func (x *ask) stillRunning() error {
	waited := fmt.Sprintf("%gs", x.patience.limit.Seconds())
	id := delegate.OneLine(x.task.id, 200)
	last := stateWord(x.task.state)
	if said := delegate.OneLine(x.task.status, 200); said != "" {
		last += fmt.Sprintf(", last status %q", said)
	}
	text := fmt.Sprintf("still running after %s without observable progress — the peer may still be working on task %s (%s); "+
		"raise its poll timeout (poll_timeout_s) when it needs longer between two signs of progress", waited, id, last)
	if x.patience.hard {
		text = fmt.Sprintf("still running after %s, the time limit of this call — the peer may still be working on task %s (%s); "+
			"allow the call more time", waited, id, last)
	}
	e := x.fail(delegate.KindStillRunning, errors.New(text))
	e.Task, e.Accepted = x.task.id, true
	return e
}

// lostTouch is the end after too many failed polls. It is of the last one's kind, but not
// unreachable: the message had been accepted. A task that the peer does not know is not
// worked on any more.
func (x *ask) lostTouch(last error) error {
	e := delegate.AsError(x.cfg.Name, last)
	kind := e.Kind
	if kind == delegate.KindUnreachable || kind == delegate.KindCanceled {
		kind = delegate.KindTimeout
	}
	lost := x.fail(kind, fmt.Errorf("lost touch with task %s: %d polls in a row failed, the last with: %s",
		delegate.OneLine(x.task.id, 200), maxFailedPolls, e.Cause()))
	if lost.Accepted = true; !errors.Is(last, delegate.ErrUnknownTask) {
		lost.Task = x.task.id
	}
	return lost
}
