package redissaver

import (
	"context"
	"iter"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

// Entries implements [checkpointer.Logger].
func (s *Saver) Entries(ctx context.Context, at checkpointer.Ref, log string, r checkpointer.Range) iter.Seq2[checkpointer.LogItem, error] {
	const op = "entries"
	return func(yield func(checkpointer.LogItem, error) bool) {
		if err := record.CheckEntries(at, log, r); err != nil {
			yield(checkpointer.LogItem{}, record.Wrap(op, at.Thread, err))
			return
		}
		name := log
		if log == checkpointer.LogMessages {
			name = ""
		}
		for e, err := range s.entries(ctx, op, at, name, r) {
			var i checkpointer.LogItem
			if err == nil {
				i, err = logItem(name, e)
				err = record.Wrap(op, at.Thread, err)
			}
			if !yield(i, err) || err != nil {
				return
			}
		}
	}
}

// logItem reads the stored form of an entry of the log named, "" for the messages.
func logItem(name string, e entry) (checkpointer.LogItem, error) {
	if name == "" {
		m, err := record.Decode([]byte(e.data), e.seq)
		return checkpointer.LogItem{Seq: e.seq, ID: m.ID, Data: []byte(e.data)}, err
	}
	id, data, ok := splitRow(e.data)
	if !ok {
		return checkpointer.LogItem{}, malformed("an entry of a log")
	}
	return checkpointer.LogItem{Seq: e.seq, ID: id, Data: []byte(data)}, nil
}

// CompactLog implements [checkpointer.Logger].
func (s *Saver) CompactLog(ctx context.Context, at checkpointer.Ref, log string, summary checkpointer.LogItem, keep int) (checkpointer.Ref, error) {
	if err := record.CheckCompactLog(at, log, summary, keep); err != nil {
		return checkpointer.Ref{}, record.Wrap("compact", at.Thread, err)
	}
	return s.compact(ctx, at, log, summary.ID, item(summary.ID, summary.Data), keep)
}
