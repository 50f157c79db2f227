package demo

import (
	"slices"
	"strings"
)

// prompt is what a member is sent, taken apart again (package room writes it).
type prompt struct {
	// lines are what has been said since the member last spoke, oldest first.
	lines []line
	// question is the message itself.
	question string
	// mayPass means that silence was offered.
	mayPass bool
}

// line is one message of the window.
type line struct{ author, text string }

const (
	preface   = "You are taking part in a group chat."
	addressed = "You have been addressed directly as @"
	passOffer = "If you have nothing to add, reply with exactly pass and nothing else."
	pass      = "pass"
	operator  = "operator"
)

// parsePrompt reads a room's prompt. A text that is none is a question without a window.
func parsePrompt(text string) prompt {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if !strings.HasPrefix(text, preface) {
		return prompt{question: strings.TrimSpace(text)}
	}
	var p prompt
	for rest := text; rest != ""; {
		var row string
		row, rest, _ = strings.Cut(rest, "\n")
		if strings.HasPrefix(row, addressed) {
			p.question, p.mayPass = strings.CutSuffix(strings.TrimSpace(rest), passOffer)
			p.question = strings.TrimSpace(p.question)
			return p
		}
		p.take(row)
	}
	return p
}

// take adds one row of the window: a new line begins with "[", its further rows are
// indented by two spaces.
func (p *prompt) take(row string) {
	if author, text, ok := strings.Cut(strings.TrimPrefix(row, "["), "] "); ok && strings.HasPrefix(row, "[") {
		p.lines = append(p.lines, line{author, text})
	} else if more, ok := strings.CutPrefix(row, "  "); ok && len(p.lines) > 0 {
		last := &p.lines[len(p.lines)-1]
		last.text += "\n" + more
	}
}

// fromMembers returns the lines that other members said: neither the operator nor the lead by
// one of its usual names.
func (p prompt) fromMembers() []line {
	var out []line
	for _, l := range p.lines {
		if l.author != operator && l.author != "assistant" && l.author != leadName {
			out = append(out, l)
		}
	}
	return out
}

// operatorSpoke reports whether the window holds words of the operator.
func (p prompt) operatorSpoke() bool {
	return slices.ContainsFunc(p.lines, func(l line) bool { return l.author == operator })
}

// addressShown reports whether the address itself stands in the window, which it does when
// others have answered it already.
func (p prompt) addressShown() bool {
	return slices.ContainsFunc(p.lines, func(l line) bool {
		return l.author == operator && strings.TrimSpace(l.text) == p.question
	})
}
