package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/langrooms/langrooms/internal/clitest"
	"github.com/langrooms/langrooms/internal/redistest"
)

var updateScreens = flag.Bool("update", false, "write the screens of docs/terminal.md anew")

const (
	terminalPage = "../../docs/terminal.md"
	hourBegins   = "<!-- The screens below are those of TestTerminalHour; go test ./cmd/langrooms -run TestTerminalHour -update writes them. -->\n"
	hourEnds     = "<!-- Here they end. -->\n"
)

// hour is a walk through the chat, with its screens.
type hour struct {
	*screen
	page strings.Builder
}

// step types a line and waits until all of seen is there and nothing runs any more. Under words, if
// any, it keeps what stands from that line on.
func (h *hour) step(words, line string, seen ...string) {
	h.t.Helper()
	h.typed(line)
	h.settled(seen...)
	if words != "" {
		h.keep(words, line)
	}
}

func (h *hour) typed(line string) {
	h.t.Helper()
	h.keys("-l", line)
	h.keys("Enter")
}

// running ends the row of a turn under way.
const running = "Ctrl-C stops"

// settled waits until all of seen is on the screen and no turn runs.
func (h *hour) settled(seen ...string) {
	h.t.Helper()
	for _, text := range seen {
		h.until(text)
	}
	err := redistest.Eventually(clitest.Patience, func() error {
		if shown := h.tmux("capture-pane", "-p"); strings.Contains(shown, running) {
			return fmt.Errorf("a turn is still running:\n%s", shown)
		}
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

// keep keeps what stands from a typed line on.
func (h *hour) keep(words, line string) {
	h.t.Helper()
	h.page.WriteString(words + "\n\n```text\n" + h.from(line) + "\n```\n\n")
}

// What differs from run to run.
var (
	clock  = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`)
	lasted = regexp.MustCompile(`· \d+ s ·`)
)

// from is the screen from the last time that line was typed.
func (h *hour) from(line string) string {
	all := h.tmux("capture-pane", "-p", "-J", "-S", "-")
	at := strings.LastIndex(all, "› "+line)
	if at < 0 {
		h.t.Fatalf("%q was not typed:\n%s", line, all)
	}
	var rows []string
	for row := range strings.Lines(all[at:]) {
		rows = append(rows, strings.TrimRight(row, " \n"))
	}
	text := strings.TrimRight(strings.Join(rows, "\n"), "\n ›")
	return lasted.ReplaceAllString(clock.ReplaceAllString(text, "2026-12-01 10:00:00"), "· 3 s ·")
}

// An hour of work in one terminal: a paste, a file, members side by side of whom one is stopped,
// leave that is asked for, what it all cost, a search, another try. Its screens are those of the
// page.
func TestTerminalHour(t *testing.T) {
	t.Parallel()
	reviewer, asked, letGo := held(t, "I am late.")
	defer letGo()
	proto := clitest.NewModel(t, func(q clitest.Question) clitest.Answer {
		switch last := q.Last(); {
		case strings.Contains(q.Body, "data:image/png;base64,"):
			return clitest.Say("A chart of the build's time. It doubles in November.")
		case strings.Contains(last, "func half"):
			return clitest.Say("It is, and it rounds down: half(-3) is -2.")
		case strings.Contains(last, "safe"):
			return clitest.Say("Yes: nothing else calls it.")
		}
		return clitest.Say("The cache was cold.")
	})
	coder := strings.Replace(asking(t), "name: proto", "name: coder", 1)
	f := folder(t, says(t, "I am the lead."), "room: { max_rounds: 1, parallel: first }\n"+roster(
		strings.Replace(priced("proto", proto, 1000, 2000), " }\n", ", accepts: [image/*] }\n", 1), openaiEntry("reviewer", reviewer), coder))
	f.Write("chart.png", pngHead)
	h := &hour{screen: newScreen(t, f, "chat")}
	h.until("›")

	h.pasted("@proto is this right?\nfunc half(n int) int {\n\treturn n >> 1\n}")
	h.until("return n >> 1")
	h.keys("Enter")
	h.settled("It is, and it rounds down")
	h.keep("A paste goes as it is:", "@proto is this right?")
	h.step("", "/attach chart.png", "With your next message: chart.png")
	h.step("", "@proto what is this?", "It doubles in November.")
	h.keep("A file goes with the next message:", "/attach chart.png")
	h.typed("@proto @reviewer is it safe?")
	<-asked
	h.until("nothing else calls it.")
	h.until("\n@reviewer is working · ")
	h.keep("Members are asked side by side (`room.parallel: first`), and the others' answers do not wait for the slowest:", "@proto @reviewer is it safe?")
	h.step("One of them is stopped:", "/stop @reviewer", "@reviewer did not answer: stopped by the operator")
	h.typed("@coder repair it")
	h.until("asks for leave: /yes, /always or /no · ")
	h.keep("A delegate asks for leave:", "@coder repair it")
	h.step("", "/no", "was refused by permissions: ask")
	h.step("", "@proto why was it slow?", "The cache was cold.")
	h.step("What it has cost so far:", "/cost", "reviewer")
	h.step("What was said is found again:", "/search rounds down", "proto: It is, and it rounds down")
	h.typed("/retry")
	h.settled("sending yours again.\n› @proto why was it slow?\n@proto — The cache was cold.")
	h.keep("The last message is sent again:", "/retry")
	h.step("The files of the thread:", "/save", "/save N saves one here")
	h.keys("C-d")
	h.until("the status is 0")

	have, err := os.ReadFile(terminalPage)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(have), hourBegins)
	old, tail, ends := strings.Cut(rest, hourEnds)
	if !ok || !ends {
		t.Fatalf("%s has no place for the screens", terminalPage)
	}
	want := "\n" + h.page.String()
	if *updateScreens {
		if err := os.WriteFile(terminalPage, []byte(head+hourBegins+want+hourEnds+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(old, want); diff != "" {
		t.Errorf("%s (-page +screen):\n%s", terminalPage, diff)
	}
}
