package sqlitesaver

import (
	"context"
	"fmt"
	"time"

	"github.com/langrooms/langrooms/checkpointer"
)

// applicationID marks the file as ours ("lrms"), so that no other program's database is
// taken for an empty or an old one.
const applicationID = 0x6c726d73

// migrations lead from one format version to the next; a file's version is the number
// of those it has seen. One that has been released is never changed.
var migrations = []string{`
CREATE TABLE threads (
	tid     INTEGER PRIMARY KEY AUTOINCREMENT,
	thread  BLOB NOT NULL UNIQUE,
	last    INTEGER NOT NULL DEFAULT 0, -- seq of the newest checkpoint put; 0: pending writes only
	updated INTEGER NOT NULL,           -- of the last put, unix ms
	ttl     INTEGER NOT NULL DEFAULT 0, -- ms; 0: stays
	expires INTEGER,                    -- unix ms
	changes INTEGER NOT NULL DEFAULT 0  -- counts the writes, for watchers
) STRICT;
CREATE INDEX threads_last ON threads(last);
CREATE INDEX threads_expires ON threads(expires) WHERE expires IS NOT NULL;

CREATE TABLE checkpoints (
	seq      INTEGER PRIMARY KEY AUTOINCREMENT,
	tid      INTEGER NOT NULL,
	ns       BLOB NOT NULL,
	id       BLOB NOT NULL,
	parent   BLOB NOT NULL,
	time     TEXT NOT NULL,
	lid      INTEGER NOT NULL,
	length   INTEGER NOT NULL,
	channels BLOB NOT NULL, -- JSON: name -> seq of the checkpoint that set it
	metadata BLOB NOT NULL, -- JSON
	digest   BLOB NOT NULL,
	UNIQUE (tid, ns, id)
) STRICT;
CREATE INDEX checkpoints_seq ON checkpoints(tid, seq);
CREATE INDEX checkpoints_ns ON checkpoints(tid, ns, seq);

-- A log continues its parent, of which it sees the entries below parent_length, and of
-- these only the messages below bound.
CREATE TABLE logs (
	lid           INTEGER PRIMARY KEY AUTOINCREMENT,
	tid           INTEGER NOT NULL,
	parent        INTEGER,
	parent_length INTEGER NOT NULL,
	bound         INTEGER NOT NULL,
	length        INTEGER NOT NULL
) STRICT;
CREATE INDEX logs_tid ON logs(tid);

CREATE TABLE messages (
	lid  INTEGER NOT NULL,
	pos  INTEGER NOT NULL,
	id   BLOB NOT NULL,
	data BLOB NOT NULL,
	PRIMARY KEY (lid, pos)
) STRICT;

-- What later entries did to messages. op: 0 remove, 1 replace, 2 reset (its id is empty).
CREATE TABLE changes (
	lid  INTEGER NOT NULL,
	id   BLOB NOT NULL,
	op   INTEGER NOT NULL,
	pos  INTEGER NOT NULL,
	data BLOB NOT NULL,
	PRIMARY KEY (lid, id, op, pos)
) STRICT;

CREATE TABLE channel_values (
	tid   INTEGER NOT NULL,
	seq   INTEGER NOT NULL,
	name  BLOB NOT NULL,
	value BLOB NOT NULL,
	PRIMARY KEY (tid, seq, name)
) STRICT;

CREATE TABLE writes (
	tid     INTEGER NOT NULL,
	ns      BLOB NOT NULL,
	id      BLOB NOT NULL,
	task    BLOB NOT NULL,
	place   INTEGER NOT NULL,
	channel BLOB NOT NULL,
	value   BLOB NOT NULL,
	PRIMARY KEY (tid, ns, id, task, place)
) STRICT;

-- The fence outlives its thread: the row is the tombstone. expires: unix ms; without an
-- owner the time of the last change.
CREATE TABLE leases (
	thread  BLOB PRIMARY KEY NOT NULL,
	fence   INTEGER NOT NULL,
	owner   TEXT NOT NULL DEFAULT '',
	expires INTEGER NOT NULL
) STRICT;
CREATE INDEX leases_free ON leases(expires) WHERE owner = '';

CREATE TABLE tickets (
	number  INTEGER PRIMARY KEY AUTOINCREMENT,
	thread  BLOB NOT NULL,
	owner   TEXT NOT NULL UNIQUE,
	expires INTEGER NOT NULL
) STRICT;
CREATE INDEX tickets_thread ON tickets(thread, number);
`, `
-- JSON. logs: name -> log, length and seq of the last change; changed: the names of the
-- channels that the step set or removed. Empty in rows of format 1.
ALTER TABLE checkpoints ADD COLUMN logs BLOB NOT NULL DEFAULT x'';
ALTER TABLE checkpoints ADD COLUMN changed BLOB NOT NULL DEFAULT x'';

ALTER TABLE writes ADD COLUMN path BLOB NOT NULL DEFAULT x'';
ALTER TABLE writes ADD COLUMN call INTEGER NOT NULL DEFAULT 0; -- counts the calls at a thread that stored some

-- Where checkpoints stood that were pruned, for listings that go on before them.
CREATE TABLE pruned (
	tid INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	ns  BLOB NOT NULL,
	id  BLOB NOT NULL,
	PRIMARY KEY (tid, seq)
) STRICT;
CREATE INDEX pruned_id ON pruned(tid, id, seq);

-- Places of writes whose checkpoint has not come; at: of the last one, unix ms.
CREATE TABLE orphans (
	tid INTEGER NOT NULL,
	ns  BLOB NOT NULL,
	id  BLOB NOT NULL,
	at  INTEGER NOT NULL,
	PRIMARY KEY (tid, ns, id)
) STRICT;
CREATE INDEX orphans_at ON orphans(at);
INSERT INTO orphans SELECT DISTINCT tid, ns, id, CAST(unixepoch('subsec') * 1000 AS INTEGER) FROM writes w
	WHERE NOT EXISTS (SELECT 1 FROM checkpoints c WHERE c.tid = w.tid AND c.ns = w.ns AND c.id = w.id);
`}

