package sqlitesaver_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/sqlitesaver"
)

// A file that is deleted, moved or replaced while it is open takes no more writes:
// nobody would find again what is acknowledged. With the file back the store goes on.
func TestFileIsGone(t *testing.T) {
	for name, hurt := range map[string]func(path string) error{
		"deleted": os.Remove,
		"moved":   func(path string) error { return os.Rename(path, path+".old") },
		"replaced": func(path string) error {
			if err := os.Rename(path, path+".old"); err != nil {
				return err
			}
			return os.WriteFile(path, nil, 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			s := open(t, path)
			at := put(t, s, checkpointer.Ref{Thread: "t"}, "a")
			if err := hurt(path); err != nil {
				t.Fatal(err)
			}
			_, err := s.Put(t.Context(), at, checkpointer.Step{ID: "b"})
			expect(t, err, checkpointer.ErrUnavailable, path, "deleted or replaced")
			_, err = s.Lock(t.Context(), "t")
			expect(t, err, checkpointer.ErrUnavailable, path)
			if name == "deleted" {
				return
			}
			if err := os.Rename(path+".old", path); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Put(t.Context(), at, checkpointer.Step{ID: "b"}); err != nil {
				t.Errorf("with the file back: %v", err)
			}
		})
	}
}

// A relative path means the folder in which the store was opened, for every connection.
func TestWorkingFolderChanges(t *testing.T) {
	t.Chdir(t.TempDir())
	s := open(t, "store.db")
	put(t, s, checkpointer.Ref{Thread: "t"}, "a")
	t.Chdir(t.TempDir())
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := s.Get(t.Context(), checkpointer.Ref{Thread: "t"}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// Any path that the system takes names the file.
func TestOddPaths(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"/a.db", "a b&c=d;e'\"\n\té.db", "file:a", ":memory:", "%41", "#", "?x=1", " "} {
		path := folder + "/" + name
		if name == "/a.db" {
			path = "/" + path
		}
		s, err := sqlitesaver.Open(t.Context(), sqlitesaver.Config{Path: path})
		if err != nil {
			t.Errorf("%q: %v", path, err)
			continue
		}
		put(t, s, checkpointer.Ref{Thread: "t"}, "a")
		if err := s.Close(); err != nil {
			t.Errorf("%q: %v", path, err)
		}
		if info, err := os.Stat(path); err != nil || info.Size() == 0 {
			t.Errorf("%q holds nothing: %v", path, err)
		}
	}
}

// A link and the file that it leads to are one store.
func TestSymlink(t *testing.T) {
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "real"), 0o700); err != nil {
		t.Fatal(err)
	}
	link, path := filepath.Join(folder, "link.db"), filepath.Join(folder, "real", "store.db")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	a, b := open(t, link), open(t, path)
	at := put(t, a, checkpointer.Ref{Thread: "t"}, "a")
	put(t, b, at, "b")
	if cp, err := a.Get(t.Context(), checkpointer.Ref{Thread: "t"}); err != nil || cp.Ref.ID != "b" {
		t.Errorf("through the link the newest is %q, %v", cp.Ref.ID, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file made through a link: %v, %v", info.Mode(), err)
	}
}
