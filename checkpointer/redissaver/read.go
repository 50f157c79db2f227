package redissaver

import (
	"context"
	_ "embed"
	"fmt"
	"iter"
	"math"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

//go:embed lua/read.lua
var luaRead string

//go:embed lua/get.lua
var luaGet string

var readScript = script(luaLib, luaLog, luaState, luaPending, luaRead, luaGet)

const (
	// maxPosition keeps positions exact in Lua's numbers.
	maxPosition = 1e14
	// A page holds at most this many messages, with and without a limit of the
	// caller's, and ends after this many bytes.
	limitedPage   = 1000
	unlimitedPage = 200
	pageBytes     = 4 << 20
)

// Get implements [checkpointer.Saver].
func (s *Saver) Get(ctx context.Context, at checkpointer.Ref) (checkpointer.Checkpoint, error) {
	page, err := s.page(ctx, "get", at, span{state: true})
	return page.checkpoint, err
}

// Snapshot implements [checkpointer.Snapshotter]. A range of more than 1,000 messages or
// 4 MiB takes further round trips; a checkpoint never changes what messages it sees, so
// the answer is still of one moment.
func (s *Saver) Snapshot(ctx context.Context, at checkpointer.Ref, r checkpointer.Range) (checkpointer.Checkpoint, []langrooms.Message, error) {
	const op = "snapshot"
	sp, err := spanOf(r, limitedPage)
	if err != nil {
		return checkpointer.Checkpoint{}, nil, record.Wrap(op, at.Thread, err)
	}
	sp.state = true
	first, err := s.page(ctx, op, at, sp)
	if err != nil {
		return checkpointer.Checkpoint{}, nil, err
	}
	messages := first.messages
	for sp = sp.after(first); sp.open(); {
		sp.state = false
		next, err := s.page(ctx, op, first.checkpoint.Ref, sp)
		if err != nil {
			return checkpointer.Checkpoint{}, nil, err
		}
		messages = append(messages, next.messages...)
		sp = sp.after(next)
	}
	return first.checkpoint, messages, nil
}

// Messages implements [checkpointer.Saver].
func (s *Saver) Messages(ctx context.Context, at checkpointer.Ref, r checkpointer.Range) iter.Seq2[langrooms.Message, error] {
	const op = "messages"
	return func(yield func(langrooms.Message, error) bool) {
		sp, err := spanOf(r, unlimitedPage)
		if err != nil {
			yield(langrooms.Message{}, record.Wrap(op, at.Thread, err))
			return
		}
		for first := true; first || sp.open(); first = false {
			page, err := s.page(ctx, op, at, sp)
			if err != nil {
				yield(langrooms.Message{}, err)
				return
			}
			for _, m := range page.messages {
				if !yield(m, nil) {
					return
				}
			}
			at, sp = page.checkpoint.Ref, sp.after(page)
		}
	}
}

// span is what one page is asked for.
type span struct {
	state    bool // channels and pending writes too
	from, to int64
	left     int // messages still wanted
	most     int // messages in one page
	backward bool
}

func spanOf(r checkpointer.Range, unlimited int) (span, error) {
	sp := span{from: r.From, to: r.To, left: math.MaxInt, most: unlimited, backward: r.Backward}
	if err := record.CheckRange(r); err != nil {
		return sp, err
	}
	if r.Limit != nil {
		sp.left, sp.most = *r.Limit, limitedPage
	}
	if r.To == 0 {
		sp.to = maxPosition
	}
	sp.from, sp.to = min(sp.from, maxPosition), min(sp.to, maxPosition)
	return sp, nil
}

func (sp span) open() bool { return sp.left > 0 && sp.from < sp.to }

// after is what remains of sp when page has been read.
func (sp span) after(page page) span {
	sp.left -= len(page.messages)
	switch {
	case page.next < 0:
		sp.left = 0
	case sp.backward:
		sp.to = page.next
	default:
		sp.from = page.next
	}
	return sp
}

type page struct {
	checkpoint checkpointer.Checkpoint
	messages   []langrooms.Message
	next       int64
}

func (s *Saver) page(ctx context.Context, op string, at checkpointer.Ref, sp span) (page, error) {
	if err := record.CheckRef(at); err != nil {
		return page{}, record.Wrap(op, at.Thread, err)
	}
	limit, ttl := 0, ""
	if sp.open() {
		limit = min(sp.left, sp.most)
	}
	if s.config.RefreshOnRead {
		ttl = fmt.Sprint(s.ttl())
	}
	out, err := s.eval(ctx, request{op: op, thread: at.Thread, script: readScript, write: s.config.RefreshOnRead, keys: s.threadKeys(at.Thread),
		args: []any{at.Namespace, at.ID, flag(sp.state), ttl, sp.from, sp.to, limit, flag(sp.backward), pageBytes}})
	if err != nil {
		return page{}, err
	}
	p, err := parsePage(at, out)
	if err != nil {
		return page{}, record.Wrap(op, at.Thread, err)
	}
	return p, nil
}
