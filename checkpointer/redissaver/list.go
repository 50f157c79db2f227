package redissaver

import (
	"context"
	_ "embed"
	"iter"
	"math"
	"slices"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

//go:embed lua/list.lua
var luaList string

var listScript = script(luaLib, luaState, luaList)

// A page of List holds at most this many checkpoints, with and without a limit.
const (
	limitedRows   = 500
	unlimitedRows = 100
)

// List implements [checkpointer.Saver]. One round trip looks at 2,000 checkpoints where
// a namespace or a filter is given, so a rare match in a long thread takes several.
func (s *Saver) List(ctx context.Context, q checkpointer.Query) iter.Seq2[checkpointer.Checkpoint, error] {
	const op = "list"
	return func(yield func(checkpointer.Checkpoint, error) bool) {
		args, err := listArgs(q)
		if err != nil {
			yield(checkpointer.Checkpoint{}, record.Wrap(op, q.Thread, err))
			return
		}
		left, most := math.MaxInt, unlimitedRows
		if q.Limit != nil {
			left, most = *q.Limit, limitedRows
		}
		for cursor := int64(0); left > 0; {
			page := slices.Concat(args.before, []any{cursor, min(left, most), pageBytes}, args.after)
			out, err := s.eval(ctx, request{op: op, thread: q.Thread, script: listScript,
				keys: s.threadKeys(q.Thread), args: page})
			var rows []checkpointer.Checkpoint
			if err == nil {
				cursor, rows, err = parseRows(q.Thread, out)
			}
			if err != nil {
				yield(checkpointer.Checkpoint{}, err)
				return
			}
			for _, c := range rows {
				if !yield(c, nil) {
					return
				}
			}
			left -= len(rows)
			if cursor == 0 {
				return
			}
		}
	}
}

// listing holds the arguments of lua/list.lua before and after those of the page.
type listing struct{ before, after []any }

func listArgs(q checkpointer.Query) (listing, error) {
	if err := record.CheckQuery(q); err != nil {
		return listing{}, err
	}
	texts, err := record.Metadata(q.Filter)
	if err != nil {
		return listing{}, err
	}
	namespace := ""
	if q.Namespace != nil {
		namespace = *q.Namespace
	}
	filter := &arguments{}
	filter.pairs(texts)
	return listing{[]any{flag(q.Namespace == nil), namespace, q.Before.Namespace, q.Before.ID}, filter.args}, filter.check()
}

func parseRows(thread string, out []any) (cursor int64, rows []checkpointer.Checkpoint, err error) {
	r := &reply{items: out[1:]}
	cursor = r.int()
	l, held := r.list(), r.values()
	for len(l.items) > 0 && !l.bad {
		row, c := l.list(), checkpointer.Checkpoint{}
		namespace, id, ok := splitRow(row.text())
		c.Ref = checkpointer.Ref{Thread: thread, Namespace: namespace, ID: id}
		c.Parent = row.text()
		row.int() // the sequence number
		c.Length, c.Time, c.Metadata, c.Channels = row.int(), row.time(), row.metadata(), row.channels(held)
		l.bad = l.bad || row.bad || !ok
		rows = append(rows, c)
	}
	if r.bad || l.bad {
		return 0, nil, record.Wrap("list", thread, malformed("a checkpoint"))
	}
	return cursor, rows, nil
}
