package exchange

import (
	"context"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

// Land puts a message that arrived outside of a turn on its thread: it waits for the
// thread, and asks stands once it holds it. When that says no, nothing is put and landed
// is false: history that was erased while the message was on its way stays erased. Nil
// always stands.
func Land(ctx context.Context, saver checkpointer.Saver, thread string, m langrooms.Message, stands func() bool) (landed bool, err error) {
	t, err := Begin(ctx, saver, thread)
	if err != nil {
		return false, err
	}
	defer func() {
		if rerr := t.End(); err == nil {
			err = rerr
		}
	}()
	if stands != nil && !stands() {
		return false, nil
	}
	if err := t.Put("room", m); err != nil {
		return false, err
	}
	return true, nil
}
