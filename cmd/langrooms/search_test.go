package main

import (
	"context"
	"iter"
	"strings"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/internal/clitest"
	"github.com/langrooms/langrooms/setup"
)

// What was said is found again in whatever thread, on each store, and what was said off the
// record is not.
func TestThreadSearch(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, config string) {
		f := folder(t, says(t, "I am the lead."), config+roster(openaiEntry("proto", says(t, "Die Größe\nder  Datei: 100%"))))
		f.Run("chat", "-t", "old", "-m", "@proto how large?")
		f.Run("chat", "-t", "new\nthread", "-m", "the Datei is gone")
		f.Run("chat", "-t", "new\nthread", "--incognito", "-m", "@proto my secret datei")
		find := func(args ...string) []string {
			t.Helper()
			r := f.Run(append([]string{"thread", "search", "--json"}, args...)...)
			expect(t, "status", 0, r.Status)
			found := []string{}
			for _, l := range clitest.ParseLines(t, r.Out) {
				found = append(found, l.Text("thread")+" "+l.Text("role")+": "+l.Text("text"))
			}
			return found
		}
		reply, said := "old human: Die Größe\nder  Datei: 100%", "new\nthread human: the Datei is gone"
		expect(t, "the newest thread first", []string{said, reply}, find("DATEI"))
		expect(t, "of one thread", []string{reply}, find("datei", "-t", "old"))
		expect(t, "so many at most", []string{said}, find("datei", "-n", "1"))
		expect(t, "over a line's end", []string{reply}, find("größe der datei"))
		expect(t, "a letter in two pieces", []string{reply}, find("gro\u0308ße"))
		expect(t, "a capital that is not ASCII", []string{reply}, find("GRÖ"))
		expect(t, "signs are no pattern", []string{reply}, find("100%"))
		expect(t, "a pattern is no pattern", []string{}, find("D.tei"))
		expect(t, "off the record", []string{}, find("secret"))

		r := f.Run("thread", "search", "größe")
		expectMatch(t, "for people", `[^\n]+  old  [^\n]+  proto\n    Die Größe der Datei: 100%\n`, r.Out)
		expectContains(t, "nothing", "Nothing is found.", f.Run("thread", "search", "elsewhere").Diag)
		expect(t, "no text", 2, f.Run("thread", "search", " ").Status)
		expect(t, "no such thread", 1, f.Run("thread", "search", "x", "-t", "none").Status)
	})
}

// The chat shows the first of what is found, each on a line of its own.
func TestSearchInChat(t *testing.T) {
	t.Parallel()
	saver := memorysaver.New()
	t.Cleanup(func() { saver.Close() })
	c := &conversation{app: &setup.App{Saver: saver}}
	search := func(text string) string {
		t.Helper()
		r, err := c.search(t.Context(), text)
		expect(t, "error", nil, err)
		return r.Text
	}
	expect(t, "no thread yet", "Nothing is found.", search("needle"))
	expect(t, "no text", "/search takes the text to find.", search(" "))
	far := strings.Repeat("hay ", 100)
	var ms []langrooms.Message
	for range foundInChat + 1 {
		ms = append(ms, langrooms.NewMessage(langrooms.RoleAI, far+"a\nneedle "+far))
	}
	if _, err := saver.Put(t.Context(), checkpointer.Ref{Thread: "t"}, checkpointer.Step{Log: checkpointer.Append(ms...)}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(search("A Needle"), "\n")
	expect(t, "lines", foundInChat+1, len(lines))
	expectContains(t, "the last line", "There are more", lines[foundInChat])
	expectMatch(t, "a line", `\S+ \S+  t  assistant: …(hay )+a needle( hay)+ ?…`, lines[0])
}

// damaged is a store whose thread of that name cannot be read.
type damaged struct {
	*memorysaver.Saver
	thread string
	err    error
}

func (d damaged) Messages(ctx context.Context, ref checkpointer.Ref, r checkpointer.Range) iter.Seq2[langrooms.Message, error] {
	if ref.Thread != d.thread {
		return d.Saver.Messages(ctx, ref, r)
	}
	return func(yield func(langrooms.Message, error) bool) { yield(langrooms.Message{}, d.err) }
}

// A thread that cannot be read does not hide the others; a store that is gone ends the search,
// and a thread that was deleted meanwhile is none.
func TestSearchPassesADamagedThread(t *testing.T) {
	t.Parallel()
	saver := memorysaver.New()
	t.Cleanup(func() { saver.Close() })
	for _, thread := range []string{"a", "b", "c"} {
		step := checkpointer.Step{Log: checkpointer.Append(langrooms.NewMessage(langrooms.RoleAI, "needle"))}
		if _, err := saver.Put(t.Context(), checkpointer.Ref{Thread: thread}, step); err != nil {
			t.Fatal(err)
		}
	}
	want, err := wanted("needle")
	expect(t, "error", nil, err)
	for cause, threads := range map[error]int{checkpointer.ErrFormat: 2, checkpointer.ErrNotFound: 2, checkpointer.ErrUnavailable: 1} {
		found, failed := 0, 0
		for _, err := range search(t.Context(), damaged{saver, "b", cause}, want, "") {
			if err != nil {
				failed++
				continue
			}
			found++
		}
		expect(t, "found beside "+cause.Error(), threads, found)
		expect(t, "told of "+cause.Error(), cause != checkpointer.ErrNotFound, failed == 1)
	}
}
