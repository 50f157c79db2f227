package sqlitesaver_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/sqlitesaver"
)

// holding are the threads whose messages hold the word as they are now.
func holding(t *testing.T, s *sqlitesaver.Saver, word string) (threads []string) {
	t.Helper()
	for info, err := range s.Threads(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for m, err := range s.Messages(t.Context(), checkpointer.Ref{Thread: info.Thread}, checkpointer.Range{}) {
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(strings.ToLower(m.Text()), strings.ToLower(word)) && (m.Stamp == nil || !m.Stamp.Incognito) {
				threads = append(threads, info.Thread)
				break
			}
		}
	}
	return threads
}

// The index misses no thread that holds a word, whatever was put, edited, forked, compacted, pruned
// and deleted before the first search and between two; and it does not name them all.
func TestMayHold(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "threads.db"))
	random := rand.New(rand.NewPCG(3, 4))
	words := []string{"linker", "Cache", "moon", "red", "ship", "naïve", "blue-green"}
	heads := map[string]checkpointer.Ref{}
	ids := map[string][]string{}
	for n := range 400 {
		thread := fmt.Sprint("t", random.IntN(12))
		ref := heads[thread]
		ref.Thread = thread
		m := langrooms.NewMessage(langrooms.RoleHuman, fmt.Sprintf("%d the %s is \n \"%s\"", n, words[random.IntN(len(words))], words[random.IntN(len(words))]))
		if random.IntN(5) == 0 {
			m.Stamp = &langrooms.Stamp{From: "operator", Incognito: true}
		}
		var err error
		switch known := ids[thread]; {
		case random.IntN(30) == 0 && len(known) > 2:
			ref, err = s.Compact(t.Context(), ref, m, 2)
		case random.IntN(30) == 0 && len(known) > 0:
			_, err = s.Prune(t.Context(), thread, checkpointer.Retention{Keep: 1})
		case random.IntN(60) == 0 && len(known) > 0:
			err = s.DeleteThread(t.Context(), thread)
			ref, ids[thread] = checkpointer.Ref{}, nil
		case random.IntN(6) == 0 && len(known) > 0:
			m.ID = known[random.IntN(len(known))]
			ref, err = s.Put(t.Context(), ref, checkpointer.Step{Log: []checkpointer.Entry{{Op: checkpointer.OpReplace, Message: m}}})
		default:
			ids[thread] = append(known, m.ID)
			ref, err = s.Put(t.Context(), ref, checkpointer.Step{Log: checkpointer.Append(m)})
		}
		if err != nil {
			t.Fatal(n, err)
		}
		heads[thread] = ref
		if n%40 != 39 {
			continue
		}
		for _, word := range words {
			found, ok, err := s.MayHold(t.Context(), []string{strings.ToUpper(word), "is"})
			if err != nil {
				t.Fatal(err)
			}
			if word == "naïve" {
				if ok {
					t.Error("the index tells of letters outside of ASCII")
				}
				continue
			}
			for _, thread := range holding(t, s, word) {
				if !ok || !slices.Contains(found, thread) {
					t.Errorf("after %d steps %q is not found in %s, but in %v", n, word, thread, found)
				}
			}
		}
	}
	if found, ok, err := s.MayHold(t.Context(), []string{"nowhere"}); err != nil || !ok || len(found) != 0 {
		t.Errorf("what nobody said: %v, %t, %v", found, ok, err)
	}
	for _, words := range [][]string{nil, {"to"}, {`"is"`}, {"<b>"}} {
		if _, ok, err := s.MayHold(t.Context(), words); ok || err != nil {
			t.Errorf("%q: %t, %v", words, ok, err)
		}
	}
}

// What was said incognito, and what was deleted, is not in the index; who only reads searches by
// reading; the newest thread comes first.
func TestMayHoldNothingThatIsGone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "threads.db")
	s := open(t, path)
	say := func(thread, text string, incognito bool) {
		t.Helper()
		m := langrooms.NewMessage(langrooms.RoleHuman, text)
		m.Stamp = &langrooms.Stamp{From: "operator", Incognito: incognito}
		if _, err := s.Put(t.Context(), checkpointer.Ref{Thread: thread}, checkpointer.Step{Log: checkpointer.Append(m)}); err != nil {
			t.Fatal(err)
		}
	}
	found := func() string {
		t.Helper()
		threads, ok, err := s.MayHold(t.Context(), []string{"planted"})
		if err != nil || !ok {
			t.Fatalf("%t, %v", ok, err)
		}
		return strings.Join(threads, " ")
	}
	say("a", "it is planted", false)
	say("b", "it is planted", true)
	say("c", `they say "incognito":true and planted`, false)
	if got := found(); got != "c a" {
		t.Errorf("found in %q", got)
	}
	if err := s.DeleteThread(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if got := found(); got != "c" {
		t.Errorf("after the delete found in %q", got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.MayHold(t.Context(), []string{"planted"}); err == nil {
		t.Error("a closed store searches")
	}
}
