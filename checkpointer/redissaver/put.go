package redissaver

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
	"github.com/redis/go-redis/v9"
)

//go:embed lua/put.lua
var luaPut string

//go:embed lua/putmain.lua
var luaPutMain string

//go:embed lua/fastput.lua
var luaFastPut string

var putScript = quickly(source(luaToken, luaLib, luaFence, luaLog, luaEdit, luaPut, luaPutMain), "local FIRST, OWNER = 0, nil\n"+luaFastPut)

// Put implements [checkpointer.Saver].
func (s *Saver) Put(ctx context.Context, parent checkpointer.Ref, step checkpointer.Step) (checkpointer.Ref, error) {
	return s.put(ctx, parent, step, putScript)
}

// put runs a script of puts; leading are its arguments before those of lua/put.lua.
func (s *Saver) put(ctx context.Context, parent checkpointer.Ref, step checkpointer.Step, script *redis.Script, leading ...any) (checkpointer.Ref, error) {
	const op = "put"
	if step.ID == "" {
		step.ID = langrooms.NewID() // before the first attempt, so that it can be repeated
	}
	ref := checkpointer.Ref{Thread: parent.Thread, Namespace: parent.Namespace, ID: step.ID}
	token := fenceOf(ctx, ref.Thread)
	l := &arguments{args: append(make([]any, 0, 24), leading...)}
	if err := l.put(parent, step, token, s.ttl()); err != nil {
		return checkpointer.Ref{}, record.Wrap(op, ref.Thread, err)
	}
	out, err := s.eval(ctx, request{op: op, thread: ref.Thread, script: script, write: true, keys: s.fencedKeys(ref.Thread, token), args: l.args})
	if err != nil {
		return checkpointer.Ref{}, err
	}
	if err := s.tell(ctx, op, ref.Thread, out); err != nil {
		return checkpointer.Ref{}, err
	}
	return ref, nil
}

// put adds the arguments of lua/put.lua.
func (l *arguments) put(parent checkpointer.Ref, step checkpointer.Step, fence string, ttl int64) error {
	p, err := record.NewPut(parent, step)
	if err != nil {
		return err
	}
	at := step.Time
	if at.IsZero() {
		at = time.Now()
	}
	careful := step.Truncate != nil || len(step.TruncateLogs) > 0 || edits(p.Log)
	for _, log := range p.Logs {
		careful = careful || edits(log)
	}
	l.text(parent.Namespace, step.ID, parent.ID, step.Base, at.UTC().Format(time.RFC3339Nano), string(p.Digest[:16]), fence)
	l.number(ttl)
	l.text(flag(step.Fork), packed(p.Metadata), flag(careful))
	l.channels(step.Channels)
	l.number(int64(len(step.Remove)))
	l.text(step.Remove...)
	names := slices.Collect(maps.Keys(p.Logs))
	for name := range step.TruncateLogs {
		if _, ok := p.Logs[name]; !ok {
			names = append(names, name)
		}
	}
	l.number(int64(1 + len(names)))
	l.log("", cutOf(step.Truncate), p.Log)
	for _, name := range names {
		cut := ""
		if n, ok := step.TruncateLogs[name]; ok {
			cut = cutOf(&n)
		}
		l.log(name, cut, p.Logs[name])
	}
	return l.check()
}

// log adds the changes of one log, "" for the messages.
func (l *arguments) log(name, cut string, entries []record.Entry) {
	l.text(name, cut, flag(edits(entries)))
	l.number(int64(len(entries)))
	for _, e := range entries {
		data := string(e.Data)
		if name != "" && (e.Op == checkpointer.OpAppend || e.Op == checkpointer.OpReplace) {
			data = item(e.ID, e.Data)
		}
		l.text(string(e.Op), e.ID, data)
	}
}

// item is the stored form of an entry of a named log: its id behind its length, its data.
func item(id string, data []byte) string {
	return strconv.Itoa(len(id)) + ":" + id + string(data)
}

// maxArguments stays below the 1,048,576 that the protocol allows in one command.
const maxArguments = 1_000_000

// arguments collects what a script is given, and its size.
type arguments struct {
	args []any
	size int
}

func (l *arguments) number(n int64) { l.args = append(l.args, n) }

func (l *arguments) text(values ...string) {
	for _, v := range values {
		l.args = append(l.args, v)
		l.size += len(v)
	}
}

func (l *arguments) channels(m map[string][]byte) {
	l.number(int64(len(m)))
	for name, value := range m {
		l.text(name, string(value))
	}
}

func (l *arguments) pairs(m map[string]string) {
	l.number(int64(len(m)))
	for key, value := range m {
		l.text(key, value)
	}
}

func (l *arguments) check() error {
	if l.size > checkpointer.MaxStep {
		return fmt.Errorf("%w: %d bytes in one call, at most %d are allowed", checkpointer.ErrTooLarge, l.size, checkpointer.MaxStep)
	}
	if len(l.args) > maxArguments {
		return fmt.Errorf("%w: %d pieces in one call, at most %d are allowed", checkpointer.ErrTooLarge, len(l.args), maxArguments)
	}
	return nil
}

func (s *Saver) ttl() int64 { return millis(s.config.TTL) }

// millis rounds up, so that a short TTL is not none.
func millis(d time.Duration) int64 { return int64((d + time.Millisecond - 1) / time.Millisecond) }

func flag(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

func cutOf(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(min(*n, maxPosition), 10)
}

func fenceOf(ctx context.Context, thread string) string {
	token, ok := checkpointer.Fence(ctx, thread)
	if !ok {
		return ""
	}
	return strconv.FormatInt(token, 10)
}

func edits(log []record.Entry) bool {
	return slices.ContainsFunc(log, func(e record.Entry) bool { return e.Op != checkpointer.OpAppend })
}

// packed writes metadata as it is stored: key, JSON, … each behind its length.
func packed(m map[string]string) string {
	var b []byte
	for _, key := range slices.Sorted(maps.Keys(m)) {
		value := m[key]
		b = append(strconv.AppendInt(b, int64(len(key)), 10), ':')
		b = append(strconv.AppendInt(append(b, key...), int64(len(value)), 10), ':')
		b = append(b, value...)
	}
	return string(b)
}
