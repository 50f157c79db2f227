package sqlitesaver

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

// row is one checkpoint as it is stored.
type row struct {
	seq, tid int64
	ref      checkpointer.Ref
	parent   string
	time     time.Time
	logs     map[string]logAt
	channels map[string]int64 // the seq of the checkpoint that set each
	changed  []string
	metadata map[string]string // canonical JSON
	digest   []byte
}

// logAt is where a checkpoint stands in a log, that of seq Version last changed it.
type logAt struct {
	Lid     int64 `json:"l"`
	Length  int64 `json:"n"`
	Version int64 `json:"v"`
}

// messages is where r stands in the messages.
func (r *row) messages() logAt { return r.logs[checkpointer.LogMessages] }

const rowColumns = "c.seq, c.tid, c.ns, c.id, c.parent, c.time, c.lid, c.length, c.channels, c.metadata, c.digest, c.logs, c.changed"

// scanRow reads rowColumns.
func scanRow(thread string, scan func(dest ...any) error) (*row, error) {
	r := &row{ref: checkpointer.Ref{Thread: thread}}
	var when string
	var old logAt
	var channels, metadata, logs, changed []byte
	err := scan(&r.seq, &r.tid, &r.ref.Namespace, &r.ref.ID, &r.parent, &when, &old.Lid, &old.Length, &channels, &metadata, &r.digest, &logs, &changed)
	if err != nil {
		return nil, err
	}
	var raw map[string]json.RawMessage
	if r.time, err = time.Parse(time.RFC3339Nano, when); err != nil {
		return nil, r.damaged("the time", err)
	}
	if err := json.Unmarshal(channels, &r.channels); err != nil {
		return nil, r.damaged("the channels", err)
	}
	if err := json.Unmarshal(metadata, &raw); err != nil {
		return nil, r.damaged("the metadata", err)
	}
	r.metadata = make(map[string]string, len(raw))
	for key, text := range raw {
		r.metadata[key] = string(text)
	}
	if len(logs) == 0 {
		r.ofFormat1(old)
		return r, nil
	}
	if err := json.Unmarshal(logs, &r.logs); err != nil {
		return nil, r.damaged("the logs", err)
	}
	if err := json.Unmarshal(changed, &r.changed); err != nil {
		return nil, r.damaged("the changed channels", err)
	}
	return r, nil
}

func (r *row) damaged(what string, err error) error {
	return fmt.Errorf("%w: %s of checkpoint %q: %v", checkpointer.ErrFormat, what, r.ref.ID, err)
}

// ofFormat1 derives what format 1 did not record.
func (r *row) ofFormat1(messages logAt) {
	r.logs = map[string]logAt{}
	if messages.Length > 0 {
		r.logs[checkpointer.LogMessages] = messages
	}
	for name, seq := range r.channels {
		if seq == r.seq {
			r.changed = append(r.changed, name)
		}
	}
	slices.Sort(r.changed)
}

// find returns the checkpoint that ref names in a thread that has not expired, or
// ErrNotFound.
func find(q *tx, ref checkpointer.Ref) (*row, error) {
	query := "SELECT " + rowColumns + ` FROM threads t JOIN checkpoints c ON c.tid = t.tid
		WHERE t.thread = ?1 AND (t.expires IS NULL OR t.expires > ?2) AND c.ns = ?3`
	args := []any{[]byte(ref.Thread), time.Now().UnixMilli(), []byte(ref.Namespace)}
	if ref.ID == "" {
		query += " ORDER BY c.seq DESC LIMIT 1"
	} else {
		query += " AND c.id = ?4"
		args = append(args, []byte(ref.ID))
	}
	r, err := scanRow(ref.Thread, q.row(query, args...).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, notFound(ref)
	}
	return r, err
}

func notFound(ref checkpointer.Ref) error {
	return fmt.Errorf("checkpoint %q in namespace %q: %w", ref.ID, ref.Namespace, checkpointer.ErrNotFound)
}

// findThread returns the number of a thread, 0 when there is none. An expired one is
// removed, so q must be a write transaction.
func findThread(q *tx, thread string) (tid int64, err error) {
	var expires sql.NullInt64
	err = q.row("SELECT tid, expires FROM threads WHERE thread = ?", []byte(thread)).Scan(&tid, &expires)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return 0, nil
	case err != nil:
		return 0, err
	case expires.Valid && expires.Int64 <= time.Now().UnixMilli():
		return 0, removeThread(q, tid)
	}
	return tid, nil
}

