package sqlitesaver_test

import (
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/checkpointertest"
	"github.com/langrooms/langrooms/checkpointer/sqlitesaver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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

func TestConformance(t *testing.T) {
	config := checkpointertest.Config{Abilities: []checkpointertest.Ability{checkpointertest.Lister, checkpointertest.Snapshotter}}
	t.Run("file", func(t *testing.T) {
		checkpointertest.Run(t, func(t testing.TB) checkpointer.Saver {
			return open(t, filepath.Join(t.TempDir(), "odd %41?#name.db"))
		}, config)
	})
	t.Run("memory", func(t *testing.T) {
		checkpointertest.Run(t, func(t testing.TB) checkpointer.Saver { return open(t, sqlitesaver.Memory) }, config)
	})
}
