package sqlitesaver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	sqlite3 "modernc.org/sqlite/lib"
)

// The index of words is there from the first search on: who never searches has none of its cost. It is
// SQLite's full-text index over the three-letter pieces of the stored messages, without their text and
// their places, so it says which messages can hold a word and not that they do. Triggers note what was
// stored since, which the next search takes in, and take out what was removed. An entry's row is its
// log and position in one number.
var indexStatements = []string{
	"CREATE VIRTUAL TABLE words USING fts5(text, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram')",
	"CREATE TABLE unindexed (place INTEGER PRIMARY KEY) STRICT",
	"INSERT INTO unindexed SELECT lid << 31 | pos FROM messages UNION SELECT lid << 31 | pos FROM changes WHERE op = 1",
	`CREATE TRIGGER words_message AFTER INSERT ON messages BEGIN
		INSERT OR IGNORE INTO unindexed VALUES (new.lid << 31 | new.pos); END`,
	`CREATE TRIGGER words_change AFTER INSERT ON changes WHEN new.op = 1 BEGIN
		INSERT OR IGNORE INTO unindexed VALUES (new.lid << 31 | new.pos); END`,
	`CREATE TRIGGER words_message_gone AFTER DELETE ON messages BEGIN
		DELETE FROM unindexed WHERE place = old.lid << 31 | old.pos;
		DELETE FROM words WHERE rowid = old.lid << 31 | old.pos; END`,
	`CREATE TRIGGER words_message_emptied AFTER UPDATE OF data ON messages BEGIN
		DELETE FROM unindexed WHERE place = old.lid << 31 | old.pos;
		DELETE FROM words WHERE rowid = old.lid << 31 | old.pos; END`,
	`CREATE TRIGGER words_change_gone AFTER DELETE ON changes WHEN old.op = 1 BEGIN
		DELETE FROM unindexed WHERE place = old.lid << 31 | old.pos;
		DELETE FROM words WHERE rowid = old.lid << 31 | old.pos; END`,
}

// indexAtOnce bounds the messages that are taken into the index in one transaction, so that
// writers are not held up.
const indexAtOnce = 200

// MayHold implements [checkpointer.Searcher]. It takes what was stored since the last search into
// the index first. Words of fewer than three letters, and those with letters outside of ASCII, say
// nothing.
func (s *Saver) MayHold(ctx context.Context, words []string) (threads []string, ok bool, err error) {
	match := pieces(words)
	if match == "" {
		return nil, false, nil
	}
	if err := s.enter(ctx); err != nil {
		return nil, false, err
	}
	defer s.calls.Done()
	if err := s.index(ctx); err != nil {
		if code, _ := primary(err); code == sqlite3.SQLITE_READONLY {
			return nil, false, nil // by reading, then
		}
		return nil, false, fmt.Errorf("search: %w", s.typed(err))
	}
	err = s.view(ctx, func(q *tx) error {
		return q.each(func(rows *sql.Rows) error {
			var thread []byte
			err := rows.Scan(&thread)
			threads = append(threads, string(thread))
			return err
		}, `SELECT t.thread FROM threads t WHERE t.tid IN
			(SELECT l.tid FROM logs l WHERE l.lid IN (SELECT w.rowid >> 31 FROM words w WHERE words MATCH ?))
			ORDER BY t.last DESC`, match)
	})
	if err != nil {
		return nil, false, fmt.Errorf("search: %w", s.typed(err))
	}
	return threads, true, nil
}

// pieces is the query for messages that have every three-letter piece of the words; empty where there
// is none. What JSON writes otherwise than it is said cannot be looked for.
func pieces(words []string) string {
	var all []string
	for _, word := range words {
		if strings.ContainsFunc(word, func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune(`"\\<>&`, r) }) {
			continue
		}
		for i := 0; i+3 <= len(word); i++ {
			all = append(all, `"`+word[i:i+3]+`"`)
		}
	}
	return strings.Join(all, " AND ")
}

// index makes the index where there is none, and takes in what was stored since.
func (s *Saver) index(ctx context.Context) error {
	for {
		rest := 0
		err := s.view(ctx, func(q *tx) error {
			there := 0
			if err := q.row("SELECT count(*) FROM sqlite_master WHERE name = 'unindexed'").Scan(&there); err != nil || there == 0 {
				rest = 1
				return err
			}
			return q.row("SELECT EXISTS (SELECT 1 FROM unindexed)").Scan(&rest)
		})
		if err != nil || rest == 0 {
			return err
		}
		if err := s.update(ctx, indexSome); err != nil {
			return err
		}
	}
}

// indexSome makes the index, or takes some messages into it.
func indexSome(q *tx) error {
	there := 0
	if err := q.row("SELECT count(*) FROM sqlite_master WHERE name = 'unindexed'").Scan(&there); err != nil {
		return err
	}
	if there == 0 {
		for _, statement := range indexStatements {
			if err := q.script(statement); err != nil {
				return err
			}
		}
	}
	last := sql.NullInt64{}
	if err := q.row("SELECT max(place) FROM (SELECT place FROM unindexed ORDER BY place LIMIT ?)", indexAtOnce).Scan(&last); err != nil || !last.Valid {
		return err
	}
	return errors.Join(
		q.exec(`INSERT INTO words (rowid, text) SELECT u.place, CAST(m.data AS TEXT) FROM unindexed u
			JOIN messages m ON m.lid = u.place >> 31 AND m.pos = u.place & 2147483647
			WHERE u.place <= ? AND instr(CAST(m.data AS TEXT), '"incognito":true') = 0`, last.Int64),
		q.exec(`INSERT INTO words (rowid, text) SELECT u.place, CAST(c.data AS TEXT) FROM unindexed u
			JOIN changes c ON c.lid = u.place >> 31 AND c.pos = u.place & 2147483647 AND c.op = 1
			WHERE u.place <= ? AND instr(CAST(c.data AS TEXT), '"incognito":true') = 0`, last.Int64),
		q.exec("DELETE FROM unindexed WHERE place <= ?", last.Int64))
}
