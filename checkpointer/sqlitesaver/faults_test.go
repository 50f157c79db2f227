package sqlitesaver_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/sqlitesaver"
)

// raw opens a file behind the saver's back.
func raw(t *testing.T, path string, statements ...string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	return db
}

// filled makes a file with one thread of three checkpoints and closes it.
func filled(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "store.db")
	s := open(t, path)
	at := checkpointer.Ref{Thread: "t"}
	for _, id := range []string{"a", "b", "c"} {
		at = put(t, s, at, id)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func put(t testing.TB, s checkpointer.Saver, parent checkpointer.Ref, id string) checkpointer.Ref {
	t.Helper()
	m := langrooms.NewMessage(langrooms.RoleHuman, id)
	m.ID = id
	ref, err := s.Put(t.Context(), parent, checkpointer.Step{ID: id, Log: checkpointer.Append(m), Channels: map[string][]byte{"x": []byte(id)}})
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// expect reports when err is not kind, or lacks one of the words.
func expect(t *testing.T, err, kind error, words ...string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("got %v, want %v", err, kind)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("the error does not say %q: %v", w, err)
		}
	}
}

func TestOpenOfWhatIsNoStore(t *testing.T) {
	write := func(content []byte) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, tc := range map[string]struct {
		make  func(t *testing.T, path string)
		under string // a path below the one that was made
		kind  error
		words string
	}{
		"a missing folder":          {func(*testing.T, string) {}, "missing/store.db", checkpointer.ErrUnavailable, "no such file or directory"},
		"a file in place of folder": {write(nil), "store.db", checkpointer.ErrUnavailable, "not a folder"},
		"a folder":                  {func(t *testing.T, path string) { os.Mkdir(path, 0o700) }, "", checkpointer.ErrUnavailable, "it is a folder"},
		"no database":               {write(bytes.Repeat([]byte("not a database\n"), 1000)), "", checkpointer.ErrFormat, "not an SQLite database"},
		"another program's":         {func(t *testing.T, path string) { raw(t, path, "CREATE TABLE x (y)") }, "", checkpointer.ErrFormat, "another program"},
		"another program's id":      {func(t *testing.T, path string) { raw(t, path, "PRAGMA application_id = 7") }, "", checkpointer.ErrFormat, "another program"},
		"a later version": {func(t *testing.T, path string) {
			open(t, path).Close()
			raw(t, path, "PRAGMA user_version = 99")
		}, "", checkpointer.ErrFormat, "format version 99"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x")
			tc.make(t, path)
			path = filepath.Join(path, tc.under)
			before, _ := os.ReadFile(path)
			_, err := sqlitesaver.Open(t.Context(), sqlitesaver.Config{Path: path})
			expect(t, err, tc.kind, path, tc.words)
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("the refused file was changed")
			}
		})
	}
}

func TestConfigIsChecked(t *testing.T) {
	for name, cfg := range map[string]sqlitesaver.Config{
		"Path is empty":           {},
		"NUL":                     {Path: "a\x00b"},
		"BusyTimeout is negative": {Path: sqlitesaver.Memory, BusyTimeout: -1},
	} {
		_, err := sqlitesaver.Open(t.Context(), cfg)
		expect(t, err, checkpointer.ErrInvalid, name)
	}
}

// asNobody runs f without root's right to ignore permissions.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	if os.Getuid() != 0 {
		f()
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := syscall.Setfsuid(65534); err != nil {
		t.Fatal(err)
	}
	defer syscall.Setfsuid(0)
	f()
}

func TestReadOnly(t *testing.T) {
	chmod := func(path string, mode os.FileMode) {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(path, 0o700) })
	}
	t.Run("file", func(t *testing.T) {
		path := filled(t)
		chmod(filepath.Dir(filepath.Dir(path)), 0o755) // nobody comes through here
		chmod(filepath.Dir(path), 0o777)
		chmod(path, 0o444)
		asNobody(t, func() {
			_, err := sqlitesaver.Open(t.Context(), sqlitesaver.Config{Path: path})
			expect(t, err, checkpointer.ErrUnavailable, path, "read-only")
		})
		chmod(path, 0o600)
		intact(t, path, 3)
	})
	t.Run("folder", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "store.db")
		chmod(filepath.Dir(filepath.Dir(path)), 0o755)
		chmod(filepath.Dir(path), 0o555)
		asNobody(t, func() {
			_, err := sqlitesaver.Open(t.Context(), sqlitesaver.Config{Path: path})
			expect(t, err, checkpointer.ErrUnavailable, path, "the file cannot be made")
		})
	})
}

// intact reports when the file does not hold the n messages that were acknowledged.
func intact(t *testing.T, path string, n int) {
	t.Helper()
	s := open(t, path)
	defer s.Close()
	seen := 0
	for _, err := range s.Messages(t.Context(), checkpointer.Ref{Thread: "t"}, checkpointer.Range{}) {
		if err != nil {
			t.Fatal(err)
		}
		seen++
	}
	if seen != n {
		t.Errorf("%d of %d messages are there", seen, n)
	}
}

