package redissaver

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

//go:embed lua/freeze.lua
var luaFreeze string

//go:embed lua/scan.lua
var luaScan string

//go:embed lua/adopt.lua
var luaAdopt string

var (
	freezeScript = script(luaLib, luaFreeze)
	scanScript   = script(luaScan)
	adoptScript  = script(luaToken, luaLib, luaFence, luaPending, luaAdopt)
)

const (
	// A page of a copy holds at most about copyPage fields, fewer when they come to more
	// than copyBytes.
	copyPage  = 1000
	copyBytes = 1 << 20
	// orderKey and writesKey are the places of two of a thread's keys (see threadKeys).
	orderKey, writesKey = 2, 5
)

// CopyThread implements [checkpointer.Copier]. The two threads may live on different servers
// of a cluster: the thread is copied in one moment on its own server, goes page by page
// through this program under keys beside the new thread's, and one script makes the new
// thread of these. A copy that is broken off leaves only such keys, which expire within ten
// minutes; one that takes longer fails. Meanwhile the thread's own server holds it twice.
func (s *Saver) CopyThread(ctx context.Context, from, to string) error {
	const op = "copy"
	if err := record.CheckCopy(from, to); err != nil {
		return record.Wrap(op, from, err)
	}
	_, err := s.eval(ctx, request{op: op, thread: to, script: infoScript, keys: s.threadKeys(to)})
	if err == nil {
		return record.Wrap(op, to, fmt.Errorf("the thread exists: %w", checkpointer.ErrConflict))
	} else if !errors.Is(err, checkpointer.ErrNotFound) {
		return err
	}
	name := langrooms.NewID()
	frozen, staged := s.stagedKeys(from, name), s.stagedKeys(to, name)
	defer s.clear(ctx, frozen)
	out, err := s.eval(ctx, request{op: op, thread: from, script: freezeScript, write: true,
		keys: append(s.threadKeys(from), frozen...), args: []any{stageLife.Milliseconds()}})
	if err != nil {
		return err
	}
	defer s.clear(ctx, staged)
	sizes, err := s.carry(ctx, to, frozen, staged, &reply{items: out[1:]})
	if err != nil {
		return err
	}
	out, err = s.eval(ctx, request{op: op, thread: to, script: adoptScript, write: true,
		keys: append(append(s.threadKeys(to), s.fenceKey(to)), staged...), args: append([]any{name, fenceOf(ctx, to), s.ttl()}, sizes...)})
	if err != nil {
		return err
	}
	return s.tell(ctx, op, to, out)
}

// carry copies the keys of a thread, of the given sizes, and returns how large the copies are.
func (s *Saver) carry(ctx context.Context, to string, frozen, staged []string, sizes *reply) ([]any, error) {
	rows, left := map[string]bool{}, make([]any, len(frozen))
	for _, k := range []int{orderKey, 0, 1, 3, 4, writesKey} { // the rows come before their writes
		dropped, err := s.copyKey(ctx, to, frozen[k], staged[k], k, rows)
		if err != nil {
			return nil, err
		}
		left[k] = dropped
	}
	for k := range left {
		left[k] = sizes.int() - left[k].(int64)
	}
	if sizes.bad {
		return nil, record.Wrap("copy", to, malformed("a reply"))
	}
	return left, nil
}

// copyKey copies the k-th key of a thread, page by page. It notes the rows that there are, and
// leaves out the pending writes of others: how many fields these are is returned.
func (s *Saver) copyKey(ctx context.Context, to, frozen, staged string, k int, rows map[string]bool) (int64, error) {
	read, write := "HSCAN", "HSET"
	if k == orderKey {
		read, write = "ZSCAN", "ZADD"
	}
	dropped := map[string]bool{}
	for cursor, count := "0", 1; ; {
		out, err := s.eval(ctx, request{op: "copy", thread: to, script: scanScript, keys: []string{frozen}, args: []any{read, cursor, count}})
		if err != nil {
			return 0, err
		}
		r, fields := &reply{items: out[1:]}, &arguments{}
		cursor = r.bytes()
		l := r.list()
		l.each(func(l *reply) {
			field, value := l.bytes(), l.bytes()
			switch row, ok := rowOfWrite(field); {
			case k == orderKey:
				rows[field] = true
				fields.text(value, field)
			case k == writesKey && ok && !rows[row]:
				dropped[field] = true
			default:
				fields.text(field, value)
			}
		})
		if r.bad || l.bad {
			return 0, record.Wrap("copy", to, malformed("a reply"))
		}
		if err := s.send(ctx, "copy", to, staged, write, fields); err != nil {
			return 0, err
		}
		if cursor == "0" {
			return int64(len(dropped)), nil
		}
		if count = min(2*count, copyPage); fields.size > copyBytes {
			count = max(1, count/4)
		}
	}
}

// rowOfWrite returns the row that a field of the pending writes is about.
func rowOfWrite(field string) (string, bool) {
	if field == "" || field[0] != 'i' && field[0] != 'd' {
		return "", false
	}
	if field[0] == 'i' {
		return field[1:], true
	}
	row, _, ok := splitRow(field[1:])
	return row, ok
}

// clear removes keys of one slot, whatever has become of ctx. Best effort: they expire.
func (s *Saver) clear(ctx context.Context, keys []string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	_, _ = s.guard(ctx, true, false, func(ctx context.Context) (any, error) { return nil, s.client.Unlink(ctx, keys...).Err() })
}
