package redissaver

import (
	"context"
	_ "embed"
	"fmt"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

//go:embed lua/prune.lua
var luaPrune string

//go:embed lua/compact.lua
var luaCompact string

//go:embed lua/ttl.lua
var luaTTL string

var (
	pruneScript   = script(luaToken, luaLib, luaFence, luaLog, luaState, luaPending, luaPrune)
	compactScript = script(luaToken, luaLib, luaFence, luaLog, luaEdit, luaCompact)
	ttlScript     = script(luaLib, luaTTL)
)

// Prune implements [checkpointer.Pruner]. It is one script whose work grows with the
// thread, and the one operation that is not repeated after a lost answer, because its
// count would be wrong. A thread that does not exist has nothing to prune.
func (s *Saver) Prune(ctx context.Context, thread string, r checkpointer.Retention) (removed int, err error) {
	const op = "prune"
	if err := record.CheckPrune(thread, r); err != nil {
		return 0, record.Wrap(op, thread, err)
	}
	run, before := "", ""
	if r.RunID != "" {
		run = record.RunID(r.RunID)
	}
	if !r.Before.IsZero() {
		before = r.Before.UTC().Format(time.RFC3339Nano)
	}
	token := fenceOf(ctx, thread)
	out, err := s.eval(ctx, request{op: op, thread: thread, script: pruneScript, write: true, once: true,
		keys: s.fencedKeys(thread, token), args: []any{r.Keep, before, run, token}})
	if err != nil {
		return 0, err
	}
	answer := &reply{items: out[1:]}
	removed = int(answer.int())
	if answer.bad {
		return 0, record.Wrap(op, thread, malformed("a reply"))
	}
	return removed, nil
}

// Compact implements [checkpointer.Compacter]. The new checkpoint's metadata is
// source=update.
func (s *Saver) Compact(ctx context.Context, at checkpointer.Ref, summary langrooms.Message, keep int) (checkpointer.Ref, error) {
	data, err := record.CheckCompact(at, summary, keep)
	if err != nil {
		return checkpointer.Ref{}, record.Wrap("compact", at.Thread, err)
	}
	return s.compact(ctx, at, "", summary.ID, string(data), keep)
}

// compact is Compact of the log named, "" for the messages.
func (s *Saver) compact(ctx context.Context, at checkpointer.Ref, log, id, summary string, keep int) (checkpointer.Ref, error) {
	const op = "compact"
	if len(summary) > checkpointer.MaxValue {
		return checkpointer.Ref{}, record.Wrap(op, at.Thread,
			fmt.Errorf("%w: the summary is %d bytes long, at most %d are allowed", checkpointer.ErrTooLarge, len(summary), checkpointer.MaxValue))
	}
	l, token := &arguments{}, fenceOf(ctx, at.Thread)
	l.text(at.Namespace, at.ID, langrooms.NewID(), log, time.Now().UTC().Format(time.RFC3339Nano), token)
	l.number(s.ttl())
	l.text(packed(record.WithSource(nil, "update")))
	l.number(int64(keep))
	l.text(id, summary)
	out, err := s.eval(ctx, request{op: op, thread: at.Thread, script: compactScript, write: true, keys: s.fencedKeys(at.Thread, token), args: l.args})
	if err != nil {
		return checkpointer.Ref{}, err
	}
	r := &reply{items: out[1:]}
	at.ID = r.text()
	due := r.list()
	if r.bad {
		return checkpointer.Ref{}, record.Wrap(op, at.Thread, malformed("a reply"))
	}
	if err := s.tell(ctx, op, at.Thread, due.items); err != nil {
		return checkpointer.Ref{}, err
	}
	return at, nil
}

// SetTTL implements [checkpointer.Expirer], in whole milliseconds, rounded up.
func (s *Saver) SetTTL(ctx context.Context, thread string, ttl time.Duration) error {
	const op = "set TTL"
	if err := record.CheckTTL(thread, ttl); err != nil {
		return record.Wrap(op, thread, err)
	}
	_, err := s.eval(ctx, request{op: op, thread: thread, script: ttlScript, write: true, keys: s.threadKeys(thread), args: []any{millis(ttl)}})
	return err
}
