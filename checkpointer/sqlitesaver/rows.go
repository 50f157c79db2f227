package sqlitesaver

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
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
	lid      int64
	length   int64
	channels map[string]int64 // the seq of the checkpoint that set each
	metadata map[string]string
	digest   []byte
}

const rowColumns = "c.seq, c.tid, c.ns, c.id, c.parent, c.time, c.lid, c.length, c.channels, c.metadata, c.digest"

// scanRow reads rowColumns.
func scanRow(thread string, scan func(dest ...any) error) (*row, error) {
	r := &row{ref: checkpointer.Ref{Thread: thread}}
	var when string
	var channels, metadata []byte
	err := scan(&r.seq, &r.tid, &r.ref.Namespace, &r.ref.ID, &r.parent, &when, &r.lid, &r.length, &channels, &metadata, &r.digest)
	if err != nil {
		return nil, err
	}
	bad := func(what string, err error) (*row, error) {
		return nil, fmt.Errorf("%w: %s of checkpoint %q: %v", checkpointer.ErrFormat, what, r.ref.ID, err)
	}
	if r.time, err = time.Parse(time.RFC3339Nano, when); err != nil {
		return bad("the time", err)
	}
	if err := json.Unmarshal(channels, &r.channels); err != nil {
		return bad("the channels", err)
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(metadata, &raw); err != nil {
		return bad("the metadata", err)
	}
	if r.metadata, err = record.Canonical(raw); err != nil {
		return bad("the metadata", err)
	}
	return r, nil
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
		"DELETE FROM checkpoints WHERE tid = ?",
		"DELETE FROM threads WHERE tid = ?",
	} {
		if err := q.exec(query, tid); err != nil {
			return err
		}
	}
	return nil
}

// values reads the channel values of rows; cache saves reading one that several carry.
func values(q *tx, r *row, cache map[valueKey][]byte) (map[string][]byte, error) {
	channels := make(map[string][]byte, len(r.channels))
	for name, seq := range r.channels {
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

// checkpoint is r without pending writes.
func (r *row) checkpoint(q *tx, cache map[valueKey][]byte) (checkpointer.Checkpoint, error) {
	channels, err := values(q, r, cache)
	if err != nil {
		return checkpointer.Checkpoint{}, err
	}
	metadata, err := record.MetadataOf(r.metadata)
	return checkpointer.Checkpoint{Ref: r.ref, Parent: r.parent, Time: r.time, Length: r.length,
		Channels: channels, Metadata: metadata}, err
}