// makeThread returns the number of a thread, which is made when there is none.
func makeThread(q *tx, thread string) (tid int64, err error) {
	if tid, err = findThread(q, thread); tid != 0 || err != nil {
		return tid, err
	}
	return q.insert("INSERT INTO threads (thread, updated) VALUES (?, ?)", []byte(thread), time.Now().UnixMilli())
}

// touched counts a change of a thread for its watchers.
func touched(q *tx, tid int64) error {
	return q.exec("UPDATE threads SET changes = changes + 1 WHERE tid = ?", tid)
}

func removeThread(q *tx, tid int64) error {
	for _, query := range []string{
		"DELETE FROM messages WHERE lid IN (SELECT lid FROM logs WHERE tid = ?)",
		"DELETE FROM changes WHERE lid IN (SELECT lid FROM logs WHERE tid = ?)",
		"DELETE FROM logs WHERE tid = ?",
		"DELETE FROM channel_values WHERE tid = ?",
		"DELETE FROM writes WHERE tid = ?",
		"DELETE FROM orphans WHERE tid = ?",
		"DELETE FROM pruned WHERE tid = ?",
		"DELETE FROM checkpoints WHERE tid = ?",
		"DELETE FROM threads WHERE tid = ?",
	} {
		if err := q.exec(query, tid); err != nil {
			return err
		}
	}
	return nil
}

// values reads values of a row's channels, all if names is nil; cache saves reading one
// that several rows carry.
func values(q *tx, r *row, names []string, cache map[valueKey][]byte) (map[string][]byte, error) {
	switch {
	case names == nil:
		names = slices.Collect(maps.Keys(r.channels))
	case len(names) == 0:
		return nil, nil
	}
	channels := make(map[string][]byte, len(names))
	for _, name := range names {
		seq, there := r.channels[name]
		if !there {
			continue
		}
		key := valueKey{seq, name}
		value, ok := cache[key]
		if !ok {
			err := q.row("SELECT value FROM channel_values WHERE tid = ? AND seq = ? AND name = ?", r.tid, seq, []byte(name)).Scan(&value)
			if errors.Is(err, sql.ErrNoRows) {
				return nil, fmt.Errorf("%w: the value of channel %q of checkpoint %q is missing", checkpointer.ErrFormat, name, r.ref.ID)
			}
			if err != nil {
				return nil, err
			}
			cache[key] = value
		}
		channels[name] = append([]byte{}, value...)
	}
	return channels, nil
}

type valueKey struct {
	seq  int64
	name string
}

// checkpoint is r with what sel asks for.
func (r *row) checkpoint(q *tx, sel checkpointer.Selection, cache map[valueKey][]byte) (cp checkpointer.Checkpoint, err error) {
	cp = checkpointer.Checkpoint{Ref: r.ref, Parent: r.parent, Sequence: r.seq, Time: r.time, Length: r.messages().Length,
		Versions: r.channels, Changed: r.changed, Logs: make(map[string]checkpointer.LogState, len(r.logs))}
	for name, at := range r.logs {
		cp.Logs[name] = checkpointer.LogState{Length: at.Length, Version: at.Version}
	}
	if cp.Channels, err = values(q, r, sel.Channels, cache); err != nil {
		return checkpointer.Checkpoint{}, err
	}
	if cp.Metadata, err = record.MetadataOf(r.metadata); err != nil {
		return checkpointer.Checkpoint{}, err
	}
	if sel.Writes {
		cp.Writes, err = pending(q, r)
	}
	return cp, err
}

// pending reads the writes under a row.
func pending(q *tx, r *row) (writes []checkpointer.PendingWrite, err error) {
	err = q.each(func(rows *sql.Rows) error {
		var w checkpointer.PendingWrite
		if err := rows.Scan(&w.Task.Path, &w.Task.ID, &w.Index, &w.Channel, &w.Value); err != nil {
			return err
		}
		w.Value = append([]byte{}, w.Value...)
		writes = append(writes, w)
		return nil
	}, "SELECT path, task, place, channel, value FROM writes WHERE tid = ? AND ns = ? AND id = ? ORDER BY path, task, place",
		r.tid, []byte(r.ref.Namespace), []byte(r.ref.ID))
	return writes, err
}
