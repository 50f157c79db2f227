package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/internal/clitest"
	"github.com/langrooms/langrooms/setup"
)

const pngHead = "\x89PNG\r\n\x1a\n"

// A file of -a is stored with the message and goes to who takes it; others are told its name, or
// a text's words. On each store.
func TestAttach(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, config string) {
		sees, reads := says(t, "a chart"), says(t, "some code")
		f := folder(t, says(t, "I am the lead."), config+roster(strings.Replace(openaiEntry("eye", sees), " }\n", ", accepts: [image/*] }\n", 1), openaiEntry("plain", reads)))
		f.Write("a chart.png", pngHead)
		f.Write("main.go", "package main\n")
		expect(t, "status", 0, f.Run("chat", "-m", "@eye @plain what is this?", "-a", "a chart.png", "-a", "main.go").Status)
		expectContains(t, "who takes images", "data:image/png;base64,iVBORw0KGgo=", sees.Asked()[0].Body)
		expectContains(t, "a text's words", "[file main.go text/", sees.Asked()[0].Body)
		expectContains(t, "who does not", "[image a chart.png image/png, 8 bytes, which cannot be sent to you]", reads.Asked()[0].Messages[0].Content)
		expectContains(t, "the thread", "[a chart.png image/png]", f.Run("thread", "show").Out)

		expect(t, "a folder", 2, f.Run("chat", "-m", "@eye x", "-a", ".").Status)
		expect(t, "no such file", 2, f.Run("chat", "-m", "@eye x", "-a", "none").Status)
		f.Write("large", strings.Repeat("x", langrooms.MaxFile+1))
		r := f.Run("chat", "-m", "@eye x", "-a", "large")
		expect(t, "too large", 2, r.Status)
		expectContains(t, "too large", "larger than 5 MiB", r.Diag)

		r = f.Run("thread", "save", "--json")
		lines := clitest.ParseLines(t, r.Out)
		expect(t, "files", []string{"a chart.png image/png", "main.go"}, []string{lines[0].Text("name") + " " + lines[0].Text("type"), lines[1].Text("name")})
		expect(t, "saved", 0, f.Run("thread", "save", "1", "--to", "copy.png").Status)
		data, err := os.ReadFile(filepath.Join(f.Dir, "copy.png"))
		expect(t, "its content", pngHead, string(data))
		expect(t, "its content", nil, err)
		expect(t, "written over", 1, f.Run("thread", "save", "2").Status)
		expect(t, "no such number", 1, f.Run("thread", "save", "3").Status)
	})
}

// What a peer named is saved in the folder that was asked for, and nothing is written over.
func TestSave(t *testing.T) {
	t.Parallel()
	saver := memorysaver.New()
	t.Cleanup(func() { saver.Close() })
	c := &conversation{app: &setup.App{Saver: saver}, thread: "t"}
	dir := t.TempDir()
	save := func(args string) (string, error) {
		t.Helper()
		r, err := c.save(t.Context(), args)
		return r.Text, err
	}
	text, err := save("")
	expect(t, "no thread yet", "There is no file on this thread.", text)
	expect(t, "no thread yet", nil, err)
	m := langrooms.NewMessage(langrooms.RoleHuman, "Here.")
	m.Stamp = &langrooms.Stamp{From: "proto", Exchange: "x"}
	m.Parts = append(m.Parts, langrooms.Part{Kind: langrooms.PartBinary, Name: "../../.bashrc", MIMEType: "text/plain", Data: []byte("evil")}) // as a store may have it
	if _, err := saver.Put(t.Context(), checkpointer.Ref{Thread: "t"}, checkpointer.Step{Log: checkpointer.Append(m)}); err != nil {
		t.Fatal(err)
	}
	text, _ = save("")
	expectMatch(t, "the list", `  1  \S+ \S+  bashrc \(text/plain, 4 bytes\)  proto\n/save N .*`, text)
	text, err = save("1 " + dir)
	expect(t, "saved", "Saved "+filepath.Join(dir, "bashrc")+".", text)
	expect(t, "saved", nil, err)
	if _, err = save("1 " + dir); err == nil || !strings.Contains(err.Error(), "exists and is left as it is") {
		t.Errorf("written over: %v", err)
	}
	for _, bad := range []string{"0", "2", "-1", "x"} {
		if _, err := save(bad); err == nil {
			t.Errorf("/save %s saves something", bad)
		}
	}
}

