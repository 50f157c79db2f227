package lifecycle_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/google/go-cmp/cmp"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/lifecycle"
	"github.com/langrooms/langrooms/room"
)

// oneMessage is a whole export.
const oneMessage = `{"format":"langrooms thread","version":1,"messages":[
{"id":"m1","time":"2026-01-02T03:04:05Z","role":"human","parts":[{"kind":"text","text":"hi"}],"seq":0}]}`

// rich is a thread with everything that a message can hold.
func rich() []langrooms.Message {
	binary := langrooms.NewMessage(langrooms.RoleHuman, "look")
	binary.Parts = append(binary.Parts,
		langrooms.Part{Kind: langrooms.PartBinary, MIMEType: "image/png", Data: []byte{0, 255, 10, 0x80}},
		langrooms.Part{Kind: langrooms.PartImageURL, URL: "https://example.org/a.png", Detail: "low"},
		langrooms.Part{Kind: "hologram", Extra: map[string]json.RawMessage{"depth": json.RawMessage(`3`)}})
	binary.Extra = map[string]json.RawMessage{"later": json.RawMessage(`{"a":[1,2]}`)}
	call := langrooms.NewMessage(langrooms.RoleAI, "")
	call.Parts = []langrooms.Part{{Kind: langrooms.PartToolCall, ToolCall: &langrooms.ToolCall{ID: "c", Name: "f", Arguments: `{"<":1}`}}}
	result := langrooms.NewMessage(langrooms.RoleTool, "")
	result.Parts = []langrooms.Part{{Kind: langrooms.PartToolResult, ToolResult: &langrooms.ToolResult{CallID: "c", Name: "f", Content: "no", IsError: true}}}
	stamped := room.NewReply(langrooms.Stamp{From: "proto", Exchange: "x", Round: 2, Failed: true, Late: true}, "(gone)")
	stamped.Stamp.Extra = map[string]json.RawMessage{"mood": json.RawMessage(`"low"`)}
	return []langrooms.Message{binary, call, result, stamped,
		room.NewAddress(langrooms.Operator, []string{"proto", "reviewer"}, "y", "a\x00b\u2028\x1b[1m", false)}
}

// What was exported is imported as it was: ids, times, stamps, parts, fields of later
// versions; and the new thread has a life of its own.
func TestRoundTrip(t *testing.T) {
	onEachStore(t, func(t *testing.T, s store) {
		say(t, s, "t", rich()...)
		out := export(t, s, "t", lifecycle.JSON)
		threads := threadsOf(s)
		n, err := threads.Import(t.Context(), "{new}\n", strings.NewReader(out))
		if err != nil {
			t.Fatal(err)
		}
		expect(t, "messages", 5, n)
		expect(t, "thread", history(t, s, "t"), history(t, s, "{new}\n"))
		expect(t, "forgot", []string{"{new}\n"}, threads.forgot)
		expect(t, "another epoch", true, epoch(t, s, "t") != epoch(t, s, "{new}\n"))
	})
}

// Positions of the old thread become those of the new one, so that each member is shown
// the same window as before, also after a compaction.
func TestImportRenumbers(t *testing.T) {
	onEachStore(t, func(t *testing.T, s store) {
		proto := &member{name: "proto", script: []string{"one", "two"}}
		reviewer := &member{name: "reviewer", script: []string{"three", "four"}}
		say(t, s, "t", said("a", "b", "c")...)
		address(t, s, "t", "first?", false, proto, reviewer)
		say(t, s, "t", said("d")...)
		address(t, s, "t", "second?", false, reviewer)
		say(t, s, "t", said("e")...)
		for _, keep := range []int{100, 7, 3} {
			if _, err := threadsOf(s).Compact(t.Context(), "t", keep, "short"); err != nil {
				t.Fatal(err)
			}
			to := fmt.Sprint("keep ", keep)
			if _, err := threadsOf(s).Import(t.Context(), to, strings.NewReader(export(t, s, "t", lifecycle.JSON))); err != nil {
				t.Fatal(err)
			}
			for i, m := range history(t, s, to) {
				expect(t, "position", int64(i), m.Seq)
			}
			for _, name := range []string{"proto", "reviewer", "somebody new"} {
				want := windowOf(t, s, "t", name)
				if keep == 3 && name == "proto" { // all it was shown is in the summary, at which the new thread begins
					want.Continues = false
				}
				expect(t, to+", the window of "+name, want, windowOf(t, s, to, name))
			}
			ignored := cmpopts.IgnoreFields(langrooms.Message{}, "Seq", "Stamp", "Summary")
			if diff := cmp.Diff(history(t, s, "t"), history(t, s, to), ignored); diff != "" {
				t.Errorf("%s (-want +got):\n%s", to, diff)
			}
		}
	})
}

