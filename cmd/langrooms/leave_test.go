package main

import (
	"strings"
	"testing"
)

// asking is a roster with an agent that asks for leave, and an entry that asks a person.
func asking(t *testing.T) string {
	return strings.TrimSuffix(acpEntry(t, "proto", "asks"), " }\n") + ", permissions: ask }\n"
}

// A delegate that asks for leave is answered by the person at the terminal.
func TestLeaveIsAsked(t *testing.T) {
	t.Parallel()
	s := newScreen(t, folder(t, says(t, "I am the lead."), roster(asking(t))), "chat")
	s.until("›")
	s.keys("@proto repair it", "Enter")
	s.until("@proto asks for leave: “go test ./...” (execute)")
	s.until("asks for leave: /yes, /always or /no · ")
	s.keys("/yes", "Enter")
	s.until(`I was told {"outcome":{"optionId":"y"`)
	s.keys("@proto and again", "Enter")
	s.until("/no · ")
	s.keys("/no", "Enter")
	s.until("“go test ./...” (execute) was refused by permissions: ask")
	s.keys("/yes", "Enter")
	s.until("no delegate asks for leave")
	s.keys("C-d")
	s.until("the status is 0")
}

// Where nobody can be asked it is refused, and the reply says so.
func TestLeaveIsRefused(t *testing.T) {
	t.Parallel()
	f := folder(t, says(t, "I am the lead."), roster(asking(t)))
	for _, args := range [][]string{{"chat", "-m", "@proto repair it"}, {"chat", "--json", "-m", "@proto repair it"}} {
		r := f.Run(args...)
		expect(t, "status", 0, r.Status)
		expectContains(t, "the reply", "“go test ./...” (execute) was refused by permissions: ask (nobody can be asked here)", r.Out)
	}
}