func TestLockedDatabase(t *testing.T) {
	t.Parallel()
	path := filled(t)
	s, err := sqlitesaver.Open(t.Context(), sqlitesaver.Config{Path: path, BusyTimeout: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	patient := open(t, path)
	other := raw(t, path, "BEGIN IMMEDIATE")
	parent := checkpointer.Ref{Thread: "t", ID: "c"}
	_, err = s.Put(t.Context(), parent, checkpointer.Step{ID: "d"})
	expect(t, err, checkpointer.ErrUnavailable, path, "locked by another process", `"t"`)
	expect(t, s.PutWrites(t.Context(), parent, checkpointer.Task{ID: "task"}, nil), checkpointer.ErrUnavailable, "locked")
	if _, err := s.Get(t.Context(), parent); err != nil {
		t.Errorf("a reader waits for the writer: %v", err)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err = patient.Put(ctx, parent, checkpointer.Step{ID: "d"})
	expect(t, err, context.DeadlineExceeded)
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("a put whose context had ended returned after %v", took)
	}
	if _, err := other.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	put(t, s, parent, "d")
	intact(t, path, 4)
}

func TestDamagedRows(t *testing.T) {
	t.Parallel()
	get := func(t *testing.T, s *sqlitesaver.Saver) error {
		_, err := s.Get(t.Context(), checkpointer.Ref{Thread: "t"})
		return err
	}
	messages := func(t *testing.T, s *sqlitesaver.Saver) error {
		for _, err := range s.Messages(t.Context(), checkpointer.Ref{Thread: "t"}, checkpointer.Range{}) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	next := func(t *testing.T, s *sqlitesaver.Saver) error {
		_, err := s.Put(t.Context(), checkpointer.Ref{Thread: "t", ID: "c"}, checkpointer.Step{Log: checkpointer.Append(langrooms.NewMessage(langrooms.RoleHuman, "next"))})
		return err
	}
	for damage, tc := range map[string]struct {
		call  func(t *testing.T, s *sqlitesaver.Saver) error
		words string
	}{
		"UPDATE messages SET data = x'7b'":          {messages, "message at position 0"},
		"UPDATE messages SET data = x'6e756c6c'":    {messages, "has no id"},
		"UPDATE checkpoints SET channels = x''":     {get, "the channels of checkpoint"},
		"UPDATE checkpoints SET metadata = x'5b5d'": {get, "the metadata of checkpoint"},
		"UPDATE checkpoints SET time = 'yesterday'": {get, "the time of checkpoint"},
		"DELETE FROM channel_values":                {get, `the value of channel "x"`},
		"DELETE FROM logs":                          {messages, "a log of checkpoint"},
		"DELETE FROM logs ":                         {next, "the log of checkpoint"},
		"DROP TABLE messages":                       {messages, "tables are not as"},
		"DROP TABLE channel_values":                 {get, "tables are not as"},
	} {
		t.Run(damage, func(t *testing.T) {
			path := filled(t)
			raw(t, path, damage).Close()
			err := tc.call(t, open(t, path))
			expect(t, err, checkpointer.ErrFormat, path, tc.words)
			if errors.Is(err, checkpointer.ErrNotFound) {
				t.Errorf("damage is called not found: %v", err)
			}
		})
	}
}

// Whatever bytes of the file are lost, the answer is an error of its own kind.
func TestDamagedFile(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(filled(t))
	if err != nil {
		t.Fatal(err)
	}
	failed := 0
	for at := 100; at < len(content); at += 4096 {
		path := filepath.Join(t.TempDir(), "store.db")
		damaged := bytes.Clone(content)
		copy(damaged[at:], bytes.Repeat([]byte{0xa5}, min(2000, len(damaged)-at)))
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, err := range useAll(t, path) {
			failed++
			if !errors.Is(err, checkpointer.ErrFormat) && !errors.Is(err, checkpointer.ErrUnavailable) {
				t.Errorf("damage at %d: %v", at, err)
			}
		}
	}
	if failed == 0 {
		t.Error("no damage was noticed")
	}
}

// useAll reads and writes as much as it can and returns the errors.
func useAll(t *testing.T, path string) (errs []error) {
	s, err := sqlitesaver.Open(t.Context(), sqlitesaver.Config{Path: path})
	if err != nil {
		return []error{err}
	}
	defer s.Close()
	ref := checkpointer.Ref{Thread: "t", ID: "c"}
	if _, _, err := s.Snapshot(t.Context(), ref, checkpointer.Range{}); err != nil && !errors.Is(err, checkpointer.ErrNotFound) {
		errs = append(errs, err)
	}
	if _, err := s.Put(t.Context(), checkpointer.Ref{Thread: "new"}, checkpointer.Step{}); err != nil {
		errs = append(errs, err)
	}
	return errs
}

// Deleted words are not to be found in the file, which only its owner can read.
func TestPrivacy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := open(t, path)
	secret := strings.Repeat("xyzzy-plugh ", 1000)
	m := langrooms.NewMessage(langrooms.RoleHuman, secret)
	at, err := s.Put(t.Context(), checkpointer.Ref{Thread: "t"}, checkpointer.Step{Log: checkpointer.Append(m),
		Channels: map[string][]byte{"x": []byte(secret)}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.PutWrites(t.Context(), at, checkpointer.Task{ID: "task"}, []checkpointer.Write{{Channel: "x", Value: []byte(secret)}}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode is %v: %v", info.Mode(), err)
	}
	put(t, s, checkpointer.Ref{Thread: "other"}, "kept")
	if err := s.DeleteThread(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(content, []byte("plugh")) {
		t.Error("the file still holds deleted words")
	}
	if !bytes.Contains(content, []byte("kept")) {
		t.Error("the file does not hold what was kept")
	}
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the log file is left behind: %v", err)
	}
}
