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
	images    bool // takes them
}

func (a *actor) Info() delegate.Info {
	return delegate.Info{Name: a.name, Type: "script", Conversational: !a.stateless, OwnReplies: a.own}
}

func (a *actor) Probe(context.Context) (delegate.Health, error) { return delegate.Health{}, nil }
func (a *actor) Close() error                                   { return nil }

func (a *actor) Ask(ctx context.Context, req delegate.Request) (delegate.Reply, error) {
	defer a.signal(a.name)
	where := ""
	if req.Conversation == thread {
		where = " in its conversation"
	}
	files, stead := req.Part(func(f delegate.File) bool { return a.images && delegate.Takes([]string{"image/*"}, f.MIMEType) })
	for _, f := range files {
		where += fmt.Sprintf(" with %s (%s, %d bytes)", f.Name, f.MIMEType, len(f.Data))
	}
	a.sent("@" + a.name + where + "\n" + indent(req.Prompt+stead))
	var usage *langrooms.Usage
	var returned delegate.Received
	for {
		line, ok := a.next()
		if !ok {
			return delegate.Reply{}, a.fail(delegate.KindProtocol, "the script has no answer left")
		}
		words := strings.TrimSpace(line[1:])
		switch line[0] {
		case '+':
			<-a.p.answered(words)
			continue
		case '$':
			usage = a.usage(words)
			continue
		case '^':
			name, claimed, _ := strings.Cut(words, " ")
			returned.Add(name, claimed, []byte("\x89PNG\r\n\x1a\n"))
			continue
		case '>':
			kind, text, _ := strings.Cut(words, " ")
			if unquoted, err := strconv.Unquote(text); err == nil {
				text = unquoted
			}
			req.Progress(langrooms.Progress{Kind: langrooms.ProgressKind(kind), Text: text})
			a.signal(a.name + ">")
			continue
		case '!':
			return delegate.Reply{}, a.failure(words)
		case '%':
			if words == "forget" {
				a.forget(ctx, req)
				continue
			}
			if name, ok := strings.CutPrefix(words, "halt "); ok {
				a.p.steer.Stop(strings.TrimPrefix(name, "*"), langrooms.Stop{Kind: langrooms.ErrorStopped})
				if ctx.Err() == nil {
					continue
				}
				words = "wait"
			}
			return a.incident(ctx, words)
		}
		reply := answer(words)
		reply.Usage, reply.Files = usage, returned.Files()
		return reply, nil
	}
}

// usage reads "IN OUT" or "IN OUT DOLLARS".
func (a *actor) usage(words string) *langrooms.Usage {
	var u langrooms.Usage
	var cost float64
	switch n, _ := fmt.Sscan(words, &u.InputTokens, &u.OutputTokens, &cost); n {
	case 3:
		u.CostUSD = &cost
	case 2:
	default:
		a.p.t.Errorf("usage %q: not IN OUT [DOLLARS]", words)
	}
	return &u
}

// sent notes what the actor was sent.
func (a *actor) sent(text string) {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	nth := 0
	for _, before := range a.p.prompts {
		if before.member == a.name {
			nth++
		}
	}
	a.p.prompts = append(a.p.prompts, prompt{a.name, nth, text})
}

// signal says once that what others wait for has happened in this turn: the actor NAME has
// answered, or, as "NAME>", reported progress.
func (a *actor) signal(what string) {
	answered := a.p.answered(what)
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	select {
	case <-answered:
	default:
		close(answered)
	}
}

// next takes the actor's next line off the script.
func (a *actor) next() (line string, ok bool) {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	lines := a.p.script[a.name]
	if len(lines) == 0 {
		return "", false
	}
	a.p.script[a.name] = lines[1:]
	return lines[0], true
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
	a.sent("@" + a.name + " opens a conversation\n" + indent(text))
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
//	halt NAME     the operator stops this member alone, or with * whoever is at work; one that
//	              is stopped says so when it is, and the others have another line
//	wait          it works until it is stopped
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
	case "wait":
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
