package setup_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"github.com/google/go-cmp/cmp"
	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/hotreload"
	"github.com/langrooms/langrooms/room"
	"github.com/langrooms/langrooms/setup"
)

const base = `
identity: { name: vera }
checkpointer: { url: "memory:" }
model: { provider: openai, url: "http://127.0.0.1:1/v1", model: m }
`

const twoDelegates = base + `
delegates:
  - { name: a, type: openai, url: "http://127.0.0.1:1/v1", model: m }
  - { name: b, type: a2a, url: "http://127.0.0.1:1/" }
`

// rounds is the round cap in force.
func rounds(a *setup.App) int {
	r, release := a.Room()
	defer release()
	return r.MaxRounds
}

func TestOpen(t *testing.T) {
	a, _ := openFile(t, twoDelegates+"room: { max_rounds: 2, catchup_max_messages: 5 }\ncolour: blue\n")
	expect(t, "roster", []string{"a", "b"}, a.Roster.Current().Names())
	expect(t, "lead", "vera", a.Lead())
	in, release := a.Room()
	defer release()
	expect(t, "limits", room.Limits{Messages: 5, Chars: 8000}, in.Limits)
	expect(t, "rounds, lead", []any{2, "vera"}, []any{in.MaxRounds, in.Lead})
	says(t, a.all(), "langgraph-config.yaml:", "colour")
	tools, err := a.Tools()
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "tools", 2, len(tools))
	says(t, tools[0].Definition().Function.Description, "- a (openai)", "- b (a2a)")
}

// Prices are those of the entries and of the lead's model, whole or not at all; they and the cost
// bound are those of the file as a turn begins.
func TestPrices(t *testing.T) {
	priced := strings.Replace(twoDelegates, "model: m }\n\ndelegates", "model: m, cost: { input_per_mtok: 3, output_per_mtok: 15 } }\n\ndelegates", 1)
	priced = strings.Replace(priced, "model: m }\n  - ", "model: m, cost: { input_per_mtok: 1, output_per_mtok: 2 } }\n  - ", 1)
	priced = strings.Replace(priced, "127.0.0.1:1/\" }", "127.0.0.1:1/\", cost: { input_per_mtok: 1 } }", 1)
	a, f := openFile(t, priced+"room: { max_cost_usd: 0.5 }\n")
	prices := func() []any {
		r, release := a.Room()
		defer release()
		got := []any{r.MaxCostUSD}
		for _, name := range []string{"a", "b", "vera", "nobody"} {
			if p := r.Price(name); p != nil {
				got = append(got, *p)
			} else {
				got = append(got, nil)
			}
		}
		return got
	}
	expect(t, "bound and prices", []any{0.5, langrooms.Price{InputPerMTok: 1, OutputPerMTok: 2}, nil, langrooms.Price{InputPerMTok: 3, OutputPerMTok: 15}, nil}, prices())
	f.write(twoDelegates + "room: { max_cost_usd: 9000000 }\n")
	eventually(t, func() error {
		if diff := cmp.Diff([]any{1_000_000.0, nil, nil, nil, nil}, prices()); diff != "" {
			return errors.New(diff)
		}
		return nil
	})
}

// Entries that stay as they were keep their delegate; those that changed or left are closed
// after the turn that uses them.
func TestRosterReload(t *testing.T) {
	peer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(`{"choices":[{"message":{"role":"assistant","content":"still here"}}]}`)) // a client that left is seen by the test
	}))
	defer peer.Close()
	leaving := "  - { name: leaving, type: openai, url: \"" + peer.URL + "\", model: m }\n"
	a, f := openFile(t, twoDelegates+leaving)
	before := a.delegate("a")
	old := a.delegate("leaving")
	ask := func() error {
		_, err := old.Ask(t.Context(), delegate.Request{Prompt: "hello"})
		return err
	}
	_, release := a.Roster.Acquire()
	f.write("# moved down a line\n" + twoDelegates + "  - { name: c, type: openai, url: \"http://127.0.0.1:1/v1\", model: m }\n")
	a.has("a", "b", "c")
	expect(t, "an equal entry keeps its delegate", true, a.delegate("a") == before)
	expect(t, "used by a turn", nil, ask())
	release()
	eventually(t, func() error {
		var e *delegate.Error
		if err := ask(); !errors.As(err, &e) || e.Kind != delegate.KindUnreachable {
			return errors.New("the delegate that left is not closed")
		}
		return nil
	})
	f.write(base + "delegates:\n  - { name: a, type: openai, url: \"http://127.0.0.1:1/v1\", model: another }\n")
	a.has("a")
	expect(t, "a changed entry has a new delegate", false, a.delegate("a") == before)
	f.write(base)
	a.has()
}

