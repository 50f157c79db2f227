package sqlitesaver

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

// Put implements checkpointer.Saver.
func (s *Saver) Put(ctx context.Context, parent checkpointer.Ref, step checkpointer.Step) (checkpointer.Ref, error) {
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
		return put(q, parent, ref, step, p)
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
	r := newRow(tid, ref, before, step)
	r.metadata, r.digest = p.Metadata, p.Digest
	if r.lid, r.length, err = branch(q, tid, before, step.Truncate); err != nil {
		return err
	}
	if r.length, err = appendLog(q, r.lid, r.length, p.Log); err != nil {
		return err
	}
	return insertRow(q, r, step.Channels)
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

// newRow returns the row of a step after parent, its log and the step's own channels
// apart.
func newRow(tid int64, ref checkpointer.Ref, parent *row, step checkpointer.Step) *row {
	r := &row{tid: tid, ref: ref, time: step.Time, channels: map[string]int64{}}
	if r.time.IsZero() {
		r.time = time.Now()
	}
	if parent != nil {
		r.parent = parent.ref.ID
		maps.Copy(r.channels, parent.channels)
	}
	for _, name := range step.Remove {
		delete(r.channels, name)
	}
	return r
}

// branch returns the log that a checkpoint after parent appends to, and its length.
func branch(q *tx, tid int64, parent *row, truncate *int64) (lid, length int64, err error) {
	const newLog = "INSERT INTO logs (tid, parent, parent_length, bound, length) VALUES (?, ?, ?, ?, ?)"
	if parent == nil {
		lid, err = q.insert(newLog, tid, nil, 0, 0, 0)
		return lid, 0, err
	}
	if err := q.row("SELECT length FROM logs WHERE lid = ?", parent.lid).Scan(&length); err != nil {
		return 0, 0, missing(err, "the log", parent)
	}
	bound := parent.length
	if truncate != nil {
		bound = min(bound, *truncate)
	}
	if bound == length {
		return parent.lid, length, nil
	}
	lid, err = q.insert(newLog, tid, parent.lid, parent.length, bound, bound)
	return lid, bound, err
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

// insertRow makes r the newest checkpoint, with the values of the channels it sets.
func insertRow(q *tx, r *row, set map[string][]byte) error {
	seq, err := q.insert(`INSERT INTO checkpoints (tid, ns, id, parent, time, lid, length, channels, metadata, digest)
		VALUES (?, ?, ?, ?, ?, ?, ?, x'', x'', ?)`, r.tid, []byte(r.ref.Namespace), []byte(r.ref.ID), []byte(r.parent),
		r.time.UTC().Format(time.RFC3339Nano), r.lid, r.length, r.digest)
	if err != nil {
		return err
	}
	for name, value := range set {
		r.channels[name] = seq
		err := q.exec("INSERT INTO channel_values (tid, seq, name, value) VALUES (?, ?, ?, ?)", r.tid, seq, []byte(name), append([]byte{}, value...))
		if err != nil {
			return err
		}
	}
	channels, err := json.Marshal(r.channels)
	if err != nil {
		return err
	}
	raw := make(map[string]json.RawMessage, len(r.metadata))
	for key, text := range r.metadata {
		raw[key] = json.RawMessage(text)
	}
	metadata, err := json.Marshal(raw)
	if err != nil {
		return err
	}
	if err := q.exec("UPDATE checkpoints SET channels = ?, metadata = ? WHERE seq = ?", channels, metadata, seq); err != nil {
		return err
	}
	now := time.Now().UnixMilli()
	err = q.exec(`UPDATE threads SET last = ?1, updated = ?2, changes = changes + 1,
		expires = CASE WHEN ttl > 0 THEN ?2 + ttl END WHERE tid = ?3`, seq, now, r.tid)
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
	return s.write(ctx, op, at.Thread, func(q *tx) error {
		tid, err := makeThread(q, at.Thread)
		if err != nil {
			return err
		}
		for i, w := range writes {
			place, special := record.Index(i, w.Channel)
			verb := "INSERT OR IGNORE"
			if special {
				verb = "INSERT OR REPLACE"
			}
			err := q.exec(verb+" INTO writes (tid, ns, id, task, place, channel, value) VALUES (?, ?, ?, ?, ?, ?, ?)",
				tid, []byte(at.Namespace), []byte(at.ID), []byte(task.ID), place, []byte(w.Channel), append([]byte{}, w.Value...))
			if err != nil {
				return err
			}
		}
		return touched(q, tid)
	})
}
