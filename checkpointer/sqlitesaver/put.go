package sqlitesaver

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

// Put implements checkpointer.Saver.
func (s *Saver) Put(ctx context.Context, parent checkpointer.Ref, step checkpointer.Step) (checkpointer.Ref, error) {
	return s.put(ctx, parent, step, func(*tx) error { return nil })
}

// put calls after in the transaction that stores the step.
func (s *Saver) put(ctx context.Context, parent checkpointer.Ref, step checkpointer.Step, after func(q *tx) error) (checkpointer.Ref, error) {
	const op = "put"
	p, err := record.NewPut(parent, step)
	if err != nil {
		return checkpointer.Ref{}, record.Wrap(op, parent.Thread, err)
	}
	if step.ID == "" {
		step.ID = langrooms.NewID()
	}
	ref := checkpointer.Ref{Thread: parent.Thread, Namespace: parent.Namespace, ID: step.ID}
	err = s.write(ctx, op, parent.Thread, func(q *tx) error {
		if err := put(q, parent, ref, step, p); err != nil {
			return err
		}
		return after(q)
	})
	if err != nil {
		return checkpointer.Ref{}, err
	}
	return ref, nil
}

func put(q *tx, parent, ref checkpointer.Ref, step checkpointer.Step, p record.Put) error {
	tid, err := makeThread(q, ref.Thread)
	if err != nil {
		return err
	}
	switch there, err := find(q, ref); {
	case err == nil && bytes.Equal(there.digest, p.Digest):
		return nil
	case err == nil:
		return fmt.Errorf("checkpoint %q has other content: %w", ref.ID, checkpointer.ErrConflict)
	case !errors.Is(err, checkpointer.ErrNotFound):
		return err
	}
	before, err := parentRow(q, parent, step.Fork)
	if err != nil {
		return err
	}
	base := before
	if step.Base != "" {
		if base, err = find(q, checkpointer.Ref{Thread: ref.Thread, Namespace: ref.Namespace, ID: step.Base}); err != nil {
			return err
		}
	}
	r := newRow(tid, ref, before, base, step.Time)
	r.metadata, r.digest = p.Metadata, p.Digest
	r.removeChannels(step)
	grown, err := r.changeLogs(q, step, p)
	if err != nil {
		return err
	}
	return insertRow(q, r, step.Channels, grown)
}

// parentRow returns the row that a put goes after, nil for a root.
func parentRow(q *tx, parent checkpointer.Ref, fork bool) (*row, error) {
	newest, err := find(q, checkpointer.Ref{Thread: parent.Thread, Namespace: parent.Namespace})
	if errors.Is(err, checkpointer.ErrNotFound) {
		if parent.ID != "" {
			return nil, notFound(parent)
		}
		return nil, nil
	}
	if err != nil || newest.ref.ID == parent.ID {
		return newest, err
	}
	var before *row
	if parent.ID != "" {
		if before, err = find(q, parent); err != nil {
			return nil, err
		}
	}
	if !fork {
		return nil, fmt.Errorf("the newest checkpoint is %q, not %q: %w", newest.ref.ID, parent.ID, checkpointer.ErrConflict)
	}
	return before, nil
}

// newRow returns a row after parent with what base holds; either may be nil.
func newRow(tid int64, ref checkpointer.Ref, parent, base *row, when time.Time) *row {
	r := &row{tid: tid, ref: ref, time: when, channels: map[string]int64{}, logs: map[string]logAt{}, digest: []byte{}}
	if r.time.IsZero() {
		r.time = time.Now()
	}
	if parent != nil {
		r.parent = parent.ref.ID
	}
	if base != nil {
		maps.Copy(r.channels, base.channels)
		maps.Copy(r.logs, base.logs)
	}
	return r
}

func (r *row) removeChannels(step checkpointer.Step) {
	for _, name := range step.Remove {
		if _, there := r.channels[name]; there {
			delete(r.channels, name)
			r.changed = append(r.changed, name)
		}
	}
}

