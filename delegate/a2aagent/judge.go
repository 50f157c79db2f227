package a2aagent

import (
	"fmt"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
)

// maxQuestion bounds a pause's question in code points.
const maxQuestion = 1000

// judge returns what a settled task is for the one who asked.
func (s *session) judge(t task) (delegate.Reply, error) {
	switch t.phase() {
	case answered:
		return delegate.Reply{Text: t.words(), Task: t.id, Usage: t.spent.usage(), Files: t.attached()}, nil
	case paused:
		if t.spoke() {
			return delegate.Reply{Text: t.said, Task: t.id, Usage: t.spent.usage(), Files: t.attached()}, nil
		}
		if t.id == "" {
			e := s.fail(delegate.KindProtocol, fmt.Errorf("it needs input, but names no task to resume: %s", delegate.OneLine(t.words(), maxQuestion)))
			e.Accepted = true
			return delegate.Reply{}, e
		}
		return delegate.Reply{Text: s.pauseText(t), Paused: true, Task: t.id, Usage: t.spent.usage(), Files: t.attached()}, nil
	}
	e := s.fail(failureKind(t.state), fmt.Errorf("its task %s", stateWord(t.state)))
	if said := t.diagnosis(); said != "" {
		e.Err = fmt.Errorf("its task %s: %s", stateWord(t.state), said)
	}
	e.Accepted = true
	return delegate.Reply{}, e
}

// attached are the files that came with what the task has to say.
func (t task) attached() []langrooms.Part {
	if t.returned == nil {
		return nil
	}
	return files(*t.returned)
}

// spoke reports whether a task that waits for input asks nothing: some agents end every turn
// so, and what they have said is their answer.
func (t task) spoke() bool {
	return t.state == a2a.TaskStateInputRequired && blank(t.status) && blank(t.artifacts) && !blank(t.said) &&
		!strings.HasSuffix(strings.TrimSpace(t.said), "?")
}

// diagnosis is what a failed task has to say: its status message first.
func (t task) diagnosis() string {
	if said := delegate.OneLine(t.status, delegate.MaxCause); said != "" {
		return said
	}
	return delegate.OneLine(t.words(), delegate.MaxCause)
}

func failureKind(s a2a.TaskState) delegate.Kind {
	switch s {
	case a2a.TaskStateCanceled:
		return delegate.KindCanceled
	case a2a.TaskStateRejected:
		return delegate.KindRefused
	default:
		return delegate.KindFailed
	}
}

// pauseText is the reply of a task that waits for input: the question, the task, and how
// to resume it.
func (s *session) pauseText(t task) string {
	need := "needs input before it can go on"
	if t.state == a2a.TaskStateAuthRequired {
		need = "needs input before it can go on: it asks to be authorized"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "⏸ @%s %s.\n", s.cfg.Name, need)
	question := paragraph(paragraph("", t.artifacts), t.status)
	if question == "" {
		question = t.said
	}
	if !blank(question) {
		fmt.Fprintf(&b, "Question: %s\n", clip(strings.TrimSpace(question), maxQuestion))
	}
	id := delegate.OneLine(t.id, delegate.MaxContextID) // whole, or the task could not be resumed
	fmt.Fprintf(&b, "Parked task: %s\n\nTo answer it, write /answer @%s and the answer in the terminal chat, or ask the lead to pass it on. A message to @%s begins something new.",
		id, s.cfg.Name, s.cfg.Name)
	return b.String()
}

// clip cuts text to limit code points.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	runes := 0
	for i := range text {
		if runes == limit {
			return text[:i] + "…"
		}
		runes++
	}
	return text
}
