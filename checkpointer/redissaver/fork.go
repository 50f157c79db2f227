package redissaver

import (
	"context"
	_ "embed"
	"math"
	"strconv"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

//go:embed lua/stage.lua
var luaStage string

//go:embed lua/import.lua
var luaImport string

var (
	stageScript  = script(luaStage)
	importScript = script(luaLib, luaLog, luaImport)
)

// stageLife is how long the staged messages of a fork that was broken off remain.
const stageLife = 10 * time.Minute

// Fork implements [checkpointer.Forker]. The two threads may live on different servers
// of a cluster, so the messages go through this program: they are staged under a key of
// their own, page by page, and one script makes the new thread of them. A fork that is
// broken off leaves only the staged key, which expires within ten minutes. Channel
// values above [MaxStep] altogether are checkpointer.ErrTooLarge.
func (s *Saver) Fork(ctx context.Context, at checkpointer.Ref, upTo *int64, to string) (checkpointer.Ref, error) {
	const op = "fork"
	if err := record.CheckFork(at, upTo, to); err != nil {
		return checkpointer.Ref{}, record.Wrap(op, at.Thread, err)
	}
	from, err := s.page(ctx, op, at, span{state: true})
	if err != nil {
		return checkpointer.Ref{}, err
	}
	c := from.checkpoint
	if upTo != nil {
		c.Length = min(c.Length, *upTo)
	}
	ref := checkpointer.Ref{Thread: to, Namespace: c.Ref.Namespace, ID: langrooms.NewID()}
	staged := s.config.Prefix + "{" + tag(to) + "}:s:" + ref.ID
	start, fields, err := s.stage(ctx, c, to, staged)
	if err != nil {
		return checkpointer.Ref{}, err
	}
	l := &arguments{}
	l.text(ref.Namespace, ref.ID, time.Now().UTC().Format(time.RFC3339Nano), fenceOf(ctx, to))
	for _, n := range []int64{s.ttl(), start, c.Length, fields} {
		l.number(n)
	}
	l.channels(c.Channels)
	metadata, err := record.Metadata(c.Metadata)
	if err != nil {
		return checkpointer.Ref{}, record.Wrap(op, to, err)
	}
	l.pairs(record.Plain(record.WithSource(metadata, "fork")))
	if err := l.check(); err != nil {
		return checkpointer.Ref{}, record.Wrap(op, to, err)
	}
	out, err := s.eval(ctx, request{op: op, thread: to, script: importScript, write: true,
		keys: append(s.threadKeys(to), staged), args: l.args})
	if err == nil {
		err = s.tell(ctx, op, to, out)
	}
	if err != nil {
		return checkpointer.Ref{}, err
	}
	return ref, nil
}

// stage writes the messages that c sees below its length under the key staged, as
// lua/log.lua writes them. It returns the position of the first and the number of fields.
func (s *Saver) stage(ctx context.Context, c checkpointer.Checkpoint, to, staged string) (start, fields int64, err error) {
	start = c.Length
	ids := map[string]bool{}
	for sp := (span{to: c.Length, left: math.MaxInt, most: limitedPage}); sp.open(); {
		page, err := s.page(ctx, "fork", c.Ref, sp)
		if err != nil {
			return 0, 0, err
		}
		l := &arguments{}
		l.number(stageLife.Milliseconds())
		l.number(int64(len(page.messages)))
		for _, m := range page.messages {
			data, err := record.Encode(m)
			if err != nil {
				return 0, 0, record.Wrap("fork", to, err)
			}
			l.text(strconv.FormatInt(m.Seq, 10), m.ID, string(data))
			start = min(start, m.Seq)
			ids[m.ID] = true
		}
		fields += int64(len(page.messages))
		sp = sp.after(page)
		if len(page.messages) == 0 {
			continue
		}
		if _, err := s.eval(ctx, request{op: "fork", thread: to, script: stageScript, write: true, keys: []string{staged}, args: l.args}); err != nil {
			return 0, 0, err
		}
	}
	return start, fields + int64(len(ids)), nil
}
