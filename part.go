package langrooms

import (
	"bytes"
	"encoding/json"
)

// PartKind tells which fields of a [Part] carry its content.
type PartKind string

// The kinds of part that this version writes. A reader must expect others: a part
// of an unknown kind keeps its fields in [Part.Extra] and is stored again as it was.
const (
	PartText       PartKind = "text"
	PartImageURL   PartKind = "image_url"
	PartBinary     PartKind = "binary"
	PartToolCall   PartKind = "tool_call"
	PartToolResult PartKind = "tool_result"
)

// Part is one piece of a message's content.
type Part struct {
	Kind PartKind
	// Text is the content of a text part.
	Text string
	// URL is the address of an image part, Detail its optional resolution hint.
	URL    string
	Detail string
	// MIMEType and Data are the content of a binary part, Name is the file's, if it has one;
	// see [FilePart].
	MIMEType string
	Data     []byte
	Name     string
	// ToolCall is what a model asked for; ToolResult is what came of it.
	ToolCall   *ToolCall
	ToolResult *ToolResult
	// Extra holds JSON fields of later versions, kept over a round trip.
	Extra map[string]json.RawMessage
}

// ToolCall is a model's request to run a tool.
type ToolCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Arguments is the JSON text as the model wrote it, valid or not.
	Arguments string `json:"arguments"`
}

// ToolResult answers the [ToolCall] of the same ID.
type ToolResult struct {
	CallID  string `json:"call_id"`
	Name    string `json:"name"`
	Content string `json:"content"`
	// IsError marks a failure that the model may read and act on.
	IsError bool `json:"is_error,omitempty"`
}

// TextPart returns a text part.
func TextPart(text string) Part { return Part{Kind: PartText, Text: text} }

func (p Part) clone() Part {
	p.Data = bytes.Clone(p.Data)
	if p.ToolCall != nil {
		c := *p.ToolCall
		p.ToolCall = &c
	}
	if p.ToolResult != nil {
		r := *p.ToolResult
		p.ToolResult = &r
	}
	p.Extra = cloneExtra(p.Extra)
	return p
}