// changeLogs goes on with every log that the step appends to or cuts, and returns their
// names.
func (r *row) changeLogs(q *tx, step checkpointer.Step, p record.Put) (grown []string, err error) {
	change := func(name string, truncate *int64, entries []record.Entry) {
		at := r.logs[name]
		cut := truncate != nil && *truncate < at.Length
		if err != nil || !cut && len(entries) == 0 {
			return
		}
		if at, err = branch(q, r, at, truncate); err != nil {
			return
		}
		at.Length, err = appendLog(q, at.Lid, at.Length, entries)
		r.logs[name], grown = at, append(grown, name)
	}
	change(checkpointer.LogMessages, step.Truncate, p.Log)
	for name, entries := range p.Logs {
		bound, cut := step.TruncateLogs[name]
		change(name, where(bound, cut), entries)
	}
	for name, bound := range step.TruncateLogs {
		if len(p.Logs[name]) == 0 {
			change(name, &bound, nil)
		}
	}
	return grown, err
}

func where(bound int64, set bool) *int64 {
	if !set {
		return nil
	}
	return &bound
}

// branch returns the place in a log that a checkpoint after one at the place at, which
// may have none yet, appends at.
func branch(q *tx, r *row, at logAt, truncate *int64) (next logAt, err error) {
	const newLog = "INSERT INTO logs (tid, parent, parent_length, bound, length) VALUES (?, ?, ?, ?, ?)"
	if at.Lid == 0 {
		next.Lid, err = q.insert(newLog, r.tid, nil, 0, 0, 0)
		return next, err
	}
	var length int64
	if err := q.row("SELECT length FROM logs WHERE lid = ?", at.Lid).Scan(&length); err != nil {
		return next, missing(err, "the log", r)
	}
	bound := at.Length
	if truncate != nil {
		bound = min(bound, *truncate)
	}
	if bound == length {
		return at, nil
	}
	next.Lid, err = q.insert(newLog, r.tid, at.Lid, at.Length, bound, bound)
	next.Length = bound
	return next, err
}

// missing makes an absent row that a checkpoint refers to an ErrFormat.
func missing(err error, what string, r *row) error {
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%w: %s of checkpoint %q is missing", checkpointer.ErrFormat, what, r.ref.ID)
	}
	return err
}

// appendLog writes entries to a log of that length and returns the new one.
func appendLog(q *tx, lid, length int64, entries []record.Entry) (int64, error) {
	if len(entries) == 0 {
		return length, nil
	}
	for _, e := range entries {
		if err := appendEntry(q, lid, length, e); err != nil {
			return 0, err
		}
		length++
	}
	return length, q.exec("UPDATE logs SET length = ? WHERE lid = ?", length, lid)
}

func appendEntry(q *tx, lid, pos int64, e record.Entry) error {
	op, data := opReset, []byte{}
	switch e.Op {
	case checkpointer.OpAppend:
		return q.exec("INSERT INTO messages (lid, pos, id, data) VALUES (?, ?, ?, ?)", lid, pos, []byte(e.ID), e.Data)
	case checkpointer.OpReplace:
		op, data = opReplace, e.Data
	case checkpointer.OpRemove:
		op = opRemove
	}
	return q.exec("INSERT INTO changes (lid, id, op, pos, data) VALUES (?, ?, ?, ?, ?)", lid, []byte(e.ID), op, pos, data)
}

