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
	importScript = script(luaToken, luaLib, luaFence, luaLog, luaImport)
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
	metadata, err := record.Metadata(c.Metadata)
	if err != nil {
		return checkpointer.Ref{}, record.Wrap(op, to, err)
	}
	l, token := &arguments{}, fenceOf(ctx, to)
	l.text(ref.Namespace, ref.ID, time.Now().UTC().Format(time.RFC3339Nano), token)
	l.number(s.ttl())
	l.text(packed(record.WithSource(metadata, "fork")))
	for _, n := range []int64{start, c.Length, fields} {
		l.number(n)
	}
	l.channels(c.Channels)
	if err := l.check(); err != nil {
		return checkpointer.Ref{}, record.Wrap(op, to, err)
	}
	out, err := s.eval(ctx, request{op: op, thread: to, script: importScript, write: true,
		keys: append(s.threadKeys(to), s.fenceKey(to), staged), args: l.args})
	if err == nil {
		err = s.tell(ctx, op, to, out)
	}
	if err != nil {
		return checkpointer.Ref{}, err
	}
	return ref, nil
}

// stage writes the messages that c sees below its length under the key staged, as
// lua/log.lua has them in log 1. It returns the position of the first and the number of
// fields.
func (s *Saver) stage(ctx context.Context, c checkpointer.Checkpoint, to, staged string) (start, fields int64, err error) {
	start = c.Length
	places := map[string][]byte{}
	for sp := (span{to: c.Length, left: math.MaxInt, most: limitedPage}); sp.open(); {
		page, err := s.page(ctx, "fork", c.Ref, sp)
		if err != nil {
			return 0, 0, err
		}
		entries := &arguments{}
		for _, m := range page.messages {
			data, err := record.Encode(m)
			if err != nil {
				return 0, 0, record.Wrap("fork", to, err)
			}
			entries.text("e1:"+strconv.FormatInt(m.Seq, 10), "a"+string(data))
			if places[m.ID] != nil {
				places[m.ID] = append(places[m.ID], ',')
			}
			places[m.ID] = strconv.AppendInt(places[m.ID], m.Seq, 10)
			start = min(start, m.Seq)
		}
		if err := s.send(ctx, to, staged, entries); err != nil {
			return 0, 0, err
		}
		fields += int64(len(page.messages))
		sp = sp.after(page)
	}
	ids := &arguments{}
	for id, list := range places {
		ids.text("m1:"+id, string(list))
		if len(ids.args) < 2*limitedPage {
			continue
		}
		if err := s.send(ctx, to, staged, ids); err != nil {
			return 0, 0, err
		}
		ids = &arguments{}
	}
	return start, fields + int64(len(places)), s.send(ctx, to, staged, ids)
}

// send stages fields and their values.
func (s *Saver) send(ctx context.Context, to, staged string, fields *arguments) error {
	if len(fields.args) == 0 {
		return nil
	}
	_, err := s.eval(ctx, request{op: "fork", thread: to, script: stageScript, write: true, keys: []string{staged},
		args: append([]any{stageLife.Milliseconds(), len(fields.args) / 2}, fields.args...)})
	return err
}
