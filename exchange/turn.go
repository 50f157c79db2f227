package exchange

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/delegate"
)

// Turn is one writer's hold on a thread, from its lease to its release.
type Turn struct {
	saver  checkpointer.Saver
	thread string
	lease  checkpointer.Lease // nil when the saver has none to give
	ctx    context.Context
	caller context.Context // Begin's: it ends when the operator stops the turn

	head        checkpointer.Ref
	length      int64
	open        *openExchange
	epoch       string // see epochChannel
	epochStored bool
	// rewound says that nothing was put since a rewind, whose pruning may have failed.
	rewound bool

	// staged are messages that the next Flush puts, after reserved ones in front, of which
	// front are those that are known.
	staged   []langrooms.Message
	reserved int64
	front    []langrooms.Message
	staging  bool

	interrupted []string
	untold      bool // the thread says that interrupted has not been told
	telling     bool // this turn's result tells it
}

// recordBound is how long a put is retried after the store fails it. What a delegate said
// is shown to the operator at the latest then, stored or not.
const recordBound = 12 * time.Second

// stoppedBound is the same once the operator has stopped the turn.
const stoppedBound = 3 * time.Second

// Begin waits for the thread's lease until ctx ends, reads its head, and closes what a
// dead process left open there (spec: rooms, 2.4). End must be called.
//
// The turn's own context is derived from ctx: it ends with ctx, and with cause
// checkpointer.ErrFenced when the lease passes to another writer.
func Begin(ctx context.Context, saver checkpointer.Saver, thread string) (*Turn, error) {
	if err := langrooms.CheckThreadID(thread); err != nil {
		return nil, err
	}
	t := &Turn{saver: saver, thread: thread, ctx: ctx, caller: ctx}
	if locker, ok := saver.(checkpointer.Locker); ok {
		lease, err := locker.Lock(ctx, thread)
		if err != nil {
			return nil, fmt.Errorf("waiting for the thread %q: %w", thread, err)
		}
		t.lease, t.ctx = lease, lease.Context()
	}
	if err := t.readHead(); err != nil {
		return nil, errors.Join(err, t.End())
	}
	if err := t.settleHead(); err != nil {
		return nil, errors.Join(err, t.End())
	}
	return t, nil
}

// End gives the thread back. What is staged and was not flushed is dropped. Idempotent.
func (t *Turn) End() error {
	if t.lease == nil {
		return nil
	}
	return t.lease.Release()
}

// Context is the turn's context; see [Begin].
func (t *Turn) Context() context.Context { return t.ctx }

// Thread returns the thread's id.
func (t *Turn) Thread() string { return t.thread }

// Interrupted names the members whose open dispatch Begin recorded as failed, or that an
// earlier turn recorded so without anybody to tell it to.
func (t *Turn) Interrupted() []string { return slices.Clone(t.interrupted) }

func (t *Turn) readHead() error {
	cp, err := t.saver.Get(t.ctx, checkpointer.Ref{Thread: t.thread})
	if errors.Is(err, checkpointer.ErrNotFound) {
		t.head = checkpointer.Ref{Thread: t.thread}
		t.enter("")
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the thread %q: %w", t.thread, err)
	}
	t.head, t.length = cp.Ref, cp.Length
	t.enter(string(cp.Channels[epochChannel]))
	t.rewound = cp.Metadata["source"] == sourceRewind
	if data, ok := cp.Channels[openChannel]; ok {
		if t.open, err = parseOpen(data); err != nil {
			return err
		}
	}
	if data, ok := cp.Channels[untoldChannel]; ok {
		t.interrupted, err = parseUntold(data)
		t.untold = true
	}
	return err
}

// enter makes epoch the turn's, or a new one that the next put will store. Its context says
// so to the delegates' memory.
func (t *Turn) enter(epoch string) {
	t.epoch, t.epochStored = epoch, epoch != ""
	if epoch == "" {
		t.epoch = langrooms.NewID()
	}
	t.ctx = delegate.WithEpoch(t.ctx, t.epoch)
}

