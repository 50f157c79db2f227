// Package langchain turns stored messages into langchaingo's and back. A stamped
// message goes to a model in its envelope (room.Envelope), because langchaingo's
// message type has no place for an author; that is also why it is never the stored
// form.
//
// # Concurrency
//
// All functions are pure.
package langchain

import (
	"fmt"
	"slices"

	"github.com/tmc/langchaingo/llms"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/room"
)

// ToModel renders messages for a model call, in order. A tool message with several
// results becomes one message per result, as the providers want it; a message without
// anything a model can be shown is left out. So is a tool call without its result right
// behind it, or a result without its call right in front, as a rewind can leave them:
// providers refuse a request that holds one. System text in the middle of a thread, such
// as an injected notice or the summary of a compaction, goes as a human message in a
// <system-notice> envelope: most providers take a system message only in front. No text of
// anybody's, nor a name or an argument of a tool call, opens or closes an envelope.
func ToModel(messages []langrooms.Message) []llms.MessageContent {
	var out []llms.MessageContent
	for _, m := range paired(messages) {
		out = append(out, toModel(m)...)
	}
	return out
}

func toModel(m langrooms.Message) []llms.MessageContent {
	switch {
	case m.Stamp != nil:
		parts := []llms.ContentPart{llms.TextContent{Text: room.Envelope(m)}}
		return one(llms.ChatMessageTypeHuman, append(parts, mediaParts(m.Parts)...))
	case m.Role == langrooms.RoleSystem:
		return one(llms.ChatMessageTypeHuman, []llms.ContentPart{llms.TextContent{Text: room.Notice(room.Content(m))}})
	case m.Role == langrooms.RoleTool:
		return toolResults(m)
	case m.Role == langrooms.RoleAI:
		return one(llms.ChatMessageTypeAI, disarmed(contentParts(m.Parts)))
	default:
		return one(llms.ChatMessageTypeHuman, disarmed(contentParts(m.Parts)))
	}
}

func one(role llms.ChatMessageType, parts []llms.ContentPart) []llms.MessageContent {
	if len(parts) == 0 {
		return nil
	}
	return []llms.MessageContent{{Role: role, Parts: parts}}
}

func toolResults(m langrooms.Message) []llms.MessageContent {
	var out []llms.MessageContent
	for _, p := range m.Parts {
		if r := p.ToolResult; r != nil {
			out = append(out, llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: disarmed([]llms.ContentPart{
				llms.ToolCallResponse{ToolCallID: r.CallID, Name: r.Name, Content: r.Content},
			})})
		}
	}
	return out
}

func contentParts(parts []langrooms.Part) []llms.ContentPart {
	var out []llms.ContentPart
	for _, p := range parts {
		switch {
		case p.Kind == langrooms.PartText && p.Text != "":
			out = append(out, llms.TextContent{Text: p.Text})
		case p.ToolCall != nil:
			c := p.ToolCall
			out = append(out, llms.ToolCall{ID: c.ID, Type: "function",
				FunctionCall: &llms.FunctionCall{Name: c.Name, Arguments: sendable(c.Arguments)}})
		case p.Kind == langrooms.PartBinary && p.Name != "":
			out = append(out, llms.TextContent{Text: room.Content(langrooms.Message{Parts: []langrooms.Part{p}})})
			out = append(out, mediaParts([]langrooms.Part{p})...)
		default:
			out = append(out, mediaParts([]langrooms.Part{p})...)
		}
	}
	return out
}

func mediaParts(parts []langrooms.Part) []llms.ContentPart {
	var out []llms.ContentPart
	for _, p := range parts {
		switch p.Kind {
		case langrooms.PartImageURL:
			out = append(out, llms.ImageURLContent{URL: p.URL, Detail: p.Detail})
		case langrooms.PartBinary:
			out = append(out, llms.BinaryContent{MIMEType: p.MIMEType, Data: slices.Clone(p.Data)})
		}
	}
	return out
}

// FromModel turns a message of langchaingo's into one to be stored, with a fresh ID. Room
// envelopes in it stay text: a stamp is given only by the program that heard the speaker.
// A role or part that has no stored form is an error.
func FromModel(mc llms.MessageContent) (langrooms.Message, error) {
	role, err := roleOf(mc.Role)
	if err != nil {
		return langrooms.Message{}, err
	}
	m := langrooms.NewMessage(role, "")
	m.Parts = nil
	for _, part := range mc.Parts {
		p, err := fromPart(part)
		if err != nil {
			return langrooms.Message{}, err
		}
		m.Parts = append(m.Parts, p)
	}
	return m, nil
}

func roleOf(role llms.ChatMessageType) (langrooms.Role, error) {
	switch role {
	case llms.ChatMessageTypeSystem:
		return langrooms.RoleSystem, nil
	case llms.ChatMessageTypeHuman, llms.ChatMessageTypeGeneric:
		return langrooms.RoleHuman, nil
	case llms.ChatMessageTypeAI:
		return langrooms.RoleAI, nil
	case llms.ChatMessageTypeTool, llms.ChatMessageTypeFunction:
		return langrooms.RoleTool, nil
	}
	return "", fmt.Errorf("langchain: the role %q has no stored form", role)
}

func fromPart(part llms.ContentPart) (langrooms.Part, error) {
	switch p := part.(type) {
	case llms.TextContent:
		return langrooms.TextPart(p.Text), nil
	case llms.ImageURLContent:
		return langrooms.Part{Kind: langrooms.PartImageURL, URL: p.URL, Detail: p.Detail}, nil
	case llms.BinaryContent:
		return langrooms.Part{Kind: langrooms.PartBinary, MIMEType: p.MIMEType, Data: slices.Clone(p.Data)}, nil
	case llms.ToolCall:
		call := langrooms.ToolCall{ID: p.ID}
		if p.FunctionCall != nil {
			call.Name, call.Arguments = p.FunctionCall.Name, p.FunctionCall.Arguments
		}
		return langrooms.Part{Kind: langrooms.PartToolCall, ToolCall: &call}, nil
	case llms.ToolCallResponse:
		return langrooms.Part{Kind: langrooms.PartToolResult, ToolResult: &langrooms.ToolResult{
			CallID: p.ToolCallID, Name: p.Name, Content: p.Content}}, nil
	}
	return langrooms.Part{}, fmt.Errorf("langchain: a part of type %T has no stored form", part)
}
