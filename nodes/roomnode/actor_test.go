package roomnode_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
)

// actor is a delegate that follows the transcript's script.
type actor struct {
	p         *player
	name      string
	stateless bool
	own       bool // wants to be shown its own replies
}

func (a *actor) Info() delegate.Info {
	return delegate.Info{Name: a.name, Type: "script", Conversational: !a.stateless, OwnReplies: a.own}
}

func (a *actor) Probe(context.Context) (delegate.Health, error) { return delegate.Health{}, nil }
func (a *actor) Close() error                                   { return nil }

func (a *actor) Ask(ctx context.Context, req delegate.Request) (delegate.Reply, error) {
	p := a.p
	fmt.Fprintf(&p.prompts, "@%s", a.name)
	if req.Conversation == thread {
		fmt.Fprintf(&p.prompts, " in its conversation")
	}
	fmt.Fprintf(&p.prompts, "\n%s", indent(req.Prompt))
	for {
		lines := p.script[a.name]
		if len(lines) == 0 {
			return delegate.Reply{}, a.fail(delegate.KindProtocol, "the script has no answer left")
		}
		p.script[a.name] = lines[1:]
		words := strings.TrimSpace(lines[0][1:])
		switch lines[0][0] {
		case '>':
			kind, text, _ := strings.Cut(words, " ")
			req.Progress(langrooms.Progress{Kind: langrooms.ProgressKind(kind), Text: text})
			continue
		case '!':
			return delegate.Reply{}, a.failure(words)
		case '%':
			if words == "forget" {
				a.forget(ctx, req)
				continue
			}
			return a.incident(ctx, words)
		}
		return answer(words), nil
	}
}

// forget begins a new conversation.
func (a *actor) forget(ctx context.Context, req delegate.Request) {
	text := "nothing to open with"
	if req.Opening != nil {
		var err error
		if text, err = req.Opening(ctx); err != nil {
			a.p.t.Error(err)
		}
	}
	fmt.Fprintf(&a.p.prompts, "@%s opens a conversation\n%s", a.name, indent(text))
}

func answer(words string) delegate.Reply {
	if text, err := strconv.Unquote(words); err == nil {
		words = text
	}
	return delegate.Reply{Text: words, Paused: strings.HasPrefix(words, "⏸")}
}

func (a *actor) fail(kind delegate.Kind, cause string) *delegate.Error {
	return &delegate.Error{Delegate: a.name, Kind: kind, Err: errors.New(cause)}
}

// failure reads "KIND words"; a first word task-N, and any after still_running, is the task.
func (a *actor) failure(line string) *delegate.Error {
	kind, cause, _ := strings.Cut(line, " ")
	err := a.fail(delegate.Kind(kind), cause)
	if task, rest, _ := strings.Cut(cause, " "); err.Kind == delegate.KindStillRunning || strings.HasPrefix(task, "task-") {
		err.Task, err.Err, err.Accepted = task, errors.New(rest), true
	}
	return err
}

// incident is what happens while the delegate works:
//
//	forget        the delegate asks for the prompt of a new conversation, and goes on
//	stop          the operator stops the turn
//	stop: words   the operator stops the turn, and the delegate answers all the same
//	crash         the process dies
//	lose          another writer takes the thread over; the delegate answers
//	leave OTHER   OTHER leaves the roster; the delegate says so
//	knob LINE     a knob changes; the delegate says so
func (a *actor) incident(ctx context.Context, words string) (delegate.Reply, error) {
	p := a.p
	what, detail, _ := strings.Cut(words, " ")
	switch what {
	case "stop":
		p.stop()
		<-ctx.Done()
		return delegate.Reply{}, a.fail(delegate.KindCanceled, ctx.Err().Error())
	case "stop:":
		p.stop()
		return answer(detail), nil
	case "crash":
		p.saver.die()
	case "lose":
		p.saver.usurp()
		return delegate.Reply{Text: "an answer to nobody"}, nil
	case "leave":
		p.setRoster(slices.DeleteFunc(slices.Clone(p.roster), func(line string) bool {
			name, _, _ := strings.Cut(line, " ")
			return name == detail
		}))
		return delegate.Reply{Text: "@" + detail + " has left"}, nil
	case "knob":
		p.setKnobs([]string{detail})
		return delegate.Reply{Text: "now " + detail}, nil
	}
	return delegate.Reply{}, a.fail(delegate.KindProtocol, "no such incident: "+words)
}
