package redissaver

import (
	"context"
	_ "embed"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

//go:embed lua/writes.lua
var luaWrites string

var writesScript = script(luaToken, luaLib, luaFence, luaWrites)

// PutWrites implements [checkpointer.Saver].
func (s *Saver) PutWrites(ctx context.Context, at checkpointer.Ref, task checkpointer.Task, w []checkpointer.Write) error {
	const op = "put writes"
	if err := record.CheckWrites(at, task, w); err != nil {
		return record.Wrap(op, at.Thread, err)
	}
	l, token := &arguments{}, fenceOf(ctx, at.Thread)
	l.text(at.Namespace, at.ID, task.ID, task.Path, token)
	l.number(s.ttl())
	l.number(int64(len(w)))
	for i, write := range w {
		index, _ := record.Index(i, write.Channel)
		l.number(int64(index))
		l.text(write.Channel, string(write.Value))
	}
	if err := l.check(); err != nil {
		return record.Wrap(op, at.Thread, err)
	}
	_, err := s.eval(ctx, request{op: op, thread: at.Thread, script: writesScript, write: true, keys: s.fencedKeys(at.Thread, token), args: l.args})
	return err
}