// An entry that cannot be made is told of; the others stay usable.
func TestEntryIsLeftOut(t *testing.T) {
	a, _ := openFile(t, twoDelegates+`  - { name: nobody, type: acp, command: "demo:nobody" }
  - { name: room, type: openai, url: "http://127.0.0.1:1/v1", model: m }
`)
	expect(t, "roster", []string{"a", "b"}, a.Roster.Current().Names())
	says(t, a.all(), "nobody", `"room"`)
}

// A bad file is told of with its place and changes nothing; what is good afterwards is
// taken.
func TestBadFileKeepsTheLastGoodOne(t *testing.T) {
	a, f := openFile(t, twoDelegates)
	f.write("identity: { name: otto }\ndelegates: [\n")
	a.wait(t, "The configuration was not taken", f.path+":")
	expect(t, "lead", "vera", a.Lead())
	expect(t, "roster", []string{"a", "b"}, a.Roster.Current().Names())
	f.write(base + "delegates: []\n")
	a.has()
}

// What takes effect at once does so silently; what needs a restart says so.
func TestReload(t *testing.T) {
	a, f := openFile(t, twoDelegates)
	f.write(`
identity: { name: otto }
checkpointer: { url: "sqlite:other.db" }
model: { provider: openai, url: "http://127.0.0.1:1/v1", model: m }
room: { max_rounds: 7 }
server: { addr: "127.0.0.1:1" }
`)
	a.wait(t, "checkpointer.url needs a restart", "server.addr needs a restart")
	says(t, a.all(), "!room.max_rounds", "!identity")
	expect(t, "lead", "otto", a.Lead())
	expect(t, "rounds", 7, rounds(a.App))
}

// When there is no file and none was asked for, the built-in demo is used.
func TestNoFile(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none.yaml")
	t.Chdir(t.TempDir()) // where the demo's store goes
	a := open(t, setup.Options{Path: missing, Dir: t.TempDir()})
	says(t, a.all(), "There is no "+missing, "demo")
	expect(t, "roster", []string{"proto", "reviewer", "oracle"}, a.Roster.Current().Names())
	_, err := setup.Open(t.Context(), setup.Options{Path: missing, Required: true})
	says(t, err, missing)
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the error is %v", err)
	}
}

// The demo's delegates are real peers of all three protocols, and its lead is a real model.
func TestDemo(t *testing.T) {
	t.Chdir(t.TempDir())
	a := open(t, setup.Options{Path: "none.yaml"})
	for _, d := range a.Roster.Current().All() {
		if _, err := d.Probe(t.Context()); err != nil {
			t.Errorf("probe of @%s: %v", d.Info().Name, err)
		}
	}
	model, err := a.Model()
	if err != nil {
		t.Fatal(err)
	}
	if text, err := llms.GenerateFromSinglePrompt(t.Context(), model, "hello"); err != nil || text == "" {
		t.Errorf("the lead: %q, %v", text, err)
	}
	if _, err := a.Summarize(t.Context(), []langrooms.Message{langrooms.NewMessage(langrooms.RoleHuman, "hello")}); err == nil {
		t.Error("the demo's lead has written a summary")
	}
}

// A failed open leaves nothing behind, whatever part failed.
func TestFailedOpens(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"the file":     {"delegates: [", []string{"langgraph-config.yaml:1"}},
		"the store":    {"checkpointer: { url: \"sqlite:/no/such/folder/x.db\" }", []string{"checkpointer: ", "/no/such/folder"}},
		"the server":   {"checkpointer: { url: \"redis://:hunter2@127.0.0.1:1/0\" }", []string{"checkpointer: ", "refused", "!hunter2"}},
		"a bad scheme": {"checkpointer: { url: \"postgres://x:hunter2@y\" }", []string{"langgraph-config.yaml:1", "checkpointer.url", "!hunter2"}},
		"a number":     {"checkpointer: { url: 5 }", []string{"langgraph-config.yaml:1", "checkpointer.url"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFile(t, tt.text)
			_, err := setup.Open(t.Context(), setup.Options{Path: f.path, Required: true})
			if err == nil {
				t.Fatal("it opened")
			}
			says(t, err, tt.want...)
		})
	}
}

