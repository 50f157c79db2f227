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

// stageLife is how long what was staged for a fork or a copy that was broken off remains.
const stageLife = 10 * time.Minute

// Fork implements [checkpointer.Forker]. The two threads may live on different servers
// of a cluster, so the messages go through this program: they are staged under a key of
// their own, page by page, and one script makes the new thread of them. A fork that is
// broken off leaves only the staged key, which expires within ten minutes. Channel
// values above checkpointer.MaxStep altogether are checkpointer.ErrTooLarge.
func (s *Saver) Fork(ctx context.Context, at checkpointer.Ref, upTo *int64, to string) (checkpointer.Ref, error) {
	const op = "fork"
	if err := record.CheckFork(at, upTo, to); err != nil {
		return checkpointer.Ref{}, record.Wrap(op, at.Thread, err)
	}
	from, err := s.page(ctx, op, at, span{})
	if err != nil {
		return checkpointer.Ref{}, err
	}
	c := from.checkpoint
	ref := checkpointer.Ref{Thread: to, Namespace: c.Ref.Namespace, ID: langrooms.NewID()}
	staged := s.config.Prefix + "{" + tag(to) + "}:s:" + ref.ID
	logs := []logCopy{{length: c.Length}}
	if upTo != nil {
		logs[0].length = min(c.Length, *upTo)
	}
	for name, state := range c.Logs {
		if name != checkpointer.LogMessages {
			logs = append(logs, logCopy{name: name, length: state.Length})
		}
	}
	fields := int64(0)
	for i := range logs {
		n, err := s.stage(ctx, c.Ref, to, staged, i+1, &logs[i])
		if err != nil {
			return checkpointer.Ref{}, err
		}
		fields += n
	}
	metadata, err := record.Metadata(c.Metadata)
	if err != nil {
		return checkpointer.Ref{}, record.Wrap(op, to, err)
	}
	l, token := &arguments{}, fenceOf(ctx, to)
	l.text(ref.Namespace, ref.ID, time.Now().UTC().Format(time.RFC3339Nano), token)
	l.number(s.ttl())
	l.text(packed(record.WithSource(metadata, "fork")))
	l.number(fields)
	l.channels(c.Channels)
	l.number(int64(len(logs)))
	for _, log := range logs {
		l.text(log.name)
		l.number(log.start)
		l.number(log.length)
	}
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

// logCopy is a log on its way into a fork: "" for the messages, the length that is copied, and
// the position of the first entry.
type logCopy struct {
	name          string
	length, start int64
}

// stage writes the entries of a log that the checkpoint at sees under the key staged, as
// lua/log.lua has them in log number. It returns the number of fields.
func (s *Saver) stage(ctx context.Context, at checkpointer.Ref, to, staged string, number int, log *logCopy) (fields int64, err error) {
	log.start = log.length
	places := map[string][]byte{}
	n := strconv.Itoa(number)
	for sp := (span{sel: nothing, log: log.name, to: log.length, left: math.MaxInt, most: limitedPage}); sp.open(); {
		page, err := s.page(ctx, "fork", at, sp)
		if err != nil {
			return 0, err
		}
		entries := &arguments{}
		for _, e := range page.entries {
			item, err := logItem(log.name, e)
			if err != nil {
				return 0, record.Wrap("fork", to, err)
			}
			entries.text("e"+n+":"+strconv.FormatInt(e.seq, 10), "a"+e.data)
			log.start = min(log.start, e.seq)
			if item.ID == "" {
				continue
			}
			if places[item.ID] != nil {
				places[item.ID] = append(places[item.ID], ',')
			}
			places[item.ID] = strconv.AppendInt(places[item.ID], e.seq, 10)
		}
		if err := s.send(ctx, "fork", to, staged, "HSET", entries); err != nil {
			return 0, err
		}
		fields += int64(len(page.entries))
		sp = sp.after(page)
	}
	ids := &arguments{}
	for id, list := range places {
		ids.text("m"+n+":"+id, string(list))
		if len(ids.args) < 2*limitedPage {
			continue
		}
		if err := s.send(ctx, "fork", to, staged, "HSET", ids); err != nil {
			return 0, err
		}
		ids = &arguments{}
	}
	return fields + int64(len(places)), s.send(ctx, "fork", to, staged, "HSET", ids)
}

// send stages fields and their values by the command HSET, or scores and members by ZADD.
func (s *Saver) send(ctx context.Context, op, to, staged, command string, fields *arguments) error {
	if len(fields.args) == 0 {
		return nil
	}
	_, err := s.eval(ctx, request{op: op, thread: to, script: stageScript, write: true, keys: []string{staged},
		args: append([]any{stageLife.Milliseconds(), command, len(fields.args) / 2}, fields.args...)})
	return err
}