// settleHead finishes what an earlier writer may have left undone.
func (t *Turn) settleHead() error {
	if t.rewound {
		if err := t.prune(); err != nil {
			return err
		}
	}
	return t.closeInterrupted()
}

// Put appends messages to the thread, as one checkpoint. It does not end with the turn's
// context: what was heard is recorded, within a bounded time, although the operator has
// stopped the turn. A failure of the store is retried.
func (t *Turn) Put(source string, messages ...langrooms.Message) error {
	return t.put(source, messages, t.open)
}

// put appends messages and leaves open as the thread's open exchange.
func (t *Turn) put(source string, messages []langrooms.Message, open *openExchange) error {
	step := checkpointer.Step{
		ID:       langrooms.NewID(),
		Log:      checkpointer.Append(messages...),
		Metadata: checkpointer.Metadata{"source": source},
	}
	step.Channels = map[string][]byte{}
	switch {
	case open != nil:
		step.Channels[openChannel] = open.encode()
	case t.open != nil:
		step.Remove = []string{openChannel}
	}
	if !t.epochStored {
		step.Channels[epochChannel] = []byte(t.epoch)
	}
	t.noteUntold(&step)
	ref, err := t.retry(func(ctx context.Context) (checkpointer.Ref, error) {
		return t.saver.Put(ctx, t.head, step)
	})
	if err != nil {
		return fmt.Errorf("storing on the thread %q: %w", t.thread, err)
	}
	t.head, t.open, t.epochStored = ref, open, true
	t.untold = len(t.interrupted) > 0 && !t.telling
	t.length += int64(len(messages))
	return nil
}

// retry repeats a put while the store is unavailable: the step's ID makes that safe.
func (t *Turn) retry(put func(context.Context) (checkpointer.Ref, error)) (checkpointer.Ref, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), recordBound)
	defer cancel()
	defer context.AfterFunc(t.caller, func() { time.AfterFunc(stoppedBound, cancel) })()
	pause := 50 * time.Millisecond
	var away error
	for {
		ref, err := put(ctx)
		if err != nil && ctx.Err() != nil && away != nil {
			return ref, away // the end of the patience is not what is wrong
		}
		if !errors.Is(err, checkpointer.ErrUnavailable) {
			return ref, err
		}
		away = err
		select {
		case <-ctx.Done():
			return ref, err
		case <-time.After(pause):
			pause = min(2*pause, 2*time.Second)
		}
	}
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
		t.front[i].Seq = t.length + int64(i)
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
	return t.put("room", []langrooms.Message{m}, open)
}

// Next is the position of the next record.
func (t *Turn) Next() int64 { return t.length + t.reserved + int64(len(t.staged)) }

// newestFirst yields what the turn sees of its thread: staged records, what is known of those
// in front of them, then stored messages, read a page at a time.
func (t *Turn) newestFirst(page int) iter.Seq2[langrooms.Message, error] {
	return func(yield func(langrooms.Message, error) bool) {
		for _, unsaved := range [][]langrooms.Message{t.staged, t.front} {
			for _, m := range slices.Backward(unsaved) {
				if !yield(m, nil) {
					return
				}
			}
		}
		if t.head.ID == "" {
			return
		}
		to := int64(0)
		for {
			read := 0
			for m, err := range t.saver.Messages(t.ctx, t.head, checkpointer.Range{To: to, Limit: &page, Backward: true}) {
				if !yield(m, err) || err != nil {
					return
				}
				read, to = read+1, m.Seq
			}
			if read < page || to == 0 {
				return
			}
		}
	}
}

// History returns all messages of the thread as the turn sees it, oldest first.
func (t *Turn) History() ([]langrooms.Message, error) {
	if t.head.ID == "" {
		return nil, nil
	}
	var messages []langrooms.Message
	for m, err := range t.saver.Messages(t.ctx, t.head, checkpointer.Range{}) {
		if err != nil {
			return nil, fmt.Errorf("reading the thread %q: %w", t.thread, err)
		}
		messages = append(messages, m)
	}
	return messages, nil
}