// Two apps of one file and store live side by side.
func TestOpenTwice(t *testing.T) {
	t.Chdir(t.TempDir())
	f := newFile(t, base+"# \n")
	f.write("checkpointer: { url: \"sqlite:threads.db\" }\nmodel: { provider: demo }\n")
	one, two := open(t, setup.Options{Path: f.path}), open(t, setup.Options{Path: f.path})
	step := checkpointer.Step{Log: checkpointer.Append(langrooms.NewMessage(langrooms.RoleHuman, "hello"))}
	if _, err := one.Saver.Put(t.Context(), checkpointer.Ref{Thread: "t"}, step); err != nil {
		t.Fatal(err)
	}
	expect(t, "Close", nil, one.Close())
	cp, err := two.Saver.Get(t.Context(), checkpointer.Ref{Thread: "t"})
	if err != nil || cp.Length != 1 {
		t.Errorf("the other app reads %+v, %v", cp, err)
	}
	if _, err := two.Model(); err != nil {
		t.Errorf("the other app's demo: %v", err)
	}
}

func TestClose(t *testing.T) {
	f := newFile(t, twoDelegates)
	a := open(t, setup.Options{Path: f.path})
	var closers sync.WaitGroup
	for range 4 {
		closers.Go(func() { expect(t, "Close", nil, a.Close()) })
	}
	closers.Wait()
	if _, err := a.Model(); !errors.Is(err, setup.ErrClosed) {
		t.Errorf("Model after Close: %v", err)
	}
	expect(t, "waits for a handle", delegate.NotWaited, a.Collect(t.Context(), delegate.Handle{Thread: "t", Delegate: "b", Task: "k"}))
	a.has()
}

// The app ends with the context that it was opened with no earlier than with Close.
func TestContextOfOpen(t *testing.T) {
	f := newFile(t, twoDelegates)
	ctx, cancel := context.WithCancel(t.Context())
	a, err := setup.Open(ctx, setup.Options{Path: f.path})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	expect(t, "roster", []string{"a", "b"}, a.Roster.Current().Names())
	expect(t, "Close", nil, a.Close())
}

// A program of one turn promises no answer that only it would remember.
func TestOneTurn(t *testing.T) {
	for continuity, want := range map[string]delegate.Waiting{"memory": delegate.NotWaited, "durable": delegate.Kept} {
		t.Run(continuity, func(t *testing.T) {
			f := newFile(t, twoDelegates+"continuity: "+continuity+"\n")
			a := open(t, setup.Options{Path: f.path, OneTurn: true})
			expect(t, "collects", want, a.Collect(t.Context(), delegate.Handle{Thread: "t", Delegate: "b", Task: "k"}))
			tools, err := a.Tools()
			if err != nil {
				t.Fatal(err)
			}
			properties := tools[0].Definition().Function.Parameters.(map[string]any)["properties"].(map[string]any)
			_, offered := properties["background"]
			expect(t, "background is offered", false, offered)
		})
	}
}

func TestOpenRoster(t *testing.T) {
	f := newFile(t, twoDelegates+"colour: blue\n")
	var n told
	a, err := setup.OpenRoster(t.Context(), setup.Options{Path: f.path, Required: true, Notify: n.notify})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "roster", []string{"a", "b"}, a.Roster.Current().Names())
	says(t, n.all(), "colour")
	expect(t, "Close", nil, a.Close())
	expect(t, "Close again", nil, a.Close())
	if _, err := setup.OpenRoster(t.Context(), setup.Options{Path: f.path + ".none", Required: true}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

func TestReadConfig(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "none.yaml")
	c, findings, builtIn, err := setup.ReadConfig(missing, false)
	if err != nil || !builtIn || len(findings) > 0 {
		t.Errorf("the built-in configuration: %v, %v, %v", findings, builtIn, err)
	}
	expect(t, "its delegates", 3, len(c.Delegates))
	_, _, _, err = setup.ReadConfig(missing, true)
	says(t, err, missing)
	_, _, _, err = setup.ReadConfig(dir, false)
	says(t, err, dir, "not a regular file")
	huge := filepath.Join(dir, "huge.yaml")
	if err := os.WriteFile(huge, make([]byte, 2*hotreload.MaxBytes), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err = setup.ReadConfig(huge, true); !errors.Is(err, hotreload.ErrUnusable) {
		t.Errorf("a huge file: %v", err)
	}
	f := newFile(t, base)
	c, _, builtIn, err = setup.ReadConfig(f.path, false)
	if err != nil || builtIn || c.Identity.Name != "vera" {
		t.Errorf("the file: %+v, %v, %v", c.Identity, builtIn, err)
	}
}
