package roomnode_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/delegate"
)

// actor is a delegate that follows the transcript's script.
type actor struct {
	p         *player
	name      string
	stateless bool
}

func (a *actor) Info() delegate.Info {
	return delegate.Info{Name: a.name, Type: "script", Conversational: !a.stateless}
}

func (a *actor) Probe(context.Context) (delegate.Health, error) { return delegate.Health{}, nil }
func (a *actor) Close() error                                   { return nil }

func (a *actor) Ask(ctx context.Context, req delegate.Request) (delegate.Reply, error) {
	p := a.p
	fmt.Fprintf(&p.prompts, "@%s", a.name)
	if req.Conversation != "" {
		fmt.Fprintf(&p.prompts, " in its conversation")
	}
	fmt.Fprintf(&p.prompts, "\n%s", indent(req.Prompt))
	lines := p.script[a.name]
	if len(lines) == 0 {
		return delegate.Reply{}, a.fail(delegate.KindProtocol, "the script has no answer left")
	}
	p.script[a.name] = lines[1:]
	words := strings.TrimSpace(lines[0][1:])
	switch lines[0][0] {
	case '!':
		kind, cause, _ := strings.Cut(words, " ")
		err := a.fail(delegate.Kind(kind), cause)
		if err.Kind == delegate.KindStillRunning {
			err.Task, cause, _ = strings.Cut(cause, " ")
			err.Err, err.Accepted = errors.New(cause), true
		}
		return delegate.Reply{}, err
	case '%':
		return a.incident(ctx, words)
	}
	text, err := strconv.Unquote(words)
	if err != nil {
		text = words
	}
	return delegate.Reply{Text: text, Paused: strings.HasPrefix(text, "⏸")}, nil
}

func (a *actor) fail(kind delegate.Kind, cause string) *delegate.Error {
	return &delegate.Error{Delegate: a.name, Kind: kind, Err: errors.New(cause)}
}

func (a *actor) incident(ctx context.Context, words string) (delegate.Reply, error) {
	what, who, _ := strings.Cut(words, " ")
	switch what {
	case "stop":
		a.p.stop(nil)
		<-ctx.Done()
		return delegate.Reply{}, a.fail(delegate.KindCanceled, ctx.Err().Error())
	case "crash":
		// The lease of a dead process runs out; here it is simply taken away.
		a.p.saver.(*forgetful).forget()
		panic(crash{})
	case "leave":
		var left []string
		for _, line := range a.p.roster {
			if name, _, _ := strings.Cut(line, " "); name != who {
				left = append(left, line)
			}
		}
		a.p.setRoster(left)
		return delegate.Reply{Text: "@" + who + " has left"}, nil
	}
	return delegate.Reply{}, a.fail(delegate.KindProtocol, "no such incident: "+words)
}

// forgetful is a saver whose lease can be dropped as if its holder had died.
type forgetful struct {
	checkpointer.Saver
	held checkpointer.Lease
}

func (f *forgetful) Lock(ctx context.Context, thread string) (checkpointer.Lease, error) {
	lease, err := f.Saver.(checkpointer.Locker).Lock(ctx, thread)
	f.held = lease
	return lease, err
}

func (f *forgetful) forget() {
	if err := f.held.Release(); err != nil {
		panic(err)
	}
}

// before puts messages in the form of render on the thread.
func (p *player) before(text string) {
	var messages []langrooms.Message
	for _, block := range strings.Split(text, "\n") {
		if strings.HasPrefix(block, "    ") {
			m := &messages[len(messages)-1]
			m.Parts[0].Text += strings.TrimPrefix(block, "    ") + "\n"
			continue
		}
		messages = append(messages, parseHead(p, block))
	}
	for i := range messages {
		messages[i].Parts[0].Text = strings.TrimSuffix(messages[i].Parts[0].Text, "\n")
	}
	step := checkpointer.Step{Log: checkpointer.Append(messages...)}
	if _, err := p.saver.Put(p.t.Context(), checkpointer.Ref{Thread: thread}, step); err != nil {
		p.t.Fatal(err)
	}
	p.shown = len(messages)
}

// parseHead reads "human from=proto to=a,b exchange=x1 round=1 failed late seen=3".
func parseHead(p *player, head string) langrooms.Message {
	fields := strings.Fields(head)
	m := langrooms.NewMessage(langrooms.Role(fields[0]), "")
	if len(fields) > 1 {
		m.Stamp = &langrooms.Stamp{}
	}
	for _, field := range fields[1:] {
		key, value, _ := strings.Cut(field, "=")
		n, err := strconv.Atoi(value)
		switch key {
		case "from":
			m.Stamp.From, err = value, nil
		case "to":
			m.Stamp.To, err = strings.Split(value, ","), nil
		case "exchange":
			m.Stamp.Exchange, err = value, nil
			p.exchanges[value] = value
		case "round":
			m.Stamp.Round = n
		case "seen":
			m.Stamp.Seen = int64(n)
		case "failed":
			m.Stamp.Failed, err = true, nil
		case "late":
			m.Stamp.Late, err = true, nil
		case "incognito":
			m.Stamp.Incognito, err = true, nil
		default:
			err = errors.New("no such field")
		}
		if err != nil {
			p.t.Fatalf("message %q, field %q: %v", head, field, err)
		}
	}
	return m
}

// render returns what was put on the thread since the last call.
func (p *player) render() string {
	var b strings.Builder
	n := 0
	for m, err := range messagesOf(p.t.Context(), p.saver) {
		if err != nil {
			p.t.Fatal(err)
		}
		if n++; n <= p.shown {
			continue
		}
		if time.Since(m.Time) > time.Hour || m.ID == "" {
			p.t.Errorf("a message without an ID or a time: %+v", m)
		}
		b.WriteString(string(m.Role))
		if s := m.Stamp; s != nil {
			if p.exchanges[s.Exchange] == "" {
				p.exchanges[s.Exchange] = "x" + strconv.Itoa(len(p.exchanges)+1)
			}
			b.WriteString(stampOf(s, p.exchanges[s.Exchange]))
		}
		b.WriteString("\n" + indent(m.Text()))
	}
	p.shown = n
	return b.String()
}

func stampOf(s *langrooms.Stamp, exchange string) string {
	text := " from=" + s.From
	if len(s.To) > 0 {
		text += " to=" + strings.Join(s.To, ",")
	}
	text += " exchange=" + exchange
	for _, f := range []struct {
		name string
		n    int
	}{{"round", s.Round}, {"seen", int(s.Seen)}} {
		if f.n != 0 {
			text += fmt.Sprintf(" %s=%d", f.name, f.n)
		}
	}
	for _, f := range []struct {
		name string
		set  bool
	}{{"failed", s.Failed}, {"late", s.Late}, {"incognito", s.Incognito}} {
		if f.set {
			text += " " + f.name
		}
	}
	return text
}

func messagesOf(ctx context.Context, s checkpointer.Saver) iter.Seq2[langrooms.Message, error] {
	return func(yield func(langrooms.Message, error) bool) {
		for m, err := range s.Messages(ctx, checkpointer.Ref{Thread: thread}, checkpointer.Range{}) {
			if errors.Is(err, checkpointer.ErrNotFound) || !yield(m, err) {
				return
			}
		}
	}
}

func indent(text string) string {
	return "    " + strings.ReplaceAll(text, "\n", "\n    ") + "\n"
}
