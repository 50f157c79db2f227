package main

import (
	"strings"
	"testing"

	"github.com/langrooms/langrooms/internal/clitest"
)

// design 6: -m prints the operator's text, nothing else, on stdout; status 0 for answers
// of any kind.
func TestOneTurnAnswers(t *testing.T) {
	t.Parallel()
	lead := says(t, "I am the lead.")
	f := folder(t, lead, roster(
		openaiEntry("proto", says(t, "auth broke")), openaiEntry("reviewer", says(t, "I agree")),
		"  - { name: dead, type: openai, url: \"http://127.0.0.1:1/v1\", model: m, api_key: planted-k }\n"))
	for _, c := range []struct{ name, message, out string }{
		{"a lead turn", "hello", "I am the lead.\n"},
		{"one delegate: the bare text", "@proto what broke?", "auth broke\n"},
		{"case does not matter", "@PROTO, what broke?", "auth broke\n"},
		{"a room", "@proto @reviewer what broke?",
			"**@proto** — auth broke\n\n**@reviewer** — I agree\n\n**@proto** — auth broke\n\n**@reviewer** — I agree\n\n" +
				"**@proto** — auth broke\n\n**@reviewer** — I agree\n\n" +
				"The room stopped at its 3-round cap — the conversation had not settled. Ask again to continue it, or raise room.max_rounds.\n"},
		{"the roster answer, with a near name", "@prto hi",
			"Unknown or unreachable delegate: @prto. Available: proto, reviewer, dead.\nDid you mean @proto?\n"},
		{"a mention in the middle is prose", "hello @proto", "I am the lead.\n"},
	} {
		r := f.Run("chat", "-t", c.name, "-m", c.message)
		expect(t, c.name, clitest.Result{Out: c.out, Status: 0}, r)
	}
	r := f.Run("chat", "-m", "@proto @reviewer")
	expect(t, "usage hint: status", 0, r.Status)
	expectContains(t, "usage hint", "@proto", r.Out)
	expectContains(t, "usage hint", "@reviewer", r.Out)
	r = f.Run("chat", "-m", "@dead hi")
	expect(t, "a failed delegate is an answer: status and stderr", []any{0, ""}, []any{r.Status, r.Diag})
	expectMatch(t, "a failed delegate", `Delegate @dead failed: [^\n]*connection refused\n`, r.Out)
	expect(t, "nothing is recorded of the usage hint", []string{"operator: hi", "dead failed: (could not be reached: " +
		strings.TrimSuffix(strings.TrimPrefix(r.Out, "Delegate @dead failed: "), "\n") + ")"}, voices(show(t, f, "main")))
}

// design 6: 1 on an error of ours, 2 on wrong usage; the words are on stderr, stdout is
// empty.
func TestStatus(t *testing.T) {
	t.Parallel()
	f := folder(t, says(t, "hi"), "")
	broken := binary.In(t)
	broken.Config("room:\n  max_rounds: 3\n    catchup: 4\n")
	for _, c := range []struct {
		name   string
		in     *clitest.Folder
		args   []string
		status int
		diag   string
	}{
		{"an unknown command", f, []string{"chta"}, 2, "chta"},
		{"an unknown command of a group", f, []string{"thread", "shwo"}, 2, "shwo"},
		{"no command", f, nil, 2, "a command is missing"},
		{"no command of a group", f, []string{"thread"}, 2, "a command is missing"},
		{"an unknown flag", f, []string{"chat", "--jsn"}, 2, "--jsn"},
		{"an unknown short flag", f, []string{"chat", "-x"}, 2, "-x"},
		{"a flag without its value", f, []string{"chat", "-m"}, 2, "-m"},
		{"an argument too many", f, []string{"chat", "hello"}, 2, "hello"},
		{"an empty message", f, []string{"chat", "-m", ""}, 2, "empty"},
		{"a blank message", f, []string{"chat", "-m", " \n\t"}, 2, "empty"},
		{"a missing flag", f, []string{"thread", "rewind"}, 2, "--to is missing"},
		{"a wrong format", f, []string{"thread", "export", "--format", "pdf"}, 2, `"pdf"`},
		{"a wrong number", f, []string{"thread", "compact", "--keep", "many"}, 2, "many"},
		{"too few arguments", f, []string{"config", "set", "room.max_rounds"}, 2, "a key and a value"},
		{"an explicit file that does not exist", f, []string{"chat", "-c", "nope.yaml", "-m", "hi"}, 1, "nope.yaml"},
		{"the same for a thread", f, []string{"thread", "list", "-c", "nope.yaml"}, 1, "nope.yaml"},
		{"the same for the roster", f, []string{"delegates", "list", "-c", "nope.yaml"}, 1, "nope.yaml"},
		{"the same for config check", f, []string{"config", "check", "-c", "nope.yaml"}, 1, "nope.yaml"},
		{"the same for config show", f, []string{"config", "show", "-c", "nope.yaml"}, 1, "nope.yaml"},
		{"a file that cannot be parsed", broken, []string{"chat", "-m", "hi"}, 1, "langgraph-config.yaml:3"},
		{"the same for a thread", broken, []string{"thread", "list"}, 1, "langgraph-config.yaml:3"},
		{"an unknown thread", f, []string{"thread", "show", "-t", "nope"}, 1, "nope"},
		{"a message that is not UTF-8", f, []string{"chat", "-m", "a\xff"}, 1, "not valid UTF-8"},
		{"a thread id that is not UTF-8", f, []string{"chat", "-m", "hi", "-t", "\xff"}, 1, "UTF-8"},
		{"an unknown delegate to probe", f, []string{"delegates", "probe", "nope"}, 1, `"nope"`},
	} {
		r := c.in.Run(c.args...)
		expect(t, c.name+": status", c.status, r.Status)
		expect(t, c.name+": stdout", "", r.Out)
		expectContains(t, c.name+": stderr", c.diag, r.Diag)
	}
	for _, args := range [][]string{{"--help"}, {"help"}, {"chat", "--help"}, {"thread", "show", "-h"}} {
		r := f.Run(args...)
		expect(t, "status of help", []any{0, ""}, []any{r.Status, r.Diag})
		expectContains(t, "help", "Usage:", r.Out)
	}
}

