package record

import (
	"fmt"
	"maps"
	"time"
	"unicode/utf8"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

// Wrap names the operation and the thread in an error; nil stays nil.
func Wrap(op, thread string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s of thread %q: %w", op, thread, err)
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", checkpointer.ErrInvalid, fmt.Sprintf(format, args...))
}

// checkID reports why id cannot be used as a what; an empty one can.
func checkID(what, id string) error {
	switch {
	case len(id) > checkpointer.MaxID:
		return invalid("the %s id is %d bytes long, at most %d are allowed", what, len(id), checkpointer.MaxID)
	case !utf8.ValidString(id):
		return invalid("the %s id is not valid UTF-8: %q", what, id)
	}
	return nil
}

// CheckThread reports why thread cannot name a thread; the error is ErrInvalid, as it is
// for all checks of this package.
func CheckThread(thread string) error {
	if thread == "" {
		return invalid("the thread id is empty")
	}
	return checkID("thread", thread)
}

// CheckRef reports why ref cannot name a checkpoint; its ID may be empty.
func CheckRef(ref checkpointer.Ref) error {
	if err := CheckThread(ref.Thread); err != nil {
		return err
	}
	return checkPlace(ref)
}

func checkPlace(ref checkpointer.Ref) error {
	if err := checkID("namespace", ref.Namespace); err != nil {
		return err
	}
	return checkID("checkpoint", ref.ID)
}

// CheckPut checks the arguments of Put, the messages' encoding apart (see [Log]).
func CheckPut(parent checkpointer.Ref, step checkpointer.Step) error {
	if err := CheckRef(parent); err != nil {
		return err
	}
	if err := checkID("checkpoint", step.ID); err != nil {
		return err
	}
	if t := step.Truncate; t != nil && !step.Fork {
		return invalid("Truncate needs Fork")
	} else if t != nil && *t < 0 {
		return invalid("Truncate is negative: %d", *t)
	}
	if _, err := step.Time.MarshalText(); err != nil {
		return invalid("the time cannot be stored: %v", err)
	}
	if err := checkChannels(step); err != nil {
		return err
	}
	for k, v := range step.Metadata {
		if !utf8.ValidString(k) || !utf8.ValidString(v) {
			return invalid("metadata %q is not valid UTF-8", k)
		}
	}
	return nil
}

func checkChannels(step checkpointer.Step) error {
	for name := range step.Channels {
		if err := checkID("channel", name); err != nil {
			return err
		}
	}
	for _, name := range step.Remove {
		if err := checkID("channel", name); err != nil {
			return err
		}
		if _, set := step.Channels[name]; set {
			return invalid("channel %q is both set and removed", name)
		}
	}
	return nil
}

// CheckWrites checks the arguments of PutWrites.
func CheckWrites(at checkpointer.Ref, task string, writes []checkpointer.Write) error {
	if err := CheckRef(at); err != nil {
		return err
	}
	if at.ID == "" {
		return invalid("the checkpoint id is empty")
	}
	if err := checkID("task", task); err != nil {
		return err
	}
	for _, w := range writes {
		if err := checkID("channel", w.Channel); err != nil {
			return err
		}
	}
	return nil
}

// CheckQuery checks the argument of List.
func CheckQuery(q checkpointer.Query) error {
	if err := CheckThread(q.Thread); err != nil {
		return err
	}
	if q.Namespace != nil {
		if err := checkID("namespace", *q.Namespace); err != nil {
			return err
		}
	}
	if q.Before.ID != "" {
		if err := checkPlace(q.Before); err != nil {
			return err
		}
	}
	return checkLimit(q.Limit)
}

// CheckRange checks the argument of Messages.
func CheckRange(r checkpointer.Range) error {
	if r.From < 0 || r.To < 0 {
		return invalid("the range from %d to %d has a negative bound", r.From, r.To)
	}
	return checkLimit(r.Limit)
}

func checkLimit(limit *int) error {
	if limit != nil && *limit < 0 {
		return invalid("the limit is negative: %d", *limit)
	}
	return nil
}

// CheckFork checks the arguments of Fork.
func CheckFork(at checkpointer.Ref, upTo *int64, to string) error {
	if err := CheckRef(at); err != nil {
		return err
	}
	if err := CheckThread(to); err != nil {
		return err
	}
	if upTo != nil && *upTo < 0 {
		return invalid("upTo is negative: %d", *upTo)
	}
	return nil
}

// CheckPrune checks the arguments of Prune.
func CheckPrune(thread string, keep int) error {
	if keep < 1 {
		return invalid("keep is %d, at least 1 checkpoint stays", keep)
	}
	return CheckThread(thread)
}

// CheckCompact checks the arguments of Compact and returns the summary's stored form.
func CheckCompact(at checkpointer.Ref, summary langrooms.Message, keep int) ([]byte, error) {
	if keep < 0 {
		return nil, invalid("keep is negative: %d", keep)
	}
	if err := CheckRef(at); err != nil {
		return nil, err
	}
	return Encode(summary)
}

// CheckTTL checks the arguments of SetTTL.
func CheckTTL(thread string, ttl time.Duration) error {
	if ttl < 0 {
		return invalid("the TTL is negative: %v", ttl)
	}
	return CheckThread(thread)
}

// WithSource returns a copy of metadata with LangGraph's key "source" set.
func WithSource(metadata map[string]string, source string) map[string]string {
	m := maps.Clone(metadata)
	if m == nil {
		m = map[string]string{}
	}
	m["source"] = source
	return m
}
