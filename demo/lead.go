package demo

import (
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"strings"
)

// leadSign is how the lead says what it is.
const leadSign = "(I am the demo lead: there is no model here, I only read this thread.)"

// leadAnswer is the lead's answer to the messages of a thread: words, or a tool call.
func leadAnswer(messages []chatMessage, tools []chatTool) (string, []toolCall) {
	t := readThread(messages)
	switch call, ok := t.delegation(tools); {
	case len(t.results) > 0:
		return strings.Join(t.results, "\n") + "\n" + leadSign, nil
	case t.arrived != "":
		return fmt.Sprintf("I have taken in what %s said: %s\n%s", t.arrived, t.said[t.arrived], leadSign), nil
	case ok:
		return "", []toolCall{call}
	case len(t.order) == 0:
		return "Nobody but you has spoken here yet." + invitation(tools) + "\n" + leadSign, nil
	}
	var b strings.Builder
	b.WriteString("This is what each of them last said:")
	for _, name := range t.order {
		fmt.Fprintf(&b, "\n- %s: %s", name, t.said[name])
	}
	return b.String() + "\n" + leadSign, nil
}

// rosterLine is a line of the delegate tool's description (package delegatetool writes it).
var rosterLine = regexp.MustCompile(`(?m)^- (\S+) \(`)

// invitation says whom the operator can address, as far as the tools tell.
func invitation(tools []chatTool) string {
	var names []string
	for _, tool := range tools {
		if tool.Function.Name != delegateTool {
			continue
		}
		for _, m := range rosterLine.FindAllStringSubmatch(tool.Function.Description, -1) {
			names = append(names, "@"+m[1])
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return " Begin a message with " + names[0] + " to ask it."
	}
	last := len(names) - 1
	return " Begin a message with " + strings.Join(names[:last], ", ") + " or " + names[last] + " to ask one of them, or name several."
}

// thread is what the lead makes of the messages.
type thread struct {
	question string
	// order lists the members that spoke, said what each said last.
	order []string
	said  map[string]string
	// results are what came of the lead's tool calls since the question.
	results []string
	// arrived is the member whose words are the newest of all, when the operator has
	// asked nothing since.
	arrived string
}

// envelope is a room message as a model is shown it (package room writes it).
var envelope = regexp.MustCompile(`(?s)^\s*<room-message from="([^"]*)"( to="[^"]*")?>\n(.*)\n</room-message>\s*$`)

func readThread(messages []chatMessage) thread {
	t := thread{said: make(map[string]string)}
	answered := true // whether the lead has spoken since the newest words
	targets := make(map[string]string)
	for _, m := range messages {
		switch m.Role {
		case "user":
			answered = false
			t.hear(string(m.Content))
		case "assistant":
			for _, c := range m.ToolCalls {
				targets[c.ID] = c.target()
			}
			if len(m.ToolCalls) == 0 {
				answered, t.arrived, t.results = true, "", nil
			}
		case "tool":
			t.results = append(t.results, fmt.Sprintf("%s: %s", targets[m.ToolCallID], m.Content))
		}
	}
	if answered || len(t.results) > 0 {
		t.arrived = ""
	}
	return t
}

// hear takes one message of the human side: an envelope or the operator's own words.
func (t *thread) hear(text string) {
	e := envelope.FindStringSubmatch(text)
	switch {
	case e == nil && strings.HasPrefix(text, "<system-notice>"):
	case e == nil:
		t.question, t.arrived, t.results = strings.TrimSpace(text), "", nil
	case e[2] == "": // a reply, and no address
		name := html.UnescapeString(e[1])
		if _, known := t.said[name]; !known {
			t.order = append(t.order, name)
		}
		t.said[name] = withoutSign(html.UnescapeString(e[3]))
		t.arrived = name
	default:
		t.arrived = ""
	}
}

// withoutSign puts a member's words on one line, without the line that says what it is.
func withoutSign(text string) string {
	return clip(strings.Join(statements(text), " "), 300)
}

// delegateTool is the tool's name (spec: rooms, section 8).
const delegateTool = "delegate_to"

// request is how the operator has the lead ask somebody.
var request = regexp.MustCompile(`(?is)^(?:please,? )?(?:can you |could you )?(?:ask|tell) @?(\S+?)[,:]? (?:to )?(.+)$`)

// delegation returns the call that the operator's words want, if the tool is offered and
// names the delegate.
func (t thread) delegation(tools []chatTool) (toolCall, bool) {
	m := request.FindStringSubmatch(t.question)
	if m == nil {
		return toolCall{}, false
	}
	named := regexp.MustCompile(`(^|[^\pL\pN_-])` + regexp.QuoteMeta(m[1]) + `($|[^\pL\pN_-])`)
	for _, tool := range tools {
		f := tool.Function
		if f.Name != delegateTool || !named.MatchString(f.Description+" "+string(f.Parameters)) {
			continue
		}
		arguments, err := json.Marshal(map[string]string{"target": m[1], "query": m[2]})
		if err != nil {
			return toolCall{}, false
		}
		return newToolCall(delegateTool, string(arguments)), true
	}
	return toolCall{}, false
}

// target returns whom a call of the delegate tool is for.
func (c toolCall) target() string {
	var arguments struct{ Target string }
	if err := json.Unmarshal([]byte(c.Function.Arguments), &arguments); err != nil || arguments.Target == "" {
		return c.Function.Name
	}
	return arguments.Target
}
