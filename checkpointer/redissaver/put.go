package redissaver

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

//go:embed lua/put.lua
var luaPut string

var putScript = script(luaLib, luaLog, luaPut)

// Put implements [checkpointer.Saver].
func (s *Saver) Put(ctx context.Context, parent checkpointer.Ref, step checkpointer.Step) (checkpointer.Ref, error) {
	const op = "put"
	if step.ID == "" {
		step.ID = langrooms.NewID() // before the first attempt, so that it can be repeated
	}
	ref := checkpointer.Ref{Thread: parent.Thread, Namespace: parent.Namespace, ID: step.ID}
	args, err := putArgs(parent, step, fenceOf(ctx, ref.Thread), s.ttl())
	if err != nil {
		return checkpointer.Ref{}, record.Wrap(op, ref.Thread, err)
	}
	out, err := s.eval(ctx, request{op: op, thread: ref.Thread, script: putScript, write: true, keys: s.threadKeys(ref.Thread), args: args})
	if err != nil {
		return checkpointer.Ref{}, err
	}
	if err := s.tell(ctx, op, ref.Thread, out); err != nil {
		return checkpointer.Ref{}, err
	}
	return ref, nil
}

// putArgs lists the arguments of lua/put.lua.
func putArgs(parent checkpointer.Ref, step checkpointer.Step, fence string, ttl int64) ([]any, error) {
	p, err := record.NewPut(parent, step)
	if err != nil {
		return nil, err
	}
	if step.Base != "" || len(step.Logs) > 0 || len(step.TruncateLogs) > 0 {
		return nil, fmt.Errorf("%w: this store has no bases and no named logs", checkpointer.ErrInvalid)
	}
	at := step.Time
	if at.IsZero() {
		at = time.Now()
	}
	l := &arguments{}
	l.text(parent.Namespace, step.ID, parent.ID, at.UTC().Format(time.RFC3339Nano))
	l.text(string(p.Digest[:16]), fence)
	l.number(ttl)
	l.text(flag(step.Fork), cutOf(step))
	l.channels(step.Channels)
	l.number(int64(len(step.Remove)))
	l.text(step.Remove...)
	l.pairs(record.Plain(p.Metadata))
	l.number(int64(len(p.Log)))
	for _, e := range p.Log {
		l.text(string(e.Op), e.ID, string(e.Data))
	}
	if len(p.Log) > MaxEntries {
		return nil, fmt.Errorf("%w: %d log entries in one step, at most %d are allowed", checkpointer.ErrTooLarge, len(p.Log), MaxEntries)
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
	return strconv.FormatInt(max(token, 0), 10)
}
