package thread

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

// sourceCompact marks the checkpoint that a compaction is about to follow.
const sourceCompact = "compact"

// Whole returns the messages of a thread as if nothing of it had been compacted, oldest first: what a
// summary replaced in its place, as far back as the store has kept it. A summary whose messages are
// not kept any more stands at the beginning.
func Whole(ctx context.Context, saver checkpointer.Saver, id string) ([]langrooms.Message, error) {
	cp, err := saver.Get(ctx, checkpointer.Ref{Thread: id})
	if err != nil {
		return nil, fmt.Errorf("reading the thread %q: %w", id, err)
	}
	messages, err := messagesAt(ctx, saver, cp.Ref, 0)
	for err == nil && len(messages) > 0 && messages[0].Summary != nil {
		var older []langrooms.Message
		var before checkpointer.Checkpoint
		before, older, err = beforeSummary(ctx, saver, cp, messages[0])
		if errors.Is(err, checkpointer.ErrNotFound) {
			return messages, nil // it was pruned
		}
		cp, messages = before, append(older, messages[1:]...)
	}
	return messages, err
}

// beforeSummary returns the checkpoint before the compaction that summary, the first message of cp,
// stands for, and what it had replaced. ErrNotFound where that is not kept.
func beforeSummary(ctx context.Context, saver checkpointer.Saver, cp checkpointer.Checkpoint, summary langrooms.Message) (before checkpointer.Checkpoint, replaced []langrooms.Message, err error) {
	at := cp.Ref
	if at.ID = string(cp.Channels[BeforeChannel]); at.ID == "" {
		return before, nil, fmt.Errorf("%w: what the summary %s replaced", checkpointer.ErrNotFound, summary.ID)
	}
	if before, err = saver.Get(ctx, at); err != nil {
		return before, nil, err
	}
	replaced, err = messagesAt(ctx, saver, before.Ref, summary.Seq+1)
	if err == nil && (len(replaced) == 0 || replaced[0].ID == summary.ID) {
		err = fmt.Errorf("%w: what the summary %s replaced", checkpointer.ErrNotFound, summary.ID)
	}
	return before, replaced, err
}

// messagesAt returns the messages that a checkpoint sees below a position, or all with 0.
func messagesAt(ctx context.Context, saver checkpointer.Saver, at checkpointer.Ref, to int64) (all []langrooms.Message, err error) {
	for m, err := range saver.Messages(ctx, at, checkpointer.Range{To: to}) {
		if err != nil {
			return nil, fmt.Errorf("reading the thread %q: %w", at.Thread, err)
		}
		all = append(all, m)
	}
	return all, nil
}

// ErrNotKept says that what a summary replaced is not in the store any more, or was replaced by a
// version that did not note where it is.
var ErrNotKept = errors.New("what the summary replaced is not kept any more")

// Restore puts what the newest compaction replaced back in the summary's place, by a branch that
// begins in front of it, and returns how many messages that was. 0 means that the thread has no
// summary. ErrNotKept.
func (h *Hold) Restore() (restored int, err error) {
	now, err := h.History()
	if err != nil || len(now) == 0 || now[0].Summary == nil {
		return 0, err
	}
	head := checkpointer.Checkpoint{Ref: h.head, Channels: h.channels}
	before, replaced, err := beforeSummary(h.ctx, h.saver, head, now[0])
	if errors.Is(err, checkpointer.ErrNotFound) {
		return 0, fmt.Errorf("the thread %q: %w", h.id, ErrNotKept)
	}
	if err != nil {
		return 0, err
	}
	kept, err := messagesAt(h.ctx, h.saver, before.Ref, 0)
	if err != nil {
		return 0, err
	}
	if err := h.restoreAt(before, again(now[1:], kept[len(replaced):], before.Length, h.length)); err != nil {
		return 0, err
	}
	return len(replaced), nil
}

// again is what makes of kept, the messages that a checkpoint of the given length sees behind what a
// summary had replaced, those of now, each at its place; length is that of the log now.
func again(now, kept []langrooms.Message, before, length int64) (log []checkpointer.Entry) {
	next := before
	upTo := func(place int64) { // places that nobody's message has any more
		for ; next < place; next++ {
			log = append(log, checkpointer.Entry{Op: checkpointer.OpRemove, ID: noMessage})
		}
	}
	there := map[string]langrooms.Message{}
	for _, m := range now {
		there[m.ID] = m
		if m.Seq >= before {
			upTo(m.Seq)
			log = append(log, checkpointer.Append(m)...)
			next++
		}
	}
	upTo(length)
	for _, m := range kept {
		switch is, ok := there[m.ID]; {
		case !ok:
			log = append(log, checkpointer.Entry{Op: checkpointer.OpRemove, ID: m.ID})
		case !reflect.DeepEqual(is, m):
			log = append(log, checkpointer.Entry{Op: checkpointer.OpReplace, Message: is})
		}
	}
	return log
}

// noMessage is an id that no message has: an entry that removes it takes a place and does nothing.
const noMessage = "-"

// restoreAt goes on after an older checkpoint by log, with the hold's channels.
func (h *Hold) restoreAt(before checkpointer.Checkpoint, log []checkpointer.Entry) error {
	step := checkpointer.Step{ID: langrooms.NewID(), Fork: true, Log: log, Channels: map[string][]byte{},
		Metadata: checkpointer.Metadata{"source": SourceFork}}
	for name, value := range h.channels {
		if name != BeforeChannel {
			step.Channels[name] = value
		}
	}
	for name := range before.Channels {
		if _, there := step.Channels[name]; !there && name != BeforeChannel {
			step.Remove = append(step.Remove, name)
		}
	}
	h.head, h.channels = before.Ref, map[string][]byte{}
	if value, ok := before.Channels[BeforeChannel]; ok {
		h.channels[BeforeChannel] = value
	}
	if err := h.put(step); err != nil {
		return err
	}
	h.length = before.Length + int64(len(log))
	return nil
}
