package record

import (
	"fmt"
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

// checkPut checks the arguments of Put, the encoding of entries and metadata apart.
func checkPut(parent checkpointer.Ref, step checkpointer.Step) error {
	if err := CheckRef(parent); err != nil {
		return err
	}
	if err := checkID("checkpoint", step.ID); err != nil {
		return err
	}
	if err := checkID("base", step.Base); err != nil {
		return err
	}
	if err := checkTruncate(step); err != nil {
		return err
	}
	if _, err := step.Time.MarshalText(); err != nil {
		return invalid("the time cannot be stored: %v", err)
	}
	return checkChannels(step)
}

func checkTruncate(step checkpointer.Step) error {
	bounds := []int64{}
	if step.Truncate != nil {
		bounds = append(bounds, *step.Truncate)
	}
	for name, bound := range step.TruncateLogs {
		if err := checkLogName(name); err != nil {
			return err
		}
		bounds = append(bounds, bound)
	}
	if len(bounds) > 0 && !step.Fork {
		return invalid("Truncate needs Fork")
	}
	for _, bound := range bounds {
		if bound < 0 {
			return invalid("Truncate is negative: %d", bound)
		}
	}
	return nil
}

// checkLogName reports why name cannot be a named log's.
func checkLogName(name string) error {
	switch name {
	case "":
		return invalid("the name of a log is empty")
	case checkpointer.LogMessages:
		return invalid("the log %q is changed as messages", name)
	}
	return checkID("log", name)
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
func CheckWrites(at checkpointer.Ref, task checkpointer.Task, writes []checkpointer.Write) error {
	if err := CheckRef(at); err != nil {
		return err
	}
	if at.ID == "" {
		return invalid("the checkpoint id is empty")
	}
	if err := checkID("task", task.ID); err != nil {
		return err
	}
	if err := checkID("task path", task.Path); err != nil {
		return err
	}
	var s sizes
	for _, w := range writes {
		if err := checkID("channel", w.Channel); err != nil {
			return err
		}
		if err := s.add(len(w.Channel), len(w.Value)); err != nil {
			return fmt.Errorf("the write to %q: %w", w.Channel, err)
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
		if q.BeforeID != "" {
			return invalid("Before and BeforeID are both set")
		}
	}
	if err := checkID("checkpoint", q.BeforeID); err != nil {
		return err
	}
	if err := CheckSelection(q.Select); err != nil {
		return err
	}
	return checkLimit(q.Limit)
}

// CheckSelection checks the names of a selection.
func CheckSelection(s checkpointer.Selection) error {
	for _, name := range s.Channels {
		if err := checkID("channel", name); err != nil {
			return err
		}
	}
	return nil
}

// CheckAncestors checks the arguments of Ancestors.
func CheckAncestors(at checkpointer.Ref, sel checkpointer.Selection, limit *int) error {
	if err := CheckRef(at); err != nil {
		return err
	}
	if err := CheckSelection(sel); err != nil {
		return err
	}
	return checkLimit(limit)
}

// CheckHead checks the arguments of LockHead.
func CheckHead(at checkpointer.Ref, r checkpointer.Range) error {
	if at.ID != "" {
		return invalid("LockHead reads the newest checkpoint, not %q", at.ID)
	}
	if err := CheckRef(at); err != nil {
		return err
	}
	return CheckRange(r)
}

// CheckEntries checks the arguments of Entries.
func CheckEntries(at checkpointer.Ref, log string, r checkpointer.Range) error {
	if err := CheckRef(at); err != nil {
		return err
	}
	if log == "" {
		return invalid("the name of the log is empty")
	}
	if err := checkID("log", log); err != nil {
		return err
	}
	return CheckRange(r)
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

// CheckCopy checks the arguments of CopyThread.
func CheckCopy(from, to string) error {
	if err := CheckThread(from); err != nil {
		return err
	}
	return CheckThread(to)
}

// CheckPrune checks the arguments of Prune.
func CheckPrune(thread string, r checkpointer.Retention) error {
	if r.Keep < 0 || r.Keep == 0 && r.RunID == "" {
		return invalid("keep is %d, at least 1 checkpoint stays", r.Keep)
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

// CheckCompactLog checks the arguments of CompactLog.
func CheckCompactLog(at checkpointer.Ref, log string, summary checkpointer.LogItem, keep int) error {
	if keep < 0 {
		return invalid("keep is negative: %d", keep)
	}
	if err := CheckRef(at); err != nil {
		return err
	}
	if err := checkLogName(log); err != nil {
		return err
	}
	_, err := encodeEntry(checkpointer.LogEntry{Op: checkpointer.OpAppend, ID: summary.ID, Data: summary.Data})
	return err
}

// CheckTTL checks the arguments of SetTTL.
func CheckTTL(thread string, ttl time.Duration) error {
	if ttl < 0 {
		return invalid("the TTL is negative: %v", ttl)
	}
	return CheckThread(thread)
}
