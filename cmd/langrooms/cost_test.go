package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/internal/clitest"
	"github.com/langrooms/langrooms/room"
	"github.com/langrooms/langrooms/setup"
	"github.com/langrooms/langrooms/thread"
)

// priced is an entry with a price; the test's models tell 3 tokens in and 2 out.
func priced(name string, m *clitest.Model, in, out float64) string {
	return strings.Replace(openaiEntry(name, m), " }", fmt.Sprintf(", cost: { input_per_mtok: %v, output_per_mtok: %v } }", in, out), 1)
}

// What a thread cost is told by member, on each store, at the command line: tokens by the endpoint, dollars by the
// price of the entry, and what has no price is said to be unknown.
func TestCosts(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, config string) {
		f := folder(t, says(t, "I am the lead."), config+roster(priced("proto", says(t, "auth did"), 100_000, 50_000), openaiEntry("free", says(t, "who knows"))))
		f.Run("chat", "-m", "@proto what broke?")
		f.Run("chat", "-m", "@free and you?")
		f.Run("chat", "-m", "hello")
		r := f.Run("thread", "show", "--cost")
		expect(t, "status", 0, r.Status)
		expectMatch(t, "a reply", `(?s).*  proto  \(3 tokens in, 2 out, \$0.40\)\n    auth did\n.*`, r.Out)
		expectMatch(t, "the sums", `(?s).*\nThis thread has cost: 3 answers, 9 tokens in, 6 out, \$0\.40, the cost of 2 unknown\.\n`+
			`  assistant        1 answer, 3 tokens in, 2 out, cost unknown\n`+
			`  free             1 answer, 3 tokens in, 2 out, cost unknown\n`+
			`  proto            1 answer, 3 tokens in, 2 out, \$0.40\n`, r.Out)
		if plain := f.Run("thread", "show").Out; strings.Contains(plain, "$") {
			t.Errorf("without --cost: %s", plain)
		}
		all := clitest.ParseLines(t, f.Run("thread", "show", "--cost", "--json").Out)
		expect(t, "usage", map[string]any{"input_tokens": 3.0, "output_tokens": 2.0, "cost_usd": 0.4}, all[1]["usage"])
		costs := all[len(all)-1]["costs"].(map[string]any)
		expect(t, "total", map[string]any{"answers": 3.0, "input_tokens": 9.0, "output_tokens": 6.0, "cost_usd": 0.4, "unknown_cost": 2.0}, costs["total"])
		out := clitest.ParseLines(t, f.Run("chat", "--json", "-m", "@proto again").Out)
		expectContains(t, "in the outcome", "cost_usd:0.4", fmt.Sprint(out))
	})
}

// A run ends where it has cost what the file allows at its start.
func TestMaxCost(t *testing.T) {
	t.Parallel()
	f := folder(t, says(t, "I am the lead."), "room: { max_cost_usd: 0.3 }\n"+roster(priced("proto", says(t, "auth did"), 100_000, 50_000), openaiEntry("free", says(t, "who knows"))))
	r := f.Run("chat", "-m", "@proto @free what broke?")
	expectContains(t, "the note", "this message has cost $0.40", r.Out)
	expectContains(t, "who was not asked", "@free did not answer", r.Out)
	f.Run("config", "set", "room.max_cost_usd", "0")
	expectContains(t, "without a bound", "who knows", f.Run("chat", "-m", "@proto @free what broke?").Out)
}

// The chat says what its thread cost.
func TestCostInChat(t *testing.T) {
	t.Parallel()
	saver := memorysaver.New()
	t.Cleanup(func() { saver.Close() })
	c := &conversation{app: &setup.App{Saver: saver}, thread: "t"}
	say := func(args string) string {
		t.Helper()
		r, err := c.cost(t.Context(), args)
		expect(t, "error", nil, err)
		return r.Text
	}
	expect(t, "no thread yet", "Nobody has answered on this thread yet.", say(""))
	reply := room.NewReply(langrooms.Stamp{From: "proto", Exchange: "x"}, "hi")
	step := checkpointer.Step{Log: checkpointer.Append(reply), Channels: map[string][]byte{
		thread.CostsChannel: []byte(`{"proto":{"answers":2,"input_tokens":1200,"output_tokens":30,"cost_usd":0.5,"unknown_cost":1}}`)}}
	if _, err := saver.Put(t.Context(), checkpointer.Ref{Thread: "t"}, step); err != nil {
		t.Fatal(err)
	}
	expect(t, "the costs", "This thread has cost: 2 answers, 1,200 tokens in, 30 out, $0.50, the cost of 1 unknown.\n"+
		"  proto            2 answers, 1,200 tokens in, 30 out, $0.50, the cost of 1 unknown", say(""))
	expect(t, "an argument", "/cost takes no argument.", say("all"))
}

// The server tells what a thread cost, and of one that is none nothing.
func TestCostsOfTheServer(t *testing.T) {
	t.Parallel()
	f := folder(t, says(t, "I am the lead."), roster(priced("proto", says(t, "auth did"), 100_000, 50_000)))
	f.Run("chat", "-t", "main", "-m", "@proto what broke?")
	s := serve(t, f)
	code, body := s.ask(t, "GET", "/api/threads/main/costs", "")
	expect(t, "status", 200, code)
	const sums = `{"answers":1,"input_tokens":3,"output_tokens":2,"cost_usd":0.4}`
	expect(t, "body", `{"members":{"proto":`+sums+`},"total":`+sums+`}`, strings.TrimSpace(body))
	code, _ = s.ask(t, "GET", "/api/threads/nobody/costs", "")
	expect(t, "a thread that is none", 404, code)
	s.end(t)
}
