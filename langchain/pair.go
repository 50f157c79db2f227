package langchain

import (
	"slices"

	"github.com/langrooms/langrooms"
)

// paired returns messages without the tool calls and results that have no counterpart: a
// call's result is in the tool messages right behind it. An id may come again in a later
// update.
func paired(messages []langrooms.Message) []langrooms.Message {
	var out []langrooms.Message
	for i := 0; i < len(messages); {
		n := 1
		for i+n < len(messages) && messages[i+n].Role == langrooms.RoleTool {
			n++
		}
		out = append(out, pairUpdate(messages[i:i+n])...)
		i += n
	}
	return out
}

// pairUpdate does so for one message and the tool messages behind it. Ids are counted,
// because a model may give two calls the same one.
func pairUpdate(update []langrooms.Message) []langrooms.Message {
	asked, answered := make(map[string]int), make(map[string]int)
	for _, p := range update[0].Parts {
		if p.ToolCall != nil && update[0].Role == langrooms.RoleAI {
			asked[p.ToolCall.ID]++
		}
	}
	kept := slices.Clone(update)
	for i, m := range kept {
		kept[i].Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p langrooms.Part) bool {
			if p.ToolResult == nil {
				return false
			}
			id := p.ToolResult.CallID
			answered[id]++
			return answered[id] > asked[id]
		})
	}
	kept[0].Parts = slices.DeleteFunc(kept[0].Parts, func(p langrooms.Part) bool {
		if p.ToolCall == nil {
			return false
		}
		answered[p.ToolCall.ID]--
		return answered[p.ToolCall.ID] < 0
	})
	return kept
}
