package redissaver

import (
	"context"
	_ "embed"
	"errors"
	"iter"
	"math"
	"slices"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

//go:embed lua/list.lua
var luaList string

//go:embed lua/line.lua
var luaLine string

var (
	listScript = script(luaLib, luaState, luaPending, luaList)
	lineScript = script(luaLib, luaLog, luaState, luaPending, luaLine)
)

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
		cursor, asked := int64(0), left > 0 || q.Before.ID != "" || q.BeforeID != ""
		for ; asked; asked = left > 0 && cursor != 0 {
			page := slices.Concat(args.before, []any{cursor, min(left, most), pageBytes}, args.after)
			out, err := s.eval(ctx, request{op: op, thread: q.Thread, script: listScript, keys: s.threadKeys(q.Thread), args: page})
			var rows []checkpointer.Checkpoint
			if err == nil {
				r := &reply{items: out[1:]}
				cursor = r.int()
				rows, err = parseRows(q.Thread, q.Select, r)
				err = record.Wrap(op, q.Thread, err)
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
	namespace, where, before := "", "", q.Before.ID
	if q.Namespace != nil {
		namespace = *q.Namespace
	}
	switch {
	case q.Before.ID != "":
		where = "at"
	case q.BeforeID != "":
		where, before = "any", q.BeforeID
	}
	filter := &arguments{}
	filter.pairs(texts)
	after := slices.Concat([]any{flag(q.Select.Writes)}, selectArgs(q.Select), filter.args)
	return listing{[]any{flag(q.Namespace == nil), namespace, where, q.Before.Namespace, before}, after}, filter.check()
}

// Ancestors implements [checkpointer.Walker].
func (s *Saver) Ancestors(ctx context.Context, at checkpointer.Ref, sel checkpointer.Selection, limit *int) iter.Seq2[checkpointer.Checkpoint, error] {
	const op = "ancestors"
	return func(yield func(checkpointer.Checkpoint, error) bool) {
		if err := record.CheckAncestors(at, sel, limit); err != nil {
			yield(checkpointer.Checkpoint{}, record.Wrap(op, at.Thread, err))
			return
		}
		left, most := math.MaxInt, unlimitedRows
		if limit != nil {
			left, most = *limit, limitedRows
		}
		for next, first := at, true; left > 0; first = false {
			args := append([]any{next.Namespace, next.ID, min(left, most), pageBytes, flag(sel.Writes)}, selectArgs(sel)...)
			out, err := s.eval(ctx, request{op: op, thread: at.Thread, script: lineScript, keys: s.threadKeys(at.Thread), args: args})
			var rows []checkpointer.Checkpoint
			if err == nil {
				r := &reply{items: out[1:]}
				next.ID = r.text()
				rows, err = parseRows(at.Thread, sel, r)
				err = record.Wrap(op, at.Thread, err)
			}
			// A checkpoint that a prune took between two pages is where the line ends.
			if errors.Is(err, checkpointer.ErrNotFound) && !first {
				return
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
			if next.ID == "" {
				return
			}
		}
	}
}