// insertRow makes r the newest checkpoint, with the values of the channels it sets and
// the logs that it changed.
func insertRow(q *tx, r *row, set map[string][]byte, grown []string) error {
	seq, err := q.insert(`INSERT INTO checkpoints (tid, ns, id, parent, time, lid, length, channels, metadata, digest)
		VALUES (?, ?, ?, ?, ?, ?, ?, x'', x'', ?)`, r.tid, []byte(r.ref.Namespace), []byte(r.ref.ID), []byte(r.parent),
		r.time.UTC().Format(time.RFC3339Nano), r.messages().Lid, r.messages().Length, r.digest)
	if err != nil {
		return err
	}
	for name, value := range set {
		r.channels[name] = seq
		r.changed = append(r.changed, name)
		err := q.exec("INSERT INTO channel_values (tid, seq, name, value) VALUES (?, ?, ?, ?)", r.tid, seq, []byte(name), append([]byte{}, value...))
		if err != nil {
			return err
		}
	}
	for _, name := range grown {
		at := r.logs[name]
		at.Version = seq
		r.logs[name] = at
	}
	slices.Sort(r.changed)
	if err := r.store(q, seq); err != nil {
		return err
	}
	if err := q.exec("DELETE FROM orphans WHERE tid = ? AND ns = ? AND id = ?", r.tid, []byte(r.ref.Namespace), []byte(r.ref.ID)); err != nil {
		return err
	}
	return arrived(q, r.tid, seq)
}

// store writes the parts of a row that are JSON.
func (r *row) store(q *tx, seq int64) error {
	raw := make(map[string]json.RawMessage, len(r.metadata))
	for key, text := range r.metadata {
		raw[key] = json.RawMessage(text)
	}
	args := make([]any, 0, 5)
	for _, part := range []any{r.channels, raw, r.logs, r.changed} {
		data, err := json.Marshal(part)
		if err != nil {
			return err
		}
		args = append(args, data)
	}
	return q.exec("UPDATE checkpoints SET channels = ?, metadata = ?, logs = ?, changed = ? WHERE seq = ?", append(args, seq)...)
}

// arrived notes the newest put of a thread.
func arrived(q *tx, tid, seq int64) error {
	now := time.Now().UnixMilli()
	err := q.exec(`UPDATE threads SET last = ?1, updated = ?2, changes = changes + 1,
		expires = CASE WHEN ttl > 0 THEN ?2 + ttl END WHERE tid = ?3`, seq, now, tid)
	if err != nil {
		return err
	}
	return sweep(q, time.UnixMilli(now))
}

// PutWrites implements checkpointer.Saver.
func (s *Saver) PutWrites(ctx context.Context, at checkpointer.Ref, task checkpointer.Task, writes []checkpointer.Write) error {
	const op = "put writes"
	if err := record.CheckWrites(at, task, writes); err != nil {
		return record.Wrap(op, at.Thread, err)
	}
	return s.write(ctx, op, at.Thread, func(q *tx) error { return putWrites(q, at, task, writes) })
}

func putWrites(q *tx, at checkpointer.Ref, task checkpointer.Task, writes []checkpointer.Write) error {
	tid, err := makeThread(q, at.Thread)
	if err != nil {
		return err
	}
	if err := touched(q, tid); err != nil {
		return err
	}
	var call int64 // the count of changes is one of calls
	if err := q.row("SELECT changes FROM threads WHERE tid = ?", tid).Scan(&call); err != nil {
		return err
	}
	for i, w := range writes {
		place, special := record.Index(i, w.Channel)
		verb := "INSERT OR IGNORE"
		if special {
			verb = "INSERT OR REPLACE"
		}
		err := q.exec(verb+" INTO writes (tid, ns, id, task, place, channel, value, path, call) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
			tid, []byte(at.Namespace), []byte(at.ID), []byte(task.ID), place, []byte(w.Channel), append([]byte{}, w.Value...), []byte(task.Path), call)
		if err != nil {
			return err
		}
	}
	return q.exec(`INSERT OR REPLACE INTO orphans (tid, ns, id, at) SELECT ?1, ?2, ?3, ?4
		WHERE NOT EXISTS (SELECT 1 FROM checkpoints WHERE tid = ?1 AND ns = ?2 AND id = ?3)`,
		tid, []byte(at.Namespace), []byte(at.ID), time.Now().UnixMilli())
}
