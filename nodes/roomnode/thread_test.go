package roomnode_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/exchange"
)

// before puts messages in the form of render on the thread.
func (p *player) before(lines []string) {
	var messages []langrooms.Message
	for _, line := range lines {
		text, indented := strings.CutPrefix(line, "    ")
		if !indented {
			messages = append(messages, p.parseHead(line))
			continue
		}
		m := &messages[len(messages)-1]
		if len(m.Parts) == 0 || m.Parts[0].Kind != langrooms.PartText {
			m.Parts = append([]langrooms.Part{langrooms.TextPart(text)}, m.Parts...)
			continue
		}
		m.Parts[0].Text += "\n" + text
	}
	hold, err := exchange.Begin(p.t.Context(), p.saver.Saver, thread)
	if err == nil {
		err = errors.Join(hold.Put("input", messages...), hold.End())
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.render() // nothing of it is the next turn's
}

// parseHead reads "human from=proto to=a,b exchange=x1 round=1 failed late incognito seen=3".
// Beside the stamp there can be parts: image=URL, file=MIMETYPE, call=TOOL, result=TOOL.
func (p *player) parseHead(head string) langrooms.Message {
	fields := strings.Fields(head)
	m := langrooms.NewMessage(langrooms.Role(fields[0]), "")
	m.Parts = nil
	var stamp langrooms.Stamp
	for _, field := range fields[1:] {
		key, value, _ := strings.Cut(field, "=")
		if part, ok := parsePart(key, value); ok {
			m.Parts = append(m.Parts, part)
			continue
		}
		if err := p.parseStamp(&stamp, key, value); err != nil {
			p.t.Fatalf("message %q, field %q: %v", head, field, err)
		}
		m.Stamp = &stamp
	}
	return m
}

func parsePart(key, value string) (langrooms.Part, bool) {
	switch key {
	case "image":
		return langrooms.Part{Kind: langrooms.PartImageURL, URL: value}, true
	case "file":
		return langrooms.Part{Kind: langrooms.PartBinary, MIMEType: value, Data: []byte{0, 1, 2}}, true
	case "call":
		return langrooms.Part{Kind: langrooms.PartToolCall,
			ToolCall: &langrooms.ToolCall{ID: "call-1", Name: value, Arguments: "{}"}}, true
	case "result":
		return langrooms.Part{Kind: langrooms.PartToolResult,
			ToolResult: &langrooms.ToolResult{CallID: "call-1", Name: value, Content: "what the tool found"}}, true
	}
	return langrooms.Part{}, false
}

func (p *player) parseStamp(s *langrooms.Stamp, key, value string) (err error) {
	switch key {
	case "from":
		s.From = value
	case "to":
		s.To = strings.Split(value, ",")
	case "exchange":
		s.Exchange = value
		p.exchanges[value] = value
	case "round":
		s.Round, err = strconv.Atoi(value)
	case "seen":
		s.Seen, err = strconv.ParseInt(value, 10, 64)
	case "failed":
		s.Failed = true
	case "late":
		s.Late = true
	case "incognito":
		s.Incognito = true
	default:
		err = errors.New("no such field")
	}
	return err
}

// compact replaces all but the newest keep messages by a summary.
func (p *player) compact(lines []string) {
	var keep int
	var members string
	if _, err := fmt.Sscanf(lines[0], "keep=%d members=%s", &keep, &members); err != nil {
		p.t.Fatalf("compact %q: %v", lines[0], err)
	}
	summary := langrooms.NewMessage(langrooms.RoleSystem, strings.TrimSpace(strings.Join(lines[1:], "\n")))
	summary.Summary = &langrooms.Summary{Replaced: 1}
	for _, member := range strings.Split(members, ",") {
		name, seen, _ := strings.Cut(member, ":")
		n, err := strconv.ParseInt(seen, 10, 64)
		if err != nil {
			p.t.Fatalf("compact %q: %v", lines[0], err)
		}
		summary.Summary.Members = append(summary.Summary.Members, langrooms.SummaryMember{Name: name, Seen: n})
	}
	store, ok := p.saver.Saver.(checkpointer.Compacter)
	if !ok {
		p.t.Fatal("the store cannot compact")
	}
	cp, err := p.saver.Get(p.t.Context(), checkpointer.Ref{Thread: thread})
	if err == nil {
		_, err = store.Compact(p.t.Context(), cp.Ref, summary, keep)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.render()
}

// render returns what was put on the thread since the last call.
func (p *player) render() string {
	var b strings.Builder
	last := -1
	all := p.saver.Saver.Messages(p.t.Context(), checkpointer.Ref{Thread: thread}, checkpointer.Range{})
	for m, err := range all {
		if errors.Is(err, checkpointer.ErrNotFound) {
			break
		}
		if err != nil {
			p.t.Fatal(err)
		}
		if last = int(m.Seq); last < p.shown {
			continue
		}
		if time.Since(m.Time) > time.Hour || m.ID == "" {
			p.t.Errorf("a message without an ID or a time: %+v", m)
		}
		b.WriteString(string(m.Role))
		if m.Stamp != nil {
			b.WriteString(p.stampText(m.Stamp))
		}
		for _, f := range m.Files() {
			fmt.Fprintf(&b, " file=%s:%s:%d", f.Name, f.MIMEType, len(f.Data))
		}
		b.WriteString("\n" + indent(m.Text()))
	}
	p.shown = max(p.shown, last+1)
	return b.String()
}

func (p *player) stampText(s *langrooms.Stamp) string {
	if p.exchanges[s.Exchange] == "" {
		p.exchanges[s.Exchange] = "x" + strconv.Itoa(len(p.exchanges)+1)
	}
	text := " from=" + s.From
	if len(s.To) > 0 {
		text += " to=" + strings.Join(s.To, ",")
	}
	text += " exchange=" + p.exchanges[s.Exchange]
	if s.Round != 0 {
		text += fmt.Sprintf(" round=%d", s.Round)
	}
	if s.Seen != 0 {
		text += fmt.Sprintf(" seen=%d", s.Seen)
	}
	if s.Usage != nil {
		text += fmt.Sprintf(" usage=%d/%d", s.Usage.InputTokens, s.Usage.OutputTokens)
		if s.Usage.CostUSD != nil {
			text += "/" + langrooms.Dollars(*s.Usage.CostUSD)
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

func indent(text string) string {
	return "    " + strings.ReplaceAll(text, "\n", "\n    ") + "\n"
}