// A message of a million characters is too long for an argument on some systems; as a line
// it is a clear error, and the next line works.
func TestLongMessage(t *testing.T) {
	t.Parallel()
	f := folder(t, says(t, "hi"), "")
	p := f.Start("chat")
	p.Say(strings.Repeat("é", 1_000_000) + "\nshort")
	p.Out("hi\n")
	p.CloseInput()
	r := p.Wait()
	expect(t, "stdout", "hi\n", r.Out)
	expectMatch(t, "stderr", "error: [^\n]*(characters|bytes)[^\n]*\n", r.Diag)
	expect(t, "the thread", []string{"human: short", "ai: hi"}, voices(show(t, f, "main")))
}

// design 6, spec 5.3: the done line's fields; what is zero is absent where the design says so.
func TestDoneLine(t *testing.T) {
	t.Parallel()
	f := folder(t, says(t, "I am the lead."), "room: { max_rounds: 2, catchup_max_messages: 1 }\n"+roster(
		openaiEntry("proto", clitest.NewModel(t, func(q clitest.Question) clitest.Answer {
			if strings.Contains(q.Last(), "could not be reached") {
				return clitest.Say("pass")
			}
			return clitest.Say("auth broke")
		})), openaiEntry("reviewer", says(t, "(pass)")),
		"  - { name: dead, type: openai, url: \"http://127.0.0.1:1/v1\", model: m, api_key: planted-k }\n"))
	turn := func(thread, message string) (clitest.Line, []clitest.Line) {
		t.Helper()
		r := f.Run("chat", "--json", "-t", thread, "-m", message)
		expect(t, message+": status and stderr", []any{0, ""}, []any{r.Status, r.Diag})
		lines := clitest.ParseLines(t, r.Out)
		expect(t, message+": the last line", "done", lines[len(lines)-1].Text("type"))
		return lines[len(lines)-1], lines
	}
	last, lines := turn("lead", "hello")
	expect(t, "a lead turn", clitest.Line{"type": "done", "thread": "lead", "handled": false, "text": "I am the lead.", "spent": spent(1)}, last)
	expect(t, "a lead turn has no other line", 1, len(lines))

	last, _ = turn("roster", "@prto hi")
	expect(t, "the roster answer", clitest.Line{"type": "done", "thread": "roster", "handled": true, "reason": "unknown_delegate",
		"text": last["text"], "aside": last["text"]}, last)

	last, _ = turn("one", "@proto what broke?")
	expect(t, "one addressee", clitest.Line{"type": "done", "thread": "one", "handled": true, "reason": "answered",
		"exchange": last["exchange"], "text": "auth broke", "outcomes": []any{outcome("proto", 1, map[string]any{"reply": "auth broke"})}, "spent": spent(1)},
		withoutTimes(last))

	turn("room", "hello")
	last, lines = turn("room", "@proto @reviewer @dead what broke?")
	expect(t, "a room", clitest.Line{"type": "done", "thread": "room", "handled": true, "reason": "settled",
		"exchange": last["exchange"], "text": last["text"], "aside": last["aside"],
		"notes": map[string]any{"truncated": []any{"proto"}}, "spent": spent(4),
		"outcomes": []any{
			outcome("proto", 1, map[string]any{"reply": "auth broke", "caught_up": 1.0, "truncated": true}),
			outcome("reviewer", 1, map[string]any{"silent": true, "caught_up": 1.0, "truncated": true}),
			outcome("dead", 1, map[string]any{"ok": false, "error_kind": "unreachable", "caught_up": 1.0, "truncated": true}),
			outcome("proto", 2, map[string]any{"silent": true, "caught_up": 1.0}),
			outcome("reviewer", 2, map[string]any{"silent": true, "caught_up": 1.0, "truncated": true}),
		}}, withoutTimes(last))
	expectContains(t, "the text", "Older messages were left out of the catch-up for @proto", last.Text("text"))
	expect(t, "events in order", []string{
		"dispatch_started proto", "progress proto", "dispatch_ended proto",
		"dispatch_started reviewer", "progress reviewer", "dispatch_ended reviewer",
		"dispatch_started dead", "dispatch_ended dead",
		"dispatch_started proto", "progress proto", "dispatch_ended proto",
		"dispatch_started reviewer", "progress reviewer", "dispatch_ended reviewer", "done ",
	}, sequence(lines))
}

