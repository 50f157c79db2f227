package sqlitesaver_test

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/checkpointertest"
	"github.com/langrooms/langrooms/checkpointer/sqlitesaver"
)

// open returns a store over a file, closed at the end of the test.
func open(t testing.TB, path string) *sqlitesaver.Saver {
	t.Helper()
	s, err := sqlitesaver.Open(t.Context(), sqlitesaver.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// holds says whether text is anywhere in the database's file once its log is written to it.
func holds(t testing.TB, path, text string) bool {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var busy, log, done int
	if err := db.QueryRow("PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &log, &done); err != nil || busy != 0 {
		t.Fatalf("checkpoint of the log: busy %d, %v", busy, err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Contains(data, []byte(text))
}

// history is the length of the rule long-history; 0 is the suite's own.
var history int

func TestConformance(t *testing.T) {
	t.Parallel()
	config := checkpointertest.Config{Abilities: checkpointertest.AllAbilities()}
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		config := config
		config.History = 1000 // the file has the long one
		checkpointertest.Run(t, func(t testing.TB) checkpointer.Saver { return open(t, sqlitesaver.Memory) }, config)
	})
	t.Run("file", func(t *testing.T) {
		t.Parallel()
		config := config
		config.History = history
		paths := map[checkpointer.Saver]string{}
		config.Contains = func(t testing.TB, s checkpointer.Saver, text string) bool { return holds(t, paths[s], text) }
		config.Reopen = func(t testing.TB, s checkpointer.Saver) checkpointer.Saver { return open(t, paths[s]) }
		checkpointertest.Run(t, func(t testing.TB) checkpointer.Saver {
			path := filepath.Join(t.TempDir(), "odd %41?#name.db")
			s := open(t, path)
			paths[s] = path
			return s
		}, config)
	})
}
