package sqlitesaver_test

import (
	"path/filepath"
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
		config.Reopen = func(t testing.TB, s checkpointer.Saver) checkpointer.Saver { return open(t, paths[s]) }
		checkpointertest.Run(t, func(t testing.TB) checkpointer.Saver {
			path := filepath.Join(t.TempDir(), "odd %41?#name.db")
			s := open(t, path)
			paths[s] = path
			return s
		}, config)
	})
}