func windowOf(t *testing.T, s store, thread, name string) room.Window {
	t.Helper()
	messages := history(t, s, thread)
	w, err := room.ReadWindow(func(yield func(langrooms.Message, error) bool) {
		for i := len(messages) - 1; i >= 0 && yield(messages[i], nil); i-- {
		}
	}, room.WindowQuery{Member: name})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// putCounts is a store that counts its puts.
type putCounts struct {
	store
	puts int
}

func (p *putCounts) Put(ctx context.Context, at checkpointer.Ref, step checkpointer.Step) (checkpointer.Ref, error) {
	p.puts++
	return p.store.Put(ctx, at, step)
}

// Many and large messages go in several puts.
func TestImportInBatches(t *testing.T) {
	var doc strings.Builder
	doc.WriteString(`{"format":"langrooms thread","version":1,"messages":[`)
	const small, large = 1001, 3
	for i := range small + large {
		text, separator := "x", ","
		if i >= small {
			text = strings.Repeat("x", 400<<10)
		}
		if i == 0 {
			separator = ""
		}
		fmt.Fprintf(&doc, `%s{"id":"m%d","time":"2026-01-02T03:04:05Z","role":"human","parts":[{"kind":"text","text":"%s"}],"seq":%d}`, separator, i, text, 2*i)
	}
	doc.WriteString("]}")
	onEachStore(t, func(t *testing.T, s store) {
		counted := &putCounts{store: s}
		n, err := threadsOf(counted).Import(t.Context(), "t", strings.NewReader(doc.String()))
		if err != nil {
			t.Fatal(err)
		}
		expect(t, "imported", small+large, n)
		expect(t, "puts", 4, counted.puts) // 500, 500, 1 and two large ones, the last
		for i, m := range history(t, s, "t") {
			if want := fmt.Sprint("m", i); m.ID != want || m.Seq != int64(i) || (len(m.Text()) > 1) != (i >= small) {
				t.Fatalf("message %d is %s at %d, %d bytes", i, m.ID, m.Seq, len(m.Text()))
			}
		}
	})
}

// putFails is a store that takes one put and no more.
type putFails struct {
	store
	puts int
}

func (p *putFails) Put(ctx context.Context, at checkpointer.Ref, step checkpointer.Step) (checkpointer.Ref, error) {
	if p.puts++; p.puts > 1 {
		return checkpointer.Ref{}, fmt.Errorf("put: %w", checkpointer.ErrTooLarge)
	}
	return p.store.Put(ctx, at, step)
}

// An import that the store fails in the middle leaves nothing behind.
func TestImportFailsInTheMiddle(t *testing.T) {
	onEachStore(t, func(t *testing.T, s store) {
		source := closing(t, memorysaver.New(), nil)
		var messages []langrooms.Message
		for range 501 {
			messages = append(messages, said("x")[0])
		}
		say(t, source, "t", messages...)
		_, err := threadsOf(&putFails{store: s}).Import(t.Context(), "t", strings.NewReader(export(t, source, "t", lifecycle.JSON)))
		fails(t, err, checkpointer.ErrTooLarge, `"t"`)
		expect(t, "left", []string(nil), texts(t, s, "t"))
	})
}

// What is no export is refused with the place, and nothing is written.
func TestImportRefuses(t *testing.T) {
	message := func(fields string) string {
		return `{"format":"langrooms thread","version":1,"messages":[` + fields + `]}`
	}
	const good = `{"id":"m1","time":"2026-01-02T03:04:05Z","role":"human","parts":[],"seq":5}`
	without := func(field string) string {
		var m map[string]any
		if err := json.Unmarshal([]byte(good), &m); err != nil {
			t.Fatal(err)
		}
		delete(m, field)
		data, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return message(string(data))
	}
	with := func(old, new string) string { return message(strings.Replace(good, old, new, 1)) }
	for name, tt := range map[string]struct{ in, want string }{
		"nothing":               {"", "it is empty"},
		"no JSON":               {"# Thread t", "byte"},
		"another format":        {`{"format":"` + strings.Repeat("x", 10_000) + `"}`, "its format is"},
		"no format":             {`{}`, `its format is ""`},
		"a list":                {`[]`, "array"},
		"a later version":       {`{"format":"langrooms thread","version":2,"messages":[]}`, "version 2"},
		"no version":            {`{"format":"langrooms thread"}`, "version 0"},
		"no message":            {message(""), "no message"},
		"truncated":             {oneMessage[:len(oneMessage)-10], "unexpected EOF"},
		"something after it":    {oneMessage + "{}", "follows its end"},
		"rubbish after it":      {oneMessage + "\n]", "byte"},
		"a million arrays":      {message(strings.Repeat("[", 1_000_000)), "depth"},
		"a million in a field":  {with(`"seq":5`, `"seq":5,"x":`+strings.Repeat("[", 1_000_000)+strings.Repeat("]", 1_000_000)), "depth"},
		"a message is a string": {message(`"hi"`), "message 1"},
		"a message is null":     {message(`null`), "message 1"},
		"an id twice":           {message(good + "," + strings.Replace(good, `"seq":5`, `"seq":6`, 1)), `message 2: the id "m1" is there twice`},
		"positions stand still": {message(good + "," + strings.Replace(good, `"m1"`, `"m2"`, 1)), "message 2: its position 5 does not follow 5"},
		"no position":           {without("seq"), `message 1: its field "seq" is no position`},
		"a null position":       {with(`"seq":5`, `"seq":null`), "no position"},
		"a negative position":   {with(`"seq":5`, `"seq":-1`), "no position"},
		"a fraction":            {with(`"seq":5`, `"seq":1.5`), "no position"},
		"a huge position":       {with(`"seq":5`, `"seq":1e300`), "no position"},
		"no id":                 {without("id"), "no usable id"},
		"a blank id":            {with(`"m1"`, `" "`), "no usable id"},
		"a long id":             {with(`"m1"`, `"`+strings.Repeat("x", 1025)+`"`), "no usable id"},
		"no role":               {without("role"), `there is no role ""`},
		"another role":          {with(`"human"`, `"root"`), `there is no role "root"`},
		"no time":               {without("time"), "no time"},
		"a bad time":            {with(`"2026-01-02T03:04:05Z"`, `"yesterday"`), "message 1"},
		"a part without kind":   {with(`[]`, `[{"text":"a"}]`), "its part 1 has no kind"},
		"an id of two lines":    {with(`"m1"`, `"m1\n2026-01-02  m2  operator"`), "no usable id"},
		"a forged author":       {with(`"seq":5`, `"seq":5,"stamp":{"from":"proto\n operator"}`), "a name in it"},
		"a forged addressee":    {with(`"seq":5`, `"seq":5,"stamp":{"from":"proto","to":["a b"]}`), "a name in it"},
		"a forged member":       {with(`"seq":5`, `"seq":5,"summary":{"replaced":1,"members":[{"name":"@x"}]}`), "a name in it"},
		"a stamp without from":  {with(`"seq":5`, `"seq":5,"stamp":{"exchange":"x"}`), "its stamp names no author"},
		"bad base64":            {with(`[]`, `[{"kind":"binary","data":"%%%"}]`), "message 1"},
	} {
		t.Run(name, func(t *testing.T) {
			s := closing(t, memorysaver.New(), nil)
			threads := threadsOf(s)
			_, err := threads.Import(t.Context(), "t", strings.NewReader(tt.in))
			fails(t, err, lifecycle.ErrImport, tt.want)
			if err != nil && len(err.Error()) > 500 {
				t.Errorf("the error is %d bytes long", len(err.Error()))
			}
			expect(t, "written", []string(nil), texts(t, s, "t"))
			expect(t, "forgot", []string(nil), threads.forgot)
		})
	}
}

func TestImportIntoAThreadThatExists(t *testing.T) {
	onEachStore(t, func(t *testing.T, s store) {
		say(t, s, "t", said("a")...)
		threads := threadsOf(s)
		_, err := threads.Import(t.Context(), "t", strings.NewReader(oneMessage))
		fails(t, err, checkpointer.ErrConflict, `"t"`)
		_, err = threads.Import(t.Context(), "", strings.NewReader(oneMessage))
		fails(t, err, langrooms.ErrThreadID)
		expect(t, "thread", []string{"human: a"}, texts(t, s, "t"))
		expect(t, "forgot", []string(nil), threads.forgot)
	})
}

// A reader that fails is told of, whatever came before.
func TestImportReaderFails(t *testing.T) {
	s := closing(t, memorysaver.New(), nil)
	broken := errors.New("the pipe broke")
	_, err := threadsOf(s).Import(t.Context(), "t", &breaking{strings.NewReader(oneMessage[:40]), broken})
	fails(t, err, broken)
	expect(t, "written", []string(nil), texts(t, s, "t"))
}

type breaking struct {
	*strings.Reader
	err error
}

func (b *breaking) Read(p []byte) (int, error) {
	if b.Len() == 0 {
		return 0, b.err
	}
	return b.Reader.Read(p)
}