// spent is what so many answers of the tests' models cost: tokens, and no price is known.
func spent(answers float64) map[string]any {
	return map[string]any{"answers": answers, "input_tokens": 3 * answers, "output_tokens": 2 * answers, "cost_usd": 0.0, "unknown_cost": answers}
}

// outcome is one outcome of a done line; more replaces fields or adds them.
func outcome(author string, round float64, more map[string]any) map[string]any {
	o := map[string]any{"author": author, "round": round, "ok": true, "silent": false,
		"caught_up": 0.0, "truncated": false, "collecting": false}
	for key, value := range more {
		o[key] = value
	}
	return o
}

// withoutTimes takes out of the outcomes what differs from run to run.
func withoutTimes(l clitest.Line) clitest.Line {
	outcomes, _ := l["outcomes"].([]any)
	for _, o := range outcomes {
		fields := o.(map[string]any)
		for _, key := range []string{"started", "duration_ns", "usage", "error"} {
			delete(fields, key)
		}
	}
	return l
}

// sequence is the types of lines, each with its member; pieces of one text are one.
func sequence(lines []clitest.Line) []string {
	var all []string
	for _, l := range lines {
		step := l.Text("type") + " " + l.Text("member")
		if len(all) == 0 || all[len(all)-1] != step {
			all = append(all, step)
		}
	}
	return all
}

// design 6: without a file the program is the demo, and says so on stderr.
func TestBuiltInDemo(t *testing.T) {
	t.Parallel()
	f := binary.In(t)
	f.Write("go.mod", "module broken\n\ngo 1.26\n")
	f.Write("broken.go", "package broken\n\nvar n int = \"text\"\n")
	r := f.Run("chat", "-m", "@proto what broke the build?")
	expect(t, "status", 0, r.Status)
	expectContains(t, "stdout names the file and line", "broken.go:3", r.Out)
	expect(t, "stderr", "There is no langgraph-config.yaml here: using the built-in demo configuration.\n", r.Diag)
	r = f.Run("chat", "-m", "ask oracle what broke")
	expect(t, "status of the lead's delegation", 0, r.Status)
	expectContains(t, "the lead's answer", "oracle: ", r.Out)
}

// Text of a delegate or a model never reaches the terminal with its control sequences:
// answers, events, the thread and its exports.
func TestControlSequences(t *testing.T) {
	t.Parallel()
	const hostile = "red \x1b[31m bell \a csi \u009b31m del \x7f over\rwrite \x1b]0;title\a end"
	f := folder(t, says(t, hostile), roster(openaiEntry("proto", says(t, hostile)), openaiEntry("fails",
		clitest.NewModel(t, func(clitest.Question) clitest.Answer { return clitest.Answer{Status: 400, Text: hostile} }))))
	for _, args := range [][]string{
		{"chat", "-m", "hi"}, {"chat", "-m", "@proto hi"}, {"chat", "-m", "@fails hi"}, {"chat", "-m", "@\x1b[31m hi"},
		{"chat", "--json", "-m", "hi"}, {"chat", "--json", "-m", "@proto @fails hi"},
		{"thread", "show"}, {"thread", "show", "--json"}, {"thread", "export"}, {"thread", "export", "--format", "json"},
		{"thread", "show", "-t", "\x1b[31m"}, {"thread", "list"}, {"delegates", "probe", "\x1b[31m"}, {"chat", "-c", "\x1b[31m"},
	} {
		r := f.Run(args...)
		for name, text := range map[string]string{"stdout": r.Out, "stderr": r.Diag} {
			if at := strings.IndexFunc(text, func(r rune) bool { return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f }); at >= 0 {
				t.Errorf("%q: %s has a control character at %d: %q", args, name, at, text)
			}
		}
		if r.Out == "" && r.Diag == "" {
			t.Errorf("%q says nothing", args)
		}
	}
	expect(t, "the value in JSON is whole", "ai: "+hostile, voices(show(t, f, "main"))[1])
}