// The operations in the table changes.
const (
	opRemove  = 0
	opReplace = 1
	opReset   = 2
)

// prepare puts the file into WAL mode and brings it to the newest format.
func (s *Saver) prepare(ctx context.Context) error {
	if err := s.ours(ctx); err != nil {
		return err
	}
	if !s.memory {
		if err := s.walMode(ctx); err != nil {
			return err
		}
	}
	return s.update(ctx, func(q *tx) error {
		version, err := formatVersion(q)
		if err != nil {
			return err
		}
		for _, m := range migrations[version:] {
			if err := q.script(m); err != nil {
				return err
			}
		}
		if version < len(migrations) {
			// PRAGMA takes no parameters; these are numbers of ours.
			if err := q.script(fmt.Sprintf("PRAGMA application_id = %d", applicationID)); err != nil {
				return err
			}
			return q.script(fmt.Sprintf("PRAGMA user_version = %d", len(migrations)))
		}
		return sweep(q, time.Now())
	})
}

// ours refuses a foreign file before anything is written to it.
func (s *Saver) ours(ctx context.Context) error {
	return s.view(ctx, func(q *tx) error {
		_, err := formatVersion(q)
		return err
	})
}

func formatVersion(q *tx) (int, error) {
	var app, version, tables int
	if err := q.row("PRAGMA application_id").Scan(&app); err != nil {
		return 0, err
	}
	if err := q.row("PRAGMA user_version").Scan(&version); err != nil {
		return 0, err
	}
	if err := q.row("SELECT count(*) FROM sqlite_master").Scan(&tables); err != nil {
		return 0, err
	}
	switch {
	case app == applicationID && version >= 1 && version <= len(migrations):
		return version, nil
	case app == applicationID:
		return 0, fmt.Errorf("%w: the file has format version %d, this program reads up to %d", checkpointer.ErrFormat, version, len(migrations))
	case app != 0 || version != 0 || tables > 0:
		return 0, fmt.Errorf("%w: the file is the database of another program", checkpointer.ErrFormat)
	}
	return 0, nil
}

// walMode waits for other processes itself: SQLite does not call its busy handler here.
func (s *Saver) walMode(ctx context.Context) error {
	l, err := s.writer.take(ctx)
	if err != nil {
		return err
	}
	defer s.writer.give(l, nil)
	deadline := time.Now().Add(s.cfg.BusyTimeout)
	for {
		err := l.conn.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(new(string))
		if err == nil || !isBusy(err) || time.Now().After(deadline) {
			return err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
