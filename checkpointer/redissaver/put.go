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
)

//go:embed lua/put.lua
var luaPut string

var putScript = script(luaToken, luaLib, luaFence, luaLog, luaEdit, luaPut)

// Put implements [checkpointer.Saver].
func (s *Saver) Put(ctx context.Context, parent checkpointer.Ref, step checkpointer.Step) (checkpointer.Ref, error) {
	const op = "put"
	if step.ID == "" {
		step.ID = langrooms.NewID() // before the first attempt, so that it can be repeated
	}
	ref := checkpointer.Ref{Thread: parent.Thread, Namespace: parent.Namespace, ID: step.ID}
	token := fenceOf(ctx, ref.Thread)
	put, err := record.NewPut(parent, step)
	if err != nil {
		return checkpointer.Ref{}, record.Wrap(op, ref.Thread, err)
	}
	args, err := putArgs(parent, step, put, token, s.ttl())
	if err != nil {
		return checkpointer.Ref{}, record.Wrap(op, ref.Thread, err)
	}
	out, err := s.eval(ctx, request{op: op, thread: ref.Thread, script: putScript, write: true, keys: s.fencedKeys(ref.Thread, token), args: args})
	if err != nil {
		return checkpointer.Ref{}, err
	}
	if err := s.tell(ctx, op, ref.Thread, out); err != nil {
		return checkpointer.Ref{}, err
	}
	return ref, nil
}

// putArgs lists the arguments of lua/put.lua.
func putArgs(parent checkpointer.Ref, step checkpointer.Step, put record.Put, fence string, ttl int64) ([]any, error) {
	at := step.Time
	if at.IsZero() {
		at = time.Now()
	}
	l := &arguments{}
	l.text(parent.Namespace, step.ID, parent.ID, at.UTC().Format(time.RFC3339Nano))
	l.text(string(put.Digest[:16]), fence)
	l.number(ttl)
	l.text(flag(step.Fork), cutOf(step), packed(put.Metadata), flag(edits(step)))
	l.channels(step.Channels)
	l.number(int64(len(step.Remove)))
	l.text(step.Remove...)
	l.number(int64(len(put.Log)))
	for _, e := range put.Log {
		l.text(string(e.Op), e.ID, string(e.Data))
	}
	return l.args, l.check()
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
	if l.size > MaxStep {
		return fmt.Errorf("%w: %d bytes in one call, at most %d are allowed", checkpointer.ErrTooLarge, l.size, MaxStep)
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

func cutOf(step checkpointer.Step) string {
	if step.Truncate == nil {
		return ""
	}
	return strconv.FormatInt(min(*step.Truncate, maxPosition), 10)
}

func fenceOf(ctx context.Context, thread string) string {
	token, ok := checkpointer.Fence(ctx, thread)
	if !ok {
		return ""
	}
	return strconv.FormatInt(token, 10)
}

func edits(step checkpointer.Step) bool {
	return slices.ContainsFunc(step.Log, func(e checkpointer.Entry) bool { return e.Op != checkpointer.OpAppend })
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
