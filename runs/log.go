package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

// internalPrefix begins the ids of threads that hold no conversation.
const internalPrefix = "\x1flangrooms\x1f"

// Internal reports whether a thread is one that this package keeps events on; such a thread
// is no conversation and is left out of listings.
func Internal(thread string) bool { return strings.HasPrefix(thread, internalPrefix) }

func eventsThread(run string) string  { return internalPrefix + "events/" + run }
func controlThread(run string) string { return internalPrefix + "control/" + run }

// The rhythm of writing events: what comes within flushEvery is one write.
const (
	flushEvery = 60 * time.Millisecond
	flushMost  = 256
)

// liveTTL is how long the events of a run are kept at most whose process has died.
const liveTTL = 24 * time.Hour

// eventLog writes a run's events to the store as they come.
type eventLog struct {
	saver checkpointer.Saver
	run   string
	head  checkpointer.Ref
	next  int64 // position of the next event to be written
}

// write stores what stream has beyond what is written.
func (l *eventLog) write(ctx context.Context, events []Event) error {
	for len(events) > 0 {
		n := min(len(events), flushMost)
		var entries []langrooms.Message
		for _, e := range events[:n] {
			data, err := json.Marshal(e)
			if err != nil {
				return fmt.Errorf("the events of run %s: %w", l.run, err)
			}
			entries = append(entries, langrooms.Message{ID: strconv.FormatInt(e.Seq, 10), Time: e.Time,
				Role: langrooms.RoleSystem, Parts: []langrooms.Part{langrooms.TextPart(string(data))}})
		}
		first := l.head.ID == ""
		if first {
			l.head = checkpointer.Ref{Thread: eventsThread(l.run)}
		}
		ref, err := l.saver.Put(ctx, l.head, checkpointer.Step{ID: langrooms.NewID(), Log: checkpointer.Append(entries...)})
		if err != nil {
			return fmt.Errorf("the events of run %s: %w", l.run, err)
		}
		l.head, l.next = ref, l.next+int64(n)
		if first {
			if err := l.expire(ctx, liveTTL); err != nil {
				return err
			}
		}
		events = events[n:]
	}
	return nil
}

// expire makes the events end ttl after their last one.
func (l *eventLog) expire(ctx context.Context, ttl time.Duration) error {
	expirer, ok := l.saver.(checkpointer.Expirer)
	if !ok || l.head.ID == "" {
		return nil
	}
	if err := expirer.SetTTL(ctx, eventsThread(l.run), ttl); err != nil && !errors.Is(err, checkpointer.ErrNotFound) {
		return fmt.Errorf("the events of run %s: %w", l.run, err)
	}
	return nil
}

// stored yields the events of a run from position n on that the store has.
func stored(ctx context.Context, saver checkpointer.Saver, run string, n int64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for m, err := range saver.Messages(ctx, checkpointer.Ref{Thread: eventsThread(run)}, checkpointer.Range{From: n}) {
			if errors.Is(err, checkpointer.ErrNotFound) {
				yield(Event{}, fmt.Errorf("%w: %s", ErrGone, run))
				return
			}
			var e Event
			if err == nil {
				if err = json.Unmarshal([]byte(m.Text()), &e); err != nil {
					err = fmt.Errorf("%w: an event of run %s: %w", checkpointer.ErrFormat, run, err)
				}
				e.Seq = m.Seq
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}
