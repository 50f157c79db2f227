package langgraphapi

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/thread"
)

// message is a message as LangGraph's clients see it.
type message struct {
	ID       string          `json:"id"`
	Type     string          `json:"type" enum:"human,ai,tool,system"`
	Content  json.RawMessage `json:"content" ref:"Content"`
	Name     string          `json:"name,omitempty"`
	Kwargs   map[string]any  `json:"additional_kwargs"`
	Response map[string]any  `json:"response_metadata"`
	// The fields of an AI message; empty lists there, absent elsewhere.
	ToolCalls   *[]toolCall `json:"tool_calls,omitempty"`
	InvalidCall *[]toolCall `json:"invalid_tool_calls,omitempty"`
	// Usage is what an AI message used, as LangChain has it; absent when that is not known.
	Usage *usageMetadata `json:"usage_metadata,omitempty"`
	// The fields of a tool message.
	ToolCallID string `json:"tool_call_id,omitempty"`
	Status     string `json:"status,omitempty"`
}

type toolCall struct {
	ID   string         `json:"id"`
	Name string         `json:"name"`
	Args map[string]any `json:"args"`
	Type string         `json:"type"`
}

// sentKey is the field of a stored message that keeps the content as the client sent it: the
// room stores an address without its @names, and blocks as parts.
const sentKey = "sent"

// view renders the messages of a thread.
type view struct {
	lead string
	// named puts the author before the text once a second voice has spoken.
	named bool
}

// messages renders what a checkpoint sees.
func (v view) messages(stored []langrooms.Message) []message {
	out := make([]message, 0, len(stored))
	voices := map[string]bool{}
	for _, m := range stored {
		out = append(out, v.message(m, voices))
	}
	return out
}

// message renders one message; voices are the authors of AI messages so far.
func (v view) message(m langrooms.Message, voices map[string]bool) message {
	out := message{ID: m.ID, Kwargs: map[string]any{}, Response: map[string]any{}}
	if about := metadata(m); len(about) > 0 {
		out.Kwargs["metadata"] = about
	}
	switch {
	case thread.IsNote(m) && m.Role == langrooms.RoleAI:
		out.Type, out.Name, out.Content = "ai", noteAuthor, textContent(m.Text())
		out.ToolCalls, out.InvalidCall = &[]toolCall{}, &[]toolCall{}
	case m.Stamp != nil && m.Stamp.From == langrooms.Operator, m.Stamp == nil && m.Role == langrooms.RoleHuman:
		out.Type = "human"
		out.Content = whole(m)
		if out.Content == nil {
			out.Content = textContent(addressText(m))
		}
	case m.Stamp != nil || m.Role == langrooms.RoleAI:
		v.ai(&out, m, voices)
	case m.Role == langrooms.RoleTool:
		out.Type, out.Content = "tool", textContent(m.Text())
		for _, p := range m.Parts {
			if r := p.ToolResult; r != nil {
				out.Content, out.ToolCallID, out.Name, out.Status = textContent(r.Content), r.CallID, r.Name, "success"
				if r.IsError {
					out.Status = "error"
				}
			}
		}
	default:
		out.Type, out.Content = "system", textContent(m.Text())
	}
	return out
}

// ai renders what an agent said: the lead, or a member under its name.
func (v view) ai(out *message, m langrooms.Message, voices map[string]bool) {
	out.Type, out.Name = "ai", v.lead
	if m.Stamp != nil {
		out.Name = m.Stamp.From
	}
	text := addressText(m)
	voices[out.Name] = true
	if v.named && len(voices) > 1 && text != "" {
		text = namedPrefix(out.Name) + text
	}
	out.Content = textContent(text)
	out.used(m.Cost())
	calls := []toolCall{}
	for _, p := range m.Parts {
		if p.ToolCall != nil {
			calls = append(calls, callOf(p.ToolCall))
		}
	}
	out.ToolCalls, out.InvalidCall = &calls, &[]toolCall{}
}

// metadata is what is known of a message beside its words: when it was said, how many it stands for where it is a
// summary, and the room's facts.
func metadata(m langrooms.Message) map[string]any {
	about := map[string]any{}
	if !m.Time.IsZero() {
		about["time"] = m.Time.UTC().Format(time.RFC3339Nano)
	}
	if m.Summary != nil {
		about["summary"] = map[string]any{"replaced": m.Summary.Replaced}
	}
	if m.Stamp != nil && !(thread.IsNote(m) && m.Role == langrooms.RoleAI) {
		about["room"] = facts(m.Stamp)
	}
	var files []map[string]any
	for i, f := range m.Files() {
		files = append(files, map[string]any{"n": i, "name": langrooms.FileName(f.Name), "type": f.MIMEType, "bytes": len(f.Data)})
	}
	if len(files) > 0 {
		about["files"] = files
	}
	return about
}

// namedPrefix is how a text says who speaks (spec: rooms, 5.1).
func namedPrefix(name string) string { return "**@" + name + "** — " }

