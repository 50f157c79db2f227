package exchange

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/room"
	"github.com/langrooms/langrooms/thread"
)

// Turn is one turn of somebody on a thread, under one hold from its begin to its end.
type Turn struct {
	hold *thread.Hold
	open *openExchange

	// staged are messages that the next Flush puts, after reserved ones in front, of which
	// front are those that are known.
	staged   []langrooms.Message
	reserved int64
	front    []langrooms.Message
	staging  bool

	interrupted []string
	telling     bool // this turn's result tells them

	spent langrooms.Spending // in this turn

	kept map[string][]byte // channels that the next put sets, or with nil removes
}

// Hold waits for a thread like thread.Begin, and closes what a dead process left open there
// (spec: rooms, 2.4). Whoever writes to a thread that rooms use takes its hold by this.
func Hold(ctx context.Context, saver checkpointer.Saver, id string) (*thread.Hold, error) {
	return thread.Begin(ctx, saver, id, closeInterrupted)
}

// Begin takes a turn on a thread: [Hold]. End must be called.
func Begin(ctx context.Context, saver checkpointer.Saver, id string) (*Turn, error) {
	hold, err := Hold(ctx, saver, id)
	if err != nil {
		return nil, err
	}
	t := &Turn{hold: hold}
	if t.interrupted, err = untold(hold); err != nil {
		return nil, errors.Join(err, t.End())
	}
	return t, nil
}

// End gives the thread back. What is staged and was not flushed is dropped. Idempotent.
func (t *Turn) End() error { return t.hold.End() }

// Observe has stored called after each put of messages; see thread.Hold.Observe.
func (t *Turn) Observe(stored func(checkpoint string, messages []langrooms.Message)) {
	t.hold.Observe(stored)
}

// Context is the hold's context; see thread.Begin.
func (t *Turn) Context() context.Context { return t.hold.Context() }

// Thread returns the thread's id.
func (t *Turn) Thread() string { return t.hold.Thread() }

// Epoch names the present life of the thread's history; see thread.Hold.
func (t *Turn) Epoch() string { return t.hold.Epoch() }

// History returns all stored messages of the thread, oldest first.
func (t *Turn) History() ([]langrooms.Message, error) { return t.hold.History() }

// Interrupted names the members whose open dispatch Begin recorded as failed, or that an
// earlier turn recorded so without anybody to tell it to.
func (t *Turn) Interrupted() []string { return slices.Clone(t.interrupted) }

// castScan is how many of a thread's newest messages Cast looks at.
const castScan = 2000

// Cast lists who has spoken on the thread besides the operator and the lead, in the order in which
// they first did, and who did so last; see room.Cast. It looks at the newest 2,000 messages, to the
// newest summary at most, which names the speakers before it.
func (t *Turn) Cast(lead string) (members []string, last string, err error) {
	var newest []langrooms.Message
	for m, err := range t.hold.View().NewestFirst(t.Context(), castPage) {
		if err != nil {
			return nil, "", fmt.Errorf("reading who has spoken on the thread %q: %w", t.Thread(), err)
		}
		newest = append(newest, m)
		if last == "" {
			if spoke := room.Cast([]langrooms.Message{m}, lead); m.Summary == nil && len(spoke) > 0 {
				last = spoke[0]
			}
		}
		if m.Summary != nil || len(newest) == castScan {
			break
		}
	}
	slices.Reverse(newest)
	return room.Cast(newest, lead), last, nil
}

// castPage is how many messages one read of Cast brings.
const castPage = 200

// Tell says that this turn's result tells the operator what was interrupted; its next put
// takes that off the thread.
func (t *Turn) Tell() { t.telling = true }

// Channel returns the value of a channel of the thread; see thread.Hold.Channel.
func (t *Turn) Channel(name string) (value []byte, ok bool) { return t.hold.Channel(name) }

// Keep has the turn's next put set a channel of the thread to value, or remove it with nil, in
// the same checkpoint as its messages.
func (t *Turn) Keep(channel string, value []byte) {
	if t.kept == nil {
		t.kept = make(map[string][]byte)
	}
	t.kept[channel] = value
}

// Put appends messages to the thread, as one checkpoint; see thread.Hold.Put.
func (t *Turn) Put(source string, messages ...langrooms.Message) error {
	return t.put(source, messages, t.open)
}

// put appends messages and leaves open as the thread's open exchange.
func (t *Turn) put(source string, messages []langrooms.Message, open *openExchange) error {
	return t.putBy(t.hold.Put, source, messages, open)
}

func (t *Turn) putBy(put func(thread.Step) error, source string, messages []langrooms.Message, open *openExchange) error {
	step := thread.Step{Source: source, Messages: messages, Set: map[string][]byte{}}
	switch {
	case open != nil:
		step.Set[openChannel] = open.encode()
	case t.open != nil:
		step.Remove = []string{openChannel}
	}
	for name, value := range t.kept {
		if value != nil {
			step.Set[name] = value
		} else {
			step.Remove = append(step.Remove, name)
		}
	}
	if _, untold := t.hold.Channel(untoldChannel); untold && t.telling {
		step.Remove = append(step.Remove, untoldChannel)
	}
	if err := put(step); err != nil {
		return err
	}
	t.open, t.kept = open, nil
	return nil
}

// Reserve starts a superstep whose records are not put as they come but staged: the next
// n positions of the log are kept for the messages that [Turn.Flush] will put in front of
// them. Those of the n that are known already, from the first on, stand in each window that
// is read meanwhile: what the lead says beside its tool calls would otherwise count as seen
// and never be shown.
func (t *Turn) Reserve(n int, known ...langrooms.Message) {
	t.staging, t.reserved, t.staged = true, int64(n), nil
	t.front = slices.Clone(known)
	for i := range t.front {
		t.front[i].Seq = t.hold.Length() + int64(i)
	}
}

// Flush puts front, as many messages as were reserved, and then all staged records, as one
// checkpoint.
func (t *Turn) Flush(source string, front ...langrooms.Message) error {
	if int64(len(front)) != t.reserved {
		return fmt.Errorf("flushing %d messages where %d were reserved", len(front), t.reserved)
	}
	messages := append(slices.Clone(front), t.staged...)
	t.staging, t.reserved, t.front, t.staged = false, 0, nil, nil
	return t.Put(source, messages...)
}

// Stage adds a record to those that Flush will put, and returns its position.
func (t *Turn) Stage(m langrooms.Message) int64 {
	m.Seq = t.Next()
	t.staged = append(t.staged, m)
	return m.Seq
}

// Staged returns the records waiting for Flush.
func (t *Turn) Staged() []langrooms.Message { return slices.Clone(t.staged) }

// record puts or stages a message of an exchange.
func (t *Turn) record(m langrooms.Message, open *openExchange) error {
	if t.staging {
		t.Stage(m)
		return nil
	}
	return t.put(sourceRoom, []langrooms.Message{m}, open)
}

// recordLast is record for the last message of a turn: the thread is given back with it.
func (t *Turn) recordLast(m langrooms.Message) error {
	if t.staging {
		t.Stage(m)
		return nil
	}
	return t.putBy(t.hold.PutLast, sourceRoom, []langrooms.Message{m}, nil)
}

// Next is the position of the next record.
func (t *Turn) Next() int64 { return t.hold.Length() + t.reserved + int64(len(t.staged)) }

// view is what the turn sees of its thread: stored messages, what is known of those in front
// of the staged records, and these.
func (t *Turn) view() thread.View {
	v := t.hold.View()
	v.Unsaved, v.Next = append(slices.Clone(t.front), t.staged...), t.Next()
	return v
}
