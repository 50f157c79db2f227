package checkpointertest

import (
	"context"
	"iter"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

// newer are the replaceable methods of the abilities that read and write more than
// messages.
type newer struct {
	sel        func(ctx context.Context, at checkpointer.Ref, sel checkpointer.Selection) (checkpointer.Checkpoint, error)
	ancestors  func(ctx context.Context, at checkpointer.Ref, sel checkpointer.Selection, limit *int) iter.Seq2[checkpointer.Checkpoint, error]
	entries    func(ctx context.Context, at checkpointer.Ref, log string, r checkpointer.Range) iter.Seq2[checkpointer.LogItem, error]
	compactLog func(ctx context.Context, at checkpointer.Ref, log string, summary checkpointer.LogItem, keep int) (checkpointer.Ref, error)
	copyThread func(ctx context.Context, from, to string) error
	lockHead   func(ctx context.Context, at checkpointer.Ref, r checkpointer.Range) (checkpointer.Lease, checkpointer.Checkpoint, []langrooms.Message, error)
}

func newNewer(f full) newer {
	return newer{f.Select, f.Ancestors, f.Entries, f.CompactLog, f.CopyThread, f.LockHead}
}

func (h *hooks) Select(ctx context.Context, at checkpointer.Ref, sel checkpointer.Selection) (checkpointer.Checkpoint, error) {
	return h.sel(ctx, at, sel)
}

func (h *hooks) Ancestors(ctx context.Context, at checkpointer.Ref, sel checkpointer.Selection, limit *int) iter.Seq2[checkpointer.Checkpoint, error] {
	return h.ancestors(ctx, at, sel, limit)
}

func (h *hooks) Entries(ctx context.Context, at checkpointer.Ref, log string, r checkpointer.Range) iter.Seq2[checkpointer.LogItem, error] {
	return h.entries(ctx, at, log, r)
}

func (h *hooks) CompactLog(ctx context.Context, at checkpointer.Ref, log string, summary checkpointer.LogItem, keep int) (checkpointer.Ref, error) {
	return h.compactLog(ctx, at, log, summary, keep)
}

func (h *hooks) CopyThread(ctx context.Context, from, to string) error {
	return h.copyThread(ctx, from, to)
}

func (h *hooks) LockHead(ctx context.Context, at checkpointer.Ref, r checkpointer.Range) (checkpointer.Lease, checkpointer.Checkpoint, []langrooms.Message, error) {
	return h.lockHead(ctx, at, r)
}