func callOf(c *langrooms.ToolCall) toolCall {
	call := toolCall{ID: c.ID, Name: c.Name, Args: map[string]any{}, Type: "tool_call"}
	if json.Unmarshal([]byte(c.Arguments), &call.Args) != nil || call.Args == nil {
		call.Args = map[string]any{} // what the model wrote is no object
	}
	return call
}

// addressText is a message's text; an address has its names in front, as it was typed.
func addressText(m langrooms.Message) string {
	text := m.Text()
	if m.Stamp == nil || len(m.Stamp.To) == 0 {
		return text
	}
	return "@" + strings.Join(m.Stamp.To, " @") + " " + text
}

// facts is what a client that knows rooms can show beside a message.
func facts(s *langrooms.Stamp) map[string]any {
	known := *s
	known.From, known.Seen, known.Extra = "", 0, nil // the author is the message's name
	f := map[string]any{"exchange": s.Exchange, "round": s.Round}
	data, err := json.Marshal(known)
	if err == nil {
		err = json.Unmarshal(data, &f)
	}
	if err != nil {
		panic("langgraphapi: a stamp does not marshal: " + err.Error())
	}
	delete(f, "from")
	return f
}

func textContent(text string) json.RawMessage {
	data, err := json.Marshal(text)
	if err != nil {
		panic("langgraphapi: text does not marshal: " + err.Error())
	}
	return data
}

// inputMessage is a message as clients send it: `type` or `role`, text or blocks.
type inputMessage struct {
	ID         string          `json:"id"`
	Type       string          `json:"type"`
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCallID string          `json:"tool_call_id"`
	Name       string          `json:"name"`
}

// UnmarshalJSON also takes a bare string for a human message, and [role, text].
func (m *inputMessage) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*m = inputMessage{Type: "human", Content: data}
		return nil
	}
	var pair []json.RawMessage
	if json.Unmarshal(data, &pair) == nil {
		if len(pair) != 2 || json.Unmarshal(pair[0], &m.Type) != nil {
			return refused(http.StatusUnprocessableEntity, "a message is a list that is not [role, text]")
		}
		m.Content = pair[1]
		return nil
	}
	type plain inputMessage
	var p plain
	if err := json.Unmarshal(data, &p); err != nil {
		return refused(http.StatusUnprocessableEntity, "a message of the input cannot be read")
	}
	*m = inputMessage(p)
	return nil
}

// inputMessages takes one message in place of a list.
type inputMessages []inputMessage

// UnmarshalJSON reads a list of messages, or one.
func (l *inputMessages) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	var list []inputMessage
	if len(data) > 0 && data[0] == '[' && !isPair(data) {
		if err := json.Unmarshal(data, &list); err != nil {
			return err
		}
		*l = list
		return nil
	}
	var one inputMessage
	if err := one.UnmarshalJSON(data); err != nil {
		return err
	}
	*l = inputMessages{one}
	return nil
}

// isPair reports whether data is [role, text] rather than a list of such.
func isPair(data []byte) bool {
	var pair []json.RawMessage
	if json.Unmarshal(data, &pair) != nil || len(pair) != 2 {
		return false
	}
	var role string
	return json.Unmarshal(pair[0], &role) == nil && roles[role] != ""
}

// roles maps what clients call a role to the stored one; remove is an operation.
var roles = map[string]string{"human": "human", "user": "human", "ai": "ai", "assistant": "ai",
	"system": "system", "developer": "system", "tool": "tool", "remove": "remove"}

// role is the role of m by its type or its role.
func (m inputMessage) role() (string, error) {
	word := m.Type
	if roles[word] == "" {
		word = m.Role
	}
	if roles[word] == "" {
		return "", refused(http.StatusUnprocessableEntity, "a message has the type %q, which is none of human, ai, tool, system, remove", m.Type)
	}
	return roles[word], nil
}

// toolless begins the ids of messages that Agent Chat UI makes up to answer tool calls without
// results; they say nothing.
const toolless = "do-not-render-"

// stored is m as the thread keeps it. Content that is not a plain text is kept beside it as it
// was sent.
func (m inputMessage) stored(role string) (langrooms.Message, error) {
	parts, text, plain, err := contentParts(m.Content)
	if err != nil {
		return langrooms.Message{}, err
	}
	out := langrooms.NewMessage(langrooms.Role(role), text)
	out.Parts = parts
	if m.ID != "" {
		out.ID = m.ID
	}
	if role == "human" || !plain {
		sent, word := once(m.Content, parts)
		out.Extra = map[string]json.RawMessage{sentKey: sent}
		if word != "" {
			out.Extra[onceKey] = textContent(word)
		}
	}
	if role == "tool" {
		out.Parts = []langrooms.Part{{Kind: langrooms.PartToolResult,
			ToolResult: &langrooms.ToolResult{CallID: m.ToolCallID, Name: m.Name, Content: text}}}
	}
	return out, nil
}
