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

//go:embed lua/fastread.lua
var luaFastRead string

var readScript = quickly(source(luaLib, luaLog, luaState, luaPending, luaRead, luaGet), luaFastRead+
	"local done, answer = pcall(quick, 0)\nif done and answer then return answer end\nreturn slow()\n")

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
	return s.Select(ctx, at, checkpointer.Selection{Writes: true})
}

// Select implements [checkpointer.Selector].
func (s *Saver) Select(ctx context.Context, at checkpointer.Ref, sel checkpointer.Selection) (checkpointer.Checkpoint, error) {
	const op = "get"
	if err := record.CheckSelection(sel); err != nil {
		return checkpointer.Checkpoint{}, record.Wrap(op, at.Thread, err)
	}
	page, err := s.page(ctx, op, at, span{sel: sel})
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
	sp.sel = checkpointer.Selection{Writes: true}
	first, err := s.page(ctx, op, at, sp)
	if err != nil {
		return checkpointer.Checkpoint{}, nil, err
	}
	messages, err := s.rest(ctx, op, first, sp)
	return first.checkpoint, messages, err
}

// rest decodes the messages of the first page of sp and reads the further ones.
func (s *Saver) rest(ctx context.Context, op string, first page, sp span) ([]langrooms.Message, error) {
	messages, err := first.messages(op)
	for sp = sp.after(first); err == nil && sp.open(); {
		sp.sel = nothing
		var next page
		if next, err = s.page(ctx, op, first.checkpoint.Ref, sp); err != nil {
			break
		}
		var more []langrooms.Message
		more, err = next.messages(op)
		messages = append(messages, more...)
		sp = sp.after(next)
	}
	return messages, err
}

// Messages implements [checkpointer.Saver].
func (s *Saver) Messages(ctx context.Context, at checkpointer.Ref, r checkpointer.Range) iter.Seq2[langrooms.Message, error] {
	const op = "messages"
	return func(yield func(langrooms.Message, error) bool) {
		for e, err := range s.entries(ctx, op, at, "", r) {
			var m langrooms.Message
			if err == nil {
				m, err = record.Decode([]byte(e.data), e.seq)
				err = record.Wrap(op, at.Thread, err)
			}
			if !yield(m, err) || err != nil {
				return
			}
		}
	}
}

// entries yields the stored entries of a log, "" for the messages.
func (s *Saver) entries(ctx context.Context, op string, at checkpointer.Ref, log string, r checkpointer.Range) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		sp, err := spanOf(r, unlimitedPage)
		if err != nil {
			yield(entry{}, record.Wrap(op, at.Thread, err))
			return
		}
		sp.log, sp.sel = log, nothing
		for first := true; first || sp.open(); first = false {
			page, err := s.page(ctx, op, at, sp)
			if err != nil {
				yield(entry{}, err)
				return
			}
			for _, e := range page.entries {
				if !yield(e, nil) {
					return
				}
			}
			at, sp = page.checkpoint.Ref, sp.after(page)
		}
	}
}

// nothing selects no part of a checkpoint.
var nothing = checkpointer.Selection{Channels: []string{}}

// span is what one page is asked for.
type span struct {
	sel      checkpointer.Selection
	log      string // "" for the messages
	from, to int64
	left     int // entries still wanted
	most     int // entries in one page
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
	sp.left -= len(page.entries)
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
	entries    []entry
	next       int64
}

func (p page) messages(op string) ([]langrooms.Message, error) {
	messages := make([]langrooms.Message, len(p.entries))
	for i, e := range p.entries {
		var err error
		if messages[i], err = record.Decode([]byte(e.data), e.seq); err != nil {
			return nil, record.Wrap(op, p.checkpoint.Ref.Thread, err)
		}
	}
	return messages, nil
}

func (s *Saver) page(ctx context.Context, op string, at checkpointer.Ref, sp span) (page, error) {
	if err := record.CheckRef(at); err != nil {
		return page{}, record.Wrap(op, at.Thread, err)
	}
	out, err := s.eval(ctx, request{op: op, thread: at.Thread, script: readScript, write: s.config.RefreshOnRead,
		keys: s.threadKeys(at.Thread), args: s.readArgs(at, sp)})
	if err != nil {
		return page{}, err
	}
	p, err := parsePage(at.Thread, sp.sel, out[1:])
	return p, record.Wrap(op, at.Thread, err)
}

// readArgs lists the arguments of lua/read.lua.
func (s *Saver) readArgs(at checkpointer.Ref, sp span) []any {
	limit, ttl := 0, ""
	if sp.open() {
		limit = min(sp.left, sp.most)
	}
	if s.config.RefreshOnRead {
		ttl = fmt.Sprint(s.ttl())
	}
	args := []any{at.Namespace, at.ID, sp.log, flag(sp.sel.Writes), ttl, sp.from, sp.to, limit, flag(sp.backward), pageBytes}
	return append(args, selectArgs(sp.sel)...)
}

// selectArgs lists the selected channels as lua/state.lua reads them.
func selectArgs(sel checkpointer.Selection) []any {
	if sel.Channels == nil {
		return []any{"*"}
	}
	args := []any{len(sel.Channels)}
	for _, name := range sel.Channels {
		args = append(args, name)
	}
	return args
}
