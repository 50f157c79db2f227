package terminal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/langrooms/langrooms/delegate"
)

// Leave asks the person at a screen what delegates ask leave for, one question at a time.
type Leave struct {
	printer *Printer
	turn    chan struct{} // holds the question that is shown

	mu    sync.Mutex
	shown chan delegate.PermissionAnswer // takes the answer to it, nil when none is
}

// NewLeave returns one that asks through p.
func NewLeave(p *Printer) *Leave { return &Leave{printer: p, turn: make(chan struct{}, 1)} }

// Ask shows a question and waits for /yes, /always or /no. When ctx ends it answers no. It is
// a [delegate.Request.Permission].
func (l *Leave) Ask(ctx context.Context, r delegate.PermissionRequest) delegate.PermissionAnswer {
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return delegate.PermissionNo
	}
	answers := make(chan delegate.PermissionAnswer, 1)
	l.show(answers)
	defer l.show(nil)
	l.printer.Notice(fmt.Sprintf("@%s asks for leave: %s\n/yes allows it once, /always for this conversation, /no refuses.", r.Delegate, wanted(r)))
	l.printer.Doing("@" + r.Delegate + " asks for leave: /yes, /always or /no")
	select {
	case answer := <-answers:
		l.printer.Doing("")
		return answer
	case <-ctx.Done():
		l.printer.Notice("@" + r.Delegate + " does not wait for leave any more.")
		return delegate.PermissionNo
	}
}

// wanted says what is asked for.
func wanted(r delegate.PermissionRequest) string {
	kind := cmp.Or(r.Kind, "other")
	if r.Title == "" {
		return "a tool call of kind " + kind
	}
	return fmt.Sprintf("“%s” (%s)", r.Title, kind)
}

func (l *Leave) show(answers chan delegate.PermissionAnswer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shown = answers
}

var errNoQuestion = errors.New("no delegate asks for leave")

// Commands are /yes, /always and /no.
func (l *Leave) Commands() []Command {
	command := func(name, help string, answer delegate.PermissionAnswer) Command {
		return Command{Name: name, Help: help, Beside: true, Do: func(_ context.Context, args string) (Reply, error) {
			if strings.TrimSpace(args) != "" {
				return Reply{}, fmt.Errorf("/%s takes nothing behind it", name)
			}
			return Reply{}, l.answer(answer)
		}}
	}
	return []Command{
		command("yes", "allow what a delegate asks leave for, once", delegate.PermissionOnce),
		command("always", "allow it whenever it is asked for in this conversation", delegate.PermissionConversation),
		command("no", "refuse it", delegate.PermissionNo),
	}
}

// answer answers the question that is shown, once.
func (l *Leave) answer(a delegate.PermissionAnswer) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shown == nil {
		return errNoQuestion
	}
	l.shown <- a
	l.shown = nil
	return nil
}

// Screen reports whether a chat from in to out would be one at a screen, where a person can
// be asked while a turn runs.
func Screen(in, out any) bool {
	_, _, ok := screenOf(in, out)
	return ok
}
