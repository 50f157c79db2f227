package acpagent

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/coder/acp-go-sdk"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/internal/redact"
)

// notification is the part of a session/update that is used. It is decoded by the name in
// "sessionUpdate" and not with the SDK's union, which takes an update of an unknown kind for
// another one. Unknown kinds are ignored, as the protocol asks for.
type notification struct {
	SessionID string `json:"sessionId"`
	Update    update `json:"update"`
}

type update struct {
	Kind string `json:"sessionUpdate"`
	// Content is a content block in a chunk, and a list of other things in a tool call.
	Content json.RawMessage `json:"content"`
	// MessageID tells the messages of a turn apart, where the agent gives one.
	MessageID string `json:"messageId"`
	// Cost is what the session has cost so far.
	Cost json.RawMessage `json:"cost"`
	callInfo
	Entries []planEntry `json:"entries"`
}

// callInfo is what a tool call says of itself; the same object stands in a permission
// request. Absent fields of an update have not changed.
type callInfo struct {
	ID       string `json:"toolCallId"`
	Title    string `json:"title"`
	ToolKind string `json:"kind"`
	Status   string `json:"status"`
}

type planEntry struct {
	Content string `json:"content"`
	Status  string `json:"status"`
}

// The kinds of updates that are used (protocol document "Prompt Turn").
const (
	agentMessageChunk = "agent_message_chunk"
	agentThoughtChunk = "agent_thought_chunk"
	toolCall          = "tool_call"
	toolCallUpdate    = "tool_call_update"
	planUpdate        = "plan"
	usageUpdate       = "usage_update"
)

// contentBlock is a block of a chunk. Text stays undecoded: see pieces.
type contentBlock struct {
	Type     string          `json:"type"`
	Text     json.RawMessage `json:"text"`
	MimeType string          `json:"mimeType"`
	Name     string          `json:"name"`
	URI      string          `json:"uri"`
	Data     json.RawMessage `json:"data"`
	Resource struct {
		URI      string          `json:"uri"`
		MimeType string          `json:"mimeType"`
		Text     json.RawMessage `json:"text"`
		Blob     json.RawMessage `json:"blob"`
	} `json:"resource"`
}

// blocks reads a chunk's content: one block, or a list of blocks as some agents send.
func blocks(content json.RawMessage) ([]contentBlock, error) {
	if bytes.HasPrefix(bytes.TrimSpace(content), []byte("[")) {
		var list []contentBlock
		err := json.Unmarshal(content, &list)
		return list, err
	}
	var one contentBlock
	err := json.Unmarshal(content, &one)
	return []contentBlock{one}, err
}

// add appends the block's text as p puts it together. A block that holds no text is named
// in brackets (spec: rooms, 3.2), with an embedded text below its name.
func (b contentBlock) add(p *pieces) (string, error) {
	switch b.Type {
	case "text":
		return p.next(b.Text)
	case "resource":
		name := p.rest() + bracket("resource", b.Resource.URI, b.Resource.MimeType)
		if b.Resource.Text == nil {
			return name, nil
		}
		text, err := p.next(b.Resource.Text)
		return name + "\n" + text, err
	case "resource_link":
		return p.rest() + bracket("resource", b.Name, b.URI), nil
	default:
		return p.rest() + bracket(b.Type, b.MimeType), nil
	}
}

func bracket(words ...string) string {
	return "[" + delegate.OneLine(strings.Join(words, " "), maxTitle) + "]"
}

// The bounds of what is reported as progress: the code points of a title and of a status or
// kind, the lines of a plan, the tool calls of a turn that are remembered, the bytes of their ids.
const (
	maxTitle     = 300
	maxWord      = 100
	maxCallID    = 1024
	maxPlan      = 100
	maxToolCalls = 1000
)

// planText puts a plan into lines, an entry each, without secrets.
func planText(r redact.Set, entries []planEntry) string {
	var lines []string
	for i, e := range entries {
		if i == maxPlan {
			lines = append(lines, fmt.Sprintf("… and %d more", len(entries)-maxPlan))
			break
		}
		lines = append(lines, delegate.OneLine(r.Text(fmt.Sprintf("[%s] %s", e.Status, e.Content)), maxTitle))
	}
	return strings.Join(lines, "\n")
}

// toolCalls remembers what a turn's newest tool calls have said of themselves.
type toolCalls struct {
	known map[string]callInfo
	order []string // of their ids, oldest first
}

// merge returns c completed by what is known of the same call, and remembers it. first
// says that nothing was known.
func (t *toolCalls) merge(c callInfo) (_ callInfo, first bool) {
	known, ok := t.known[c.ID]
	c.Title = delegate.OneLine(cmp.Or(c.Title, known.Title), maxTitle)
	c.ToolKind = delegate.OneLine(cmp.Or(c.ToolKind, known.ToolKind), maxWord)
	c.Status = delegate.OneLine(cmp.Or(c.Status, known.Status), maxWord)
	if len(c.ID) > maxCallID {
		return c, !ok
	}
	if !ok {
		t.order = append(t.order, c.ID)
	}
	t.known[c.ID] = c
	if len(t.order) > maxToolCalls {
		delete(t.known, t.order[0])
		t.order = t.order[1:]
	}
	return c, !ok
}

// permissionRequest is the part of a session/request_permission that is used.
type permissionRequest struct {
	SessionID string                 `json:"sessionId"`
	ToolCall  callInfo               `json:"toolCall"`
	Options   []acp.PermissionOption `json:"options"`
}
