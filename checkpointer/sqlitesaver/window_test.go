package sqlitesaver

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"modernc.org/sqlite"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

func openHere(t *testing.T) *Saver {
	t.Helper()
	s, err := Open(t.Context(), Config{Path: filepath.Join(t.TempDir(), "store.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func fill(t *testing.T, s *Saver, at checkpointer.Ref, n int) checkpointer.Ref {
	t.Helper()
	for n > 0 {
		var log []langrooms.Message
		for range min(n, 500) {
			log = append(log, langrooms.NewMessage(langrooms.RoleHuman, strings.Repeat("x", 100)))
		}
		n -= len(log)
		var err error
		if at, err = s.Put(t.Context(), at, checkpointer.Step{Log: checkpointer.Append(log...)}); err != nil {
			t.Fatal(err)
		}
	}
	return at
}

// multiply makes a thread's log n messages long by copies of its first message, which is
// quicker than putting them, and puts one more checkpoint.
func multiply(t *testing.T, s *Saver, at checkpointer.Ref, n int) checkpointer.Ref {
	t.Helper()
	err := s.update(t.Context(), func(q *tx) error {
		return errors.Join(
			q.exec(`WITH RECURSIVE more(pos) AS (SELECT length FROM logs UNION ALL SELECT pos + 1 FROM more WHERE pos < ? - 1)
				INSERT INTO messages SELECT m.lid, more.pos, m.id, m.data FROM more, messages m WHERE m.pos = 0`, n),
			q.exec("UPDATE logs SET length = ?", n),
			q.exec("UPDATE checkpoints SET logs = CAST(json_set(CAST(logs AS TEXT), '$.messages.n', ?) AS BLOB)", n))
	})
	if err != nil {
		t.Fatal(err)
	}
	return fill(t, s, at, 1)
}

// fetched counts the pages that a connection has looked at so far.
func fetched(t *testing.T, l *link) (n int) {
	t.Helper()
	err := l.conn.Raw(func(c any) error {
		for _, op := range []sqlite.DBStatusOp{sqlite.DBStatusCacheHit, sqlite.DBStatusCacheMiss} {
			count, _, err := c.(sqlite.DBStatus).Status(op, false)
			if err != nil {
				return err
			}
			n += count
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// pages counts the database pages that f looks at.
func pages(t *testing.T, s *Saver, f func()) int {
	t.Helper()
	touched := func() (n int) {
		for range cap(s.reader.links) {
			l := <-s.reader.links
			if l != nil {
				n += fetched(t, l)
			}
			s.reader.links <- l
		}
		return n
	}
	before := touched()
	f()
	return touched() - before
}

// A window of 20, a get and a put cost the same on a thread of a hundred and of a hundred
// thousand messages: a few pages more, for deeper trees.
func TestWindowTouchesWhatItReads(t *testing.T) {
	t.Parallel()
	window := func(s *Saver, at checkpointer.Ref) func() {
		return func() {
			_, messages, err := s.Snapshot(t.Context(), at, checkpointer.Range{Backward: true, Limit: checkpointer.N(20)})
			if err != nil || len(messages) != 20 {
				t.Fatalf("%d messages: %v", len(messages), err)
			}
		}
	}
	s := openHere(t)
	at := fill(t, s, checkpointer.Ref{Thread: "t"}, 100)
	window(s, at)() // opens the connection
	small := pages(t, s, window(s, at))
	at = multiply(t, s, at, 100_000)
	large := pages(t, s, window(s, at))
	t.Logf("pages touched by a window of 20: %d of 100 messages, %d of 100,000", small, large)
	if large > 2*small {
		t.Errorf("a window touches %d pages of 100,000 messages and %d of 100", large, small)
	}
	middle := pages(t, s, func() {
		n := 0
		for _, err := range s.Messages(t.Context(), at, checkpointer.Range{From: 50_000, Limit: checkpointer.N(20)}) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
	})
	if middle > 2*small {
		t.Errorf("a window in the middle touches %d pages", middle)
	}
}

// What is not asked for is not read: a window of a named log costs the same at any length,
// a value that is not selected nothing, and one that a whole history carries is read once
// a page.
func TestSelectionsTouchWhatTheyRead(t *testing.T) {
	t.Parallel()
	s := openHere(t)
	entries := make([]checkpointer.LogEntry, 500)
	for i := range entries {
		entries[i] = checkpointer.LogEntry{Op: checkpointer.OpAppend, Data: make([]byte, 100)}
	}
	const size = 1 << 20
	at := checkpointer.Ref{Thread: "t"}
	put := func(step checkpointer.Step) {
		t.Helper()
		var err error
		if at, err = s.Put(t.Context(), at, step); err != nil {
			t.Fatal(err)
		}
	}
	window := func() {
		n := 0
		for _, err := range s.Entries(t.Context(), at, "l", checkpointer.Range{Backward: true, Limit: checkpointer.N(20)}) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n != 20 {
			t.Fatalf("%d entries in the window", n)
		}
	}
	put(checkpointer.Step{Channels: map[string][]byte{"big": make([]byte, size)}, Logs: map[string][]checkpointer.LogEntry{"l": entries[:100]}})
	window() // opens the connection
	short := pages(t, s, window)
	for range 100 {
		put(checkpointer.Step{Logs: map[string][]checkpointer.LogEntry{"l": entries}})
	}
	if long := pages(t, s, window); long > 2*short {
		t.Errorf("a window touches %d pages of a log of 50,100 entries and %d of one of 100", long, short)
	}
	for range 900 {
		put(checkpointer.Step{})
	}
	none := checkpointer.Selection{Channels: []string{}}
	one := pages(t, s, func() {
		if _, err := s.Select(t.Context(), at, none); err != nil {
			t.Fatal(err)
		}
	})
	const value = size / 4096 // the pages of the value
	if one > value/4 {
		t.Errorf("a checkpoint without its values touches %d pages", one)
	}
	history := func(sel checkpointer.Selection) int {
		return pages(t, s, func() {
			for _, err := range s.List(t.Context(), checkpointer.Query{Thread: "t", Select: sel}) {
				if err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	rows, whole := history(none), history(checkpointer.Selection{})
	t.Logf("pages touched by a history of 1,001 checkpoints: %d, and %d with a value of %d pages", rows, whole, value)
	if whole > rows+12*value { // eleven pages of a hundred
		t.Errorf("a history touches %d pages without, and %d with a value of %d pages", rows, whole, value)
	}
}

// Every read goes through an index.
func TestQueriesUseIndexes(t *testing.T) {
	s := openHere(t)
	for _, query := range []string{
		"SELECT pos, id, data FROM messages WHERE lid = 1 AND pos >= 1 AND pos < 9 ORDER BY pos DESC LIMIT 20",
		"SELECT max(pos) FROM changes WHERE lid = 1 AND id = x'' AND op = 2 AND pos < 9",
		"SELECT data FROM changes WHERE lid = 1 AND id = x'00' AND op = 1 AND pos > 1 AND pos < 9 ORDER BY pos DESC LIMIT 1",
		"SELECT c.id FROM threads t JOIN checkpoints c ON c.tid = t.tid WHERE t.thread = x'00' AND c.ns = x'' ORDER BY c.seq DESC LIMIT 1",
		"SELECT id FROM checkpoints c WHERE c.tid = 1 AND c.seq < 9 AND c.ns = x'' ORDER BY c.seq DESC LIMIT 100",
		"SELECT id FROM checkpoints c WHERE c.tid = 1 AND c.seq < 9 ORDER BY c.seq DESC LIMIT 100",
		"SELECT tid FROM threads WHERE expires <= 1 LIMIT 10",
		"SELECT tid, ns, id FROM orphans WHERE at < 9 LIMIT 10",
		"SELECT seq FROM pruned WHERE tid = 1 AND id = x'00' ORDER BY seq DESC LIMIT 1",
		"SELECT thread FROM leases WHERE owner = '' AND expires < 1",
		"SELECT owner FROM tickets WHERE thread = x'00' ORDER BY number LIMIT 1",
	} {
		rows, err := s.reader.db.Query("EXPLAIN QUERY PLAN " + query)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var id, parent, unused int
			var detail string
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(detail, "SCAN") || strings.Contains(detail, "TEMP B-TREE") {
				t.Errorf("%s: %s", query, detail)
			}
		}
		rows.Close()
	}
}

// A full disk is told as such; nothing that was acknowledged is lost, nothing half is
// there, and with room again the store goes on.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	s := openHere(t)
	ctx := t.Context()
	pragma := func(format string, args ...any) (n int) {
		l, err := s.writer.take(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer s.writer.give(l, nil)
		if err := l.conn.QueryRowContext(ctx, "PRAGMA "+fmt.Sprintf(format, args...)).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	limit := func(n int) { pragma("max_page_count = %d", n) }
	limit(pragma("page_count") + 20)
	at := checkpointer.Ref{Thread: "t"}
	acknowledged := 0
	for {
		m := langrooms.NewMessage(langrooms.RoleHuman, strings.Repeat("x", 5000))
		next, err := s.Put(ctx, at, checkpointer.Step{Log: checkpointer.Append(m, m)})
		if err != nil {
			if !errors.Is(err, checkpointer.ErrUnavailable) || !strings.Contains(err.Error(), "the disk is full") || !strings.Contains(err.Error(), s.cfg.Path) {
				t.Fatalf("a full disk is reported as %v", err)
			}
			break
		}
		acknowledged++
		at = next
	}
	cp, messages, err := s.Snapshot(ctx, checkpointer.Ref{Thread: "t"}, checkpointer.Range{})
	if err != nil || cp.Ref != at || len(messages) != 2*acknowledged || acknowledged == 0 {
		t.Fatalf("after the failure: %+v with %d messages of %d puts, %v", cp.Ref, len(messages), acknowledged, err)
	}
	limit(1 << 30)
	if _, err := s.Put(ctx, at, checkpointer.Step{}); err != nil {
		t.Errorf("with room again: %v", err)
	}
}
