package redissaver

import (
	"context"
	_ "embed"
	"strconv"

	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

//go:embed lua/delete.lua
var luaDelete string

//go:embed lua/unlist.lua
var luaUnlist string

var (
	deleteScript = script(luaToken, luaLib, luaFence, luaLease, luaDelete)
	unlistScript = script(luaUnlist)
)

// DeleteThread implements [checkpointer.Saver]. Without a fence in ctx it takes the
// lease from a holder. What stays is one key, the fence, for a day.
func (s *Saver) DeleteThread(ctx context.Context, thread string) error {
	const op = "delete"
	if err := record.CheckThread(thread); err != nil {
		return record.Wrap(op, thread, err)
	}
	out, err := s.eval(ctx, request{op: op, thread: thread, script: deleteScript, write: true,
		keys: append(s.threadKeys(thread), s.fenceKey(thread)), args: []any{fenceOf(ctx, thread)}})
	if err != nil {
		return err
	}
	r := &reply{items: out[1:]}
	deleted := r.int()
	if r.bad {
		return record.Wrap(op, thread, malformed("a reply"))
	}
	// Best effort: a listing leaves the thread out in any case.
	_ = s.unlist(ctx, op, thread, deleted, false)
	return nil
}

// unlist takes a thread out of the index, unless it was put to at or after the score
// (exact: unless its score has changed).
func (s *Saver) unlist(ctx context.Context, op, thread string, score int64, exact bool) error {
	_, err := s.eval(ctx, request{op: op, thread: thread, script: unlistScript, write: true,
		keys: []string{s.indexKey()}, args: []any{thread, strconv.FormatInt(score, 10), flag(exact)}})
	return err
}