// What is attached in a chat goes with the next message, and is said.
func TestAttachInChat(t *testing.T) {
	t.Parallel()
	c := &conversation{}
	path := filepath.Join(t.TempDir(), "a chart.png")
	if err := os.WriteFile(path, []byte(pngHead), 0o600); err != nil {
		t.Fatal(err)
	}
	attach := func(args string) string {
		t.Helper()
		r, err := c.attach(t.Context(), args)
		if err != nil {
			return err.Error()
		}
		return r.Text
	}
	expectContains(t, "nothing", "Nothing is attached", attach(""))
	for _, spelt := range []string{path, "'" + path + "'", `"` + path + `"`, strings.ReplaceAll(path, " ", `\ `)} {
		expect(t, "attached", "With your next message: a chart.png (image/png, 8 bytes)", attach(spelt))
		expect(t, "taken", 1, len(c.attached.take()))
	}
	for range langrooms.MaxFiles {
		attach(path)
	}
	expectContains(t, "too many", "at most 8 go with one", attach(path))
	if _, err := c.detach(t.Context(), ""); err != nil {
		t.Error(err)
	}
	expectContains(t, "detached", "Nothing is attached", attach(""))
	expectContains(t, "no such file", "no such file", attach("/none/x"))
}

// The server lists and gives out the files of a thread, and none of one that is not there.
func TestFilesOfTheServer(t *testing.T) {
	t.Parallel()
	f := folder(t, says(t, "I am the lead."), roster(openaiEntry("plain", says(t, "some code"))))
	f.Write("a chart.png", pngHead)
	f.Run("chat", "-t", "main", "-m", "@plain what is this?", "-a", "a chart.png")
	s := serve(t, f)
	code, body := s.ask(t, "GET", "/api/threads/main/files", "")
	expect(t, "status", 200, code)
	expectMatch(t, "the list", `\{"files":\[\{"message":"\S+","n":0,"name":"a chart.png","type":"image/png","bytes":8,"from":"operator → plain","time":"\S+"\}\]\}\s*`, body)
	message, _, _ := strings.Cut(strings.TrimPrefix(body, `{"files":[{"message":"`), `"`)
	code, body = s.ask(t, "GET", "/api/threads/main/files/"+message+"/0", "")
	expect(t, "the file", []any{200, pngHead}, []any{code, body})
	for _, path := range []string{"main/files/" + message + "/1", "main/files/none/0", "none/files", "none/files/" + message + "/0"} {
		if code, _ := s.ask(t, "GET", "/api/threads/"+path, ""); code != 404 {
			t.Errorf("%s: %d", path, code)
		}
	}
	s.end(t)
}

// A file goes through a langrooms that is a delegate to that one's lead, by ACP and by A2A, and what the answer
// took comes back.
func TestFilesAndCostsBehindLangrooms(t *testing.T) {
	t.Parallel()
	inner := says(t, "a chart")
	f := folder(t, inner, "")
	s := serve(t, f)
	outer := folder(t, says(t, "I am the lead."), roster(nestedEntry("editor", f), "  - { name: door, type: a2a, url: \""+s.url+"/a2a\" }\n"))
	outer.Write("a chart.png", pngHead)
	for i, name := range []string{"editor", "door"} {
		r := outer.Run("chat", "-t", name, "-m", "@"+name+" what is this?", "-a", "a chart.png")
		expect(t, name, clitest.Result{Out: "a chart\n"}, r)
		expect(t, name+": the inner lead was asked", i+1, len(inner.Asked()))
		expectContains(t, name+": what it was sent", "data:image/png;base64,iVBORw0KGgo=", inner.Asked()[i].Body)
		expectContains(t, name+": what it cost", name+"  (3 tokens in, 2 out, cost unknown)", outer.Run("thread", "show", "-t", name, "--cost").Out)
	}
	s.end(t)
}
