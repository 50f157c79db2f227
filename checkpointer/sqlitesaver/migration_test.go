package sqlitesaver_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

// A file that format 1 has written is read, goes on, and forgets what it should. The dump
// is what the last version of format 1 made of the history that this test describes.
func TestFormat1(t *testing.T) {
	t.Parallel()
	dump, err := os.ReadFile("testdata/format1.sql")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "old.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(string(dump)); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	at := func(thread, id string) checkpointer.Ref { return checkpointer.Ref{Thread: thread, ID: id} }
	expectLog(t, s, at("t", "c1"), "a b c")
	expectLog(t, s, at("t", "c2"), "a B d")
	expectLog(t, s, at("t", ""), "a b e")
	expectLog(t, s, checkpointer.Ref{Thread: "t", Namespace: "n"}, "sub")
	expectLog(t, s, at("compacted", ""), "summary m4 m5")
	expectLog(t, s, at("forked", ""), "a B d")
	cp, err := s.Get(t.Context(), at("t", "c2"))
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%q %v %v %v %v", cp.Channels, cp.Metadata, cp.Writes, cp.Changed, cp.Logs)
	want := `map["x":"2" "y":""] map[run_id:r2 source:loop step:0] [{{task } -3 {__interrupt__ [63]}} {{task } 0 {x [51]}}] [x] map[messages:{6 0}]`
	if got != want {
		t.Errorf("c2 is\n%s\nwant\n%s", got, want)
	}
	older, err := s.Get(t.Context(), at("t", "c1"))
	if err != nil || cp.Versions["x"] != cp.Sequence || cp.Versions["y"] != older.Sequence {
		t.Errorf("versions of c2: %v, its sequence is %d, that of c1 %d, %v", cp.Versions, cp.Sequence, older.Sequence, err)
	}
	goesOn(t, s)
}

// goesOn repeats a put of format 1, branches, prunes and takes up what waited.
func goesOn(t *testing.T, s checkpointer.Saver) {
	t.Helper()
	say := func(id string) []checkpointer.Entry {
		m := langrooms.NewMessage(langrooms.RoleHuman, id)
		m.ID = id
		return checkpointer.Append(m)
	}
	put := func(parent checkpointer.Ref, step checkpointer.Step) checkpointer.Ref {
		t.Helper()
		ref, err := s.Put(t.Context(), parent, step)
		if err != nil {
			t.Fatal(err)
		}
		return ref
	}
	newest := checkpointer.Ref{Thread: "t", ID: "c3"}
	branch := put(checkpointer.Ref{Thread: "t", ID: "c2"}, checkpointer.Step{ID: "c4", Fork: true, Log: say("f"),
		Logs: map[string][]checkpointer.LogEntry{"l": {{Op: checkpointer.OpAppend, Data: []byte("1")}}}})
	expectLog(t, s, branch, "a B d f")
	next := put(branch, checkpointer.Step{ID: "c9", Base: "c3", Log: say("g")})
	expectLog(t, s, next, "a b e g")
	expectLog(t, s, newest, "a b e")
	cp, err := s.Get(t.Context(), next)
	if err != nil || len(cp.Writes) != 1 || string(cp.Writes[0].Value) != "9" {
		t.Errorf("what waited for c9: %v, %v", cp.Writes, err)
	}
	// c2 has an open interrupt.
	n, err := s.(checkpointer.Pruner).Prune(t.Context(), "t", checkpointer.Retention{Keep: 1})
	if n != 3 || err != nil {
		t.Errorf("prune removed %d, %v; want 3", n, err)
	}
	expectLog(t, s, checkpointer.Ref{Thread: "t", ID: "c2"}, "a B d")
	expectLog(t, s, next, "a b e g")
	if err := s.(checkpointer.Copier).CopyThread(t.Context(), "t", "copied"); err != nil {
		t.Fatal(err)
	}
	expectLog(t, s, checkpointer.Ref{Thread: "copied"}, "a b e g")
	if err := s.DeleteThread(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), next); !errors.Is(err, checkpointer.ErrNotFound) {
		t.Errorf("get of a deleted thread: %v", err)
	}
}

func expectLog(t *testing.T, s checkpointer.Saver, at checkpointer.Ref, want string) {
	t.Helper()
	var words []string
	for m, err := range s.Messages(t.Context(), at, checkpointer.Range{}) {
		if err != nil {
			t.Fatal(err)
		}
		words = append(words, m.Text())
	}
	if got := strings.Join(words, " "); got != want {
		t.Errorf("%+v sees [%s], want [%s]", at, got, want)
	}
}
