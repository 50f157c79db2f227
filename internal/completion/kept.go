package completion

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/langrooms/langrooms"
)

// Kept are fields of a model's message that nobody here reads: its endpoint may want them
// back with the history, as reasoning_content, or as thought signatures in extra_content.
type Kept struct {
	Message map[string]json.RawMessage `json:"message,omitempty"`
	// Calls has those of each tool call, by its id.
	Calls map[string]map[string]json.RawMessage `json:"calls,omitempty"`
}

// Empty reports whether nothing is kept.
func (k Kept) Empty() bool { return len(k.Message) == 0 && len(k.Calls) == 0 }

// maxKept bounds what is kept of one message, or of one call, in bytes; of a longer one
// nothing is.
const maxKept = 1 << 20

var (
	readOfMessage = []string{"role", "content", "refusal", "tool_calls", "function_call", "annotations", "audio"}
	readOfCall    = []string{"index", "id", "type", "function"}
)

// keeper gathers unknown fields from the pieces of a message.
type keeper struct {
	all  fields
	size int
}

func (k *keeper) message(piece fields) { k.keep(piece, readOfMessage) }

func (k *keeper) keep(piece fields, read []string) {
	for name, value := range piece {
		if slices.Contains(read, name) || blank(value) {
			continue
		}
		if k.size += len(name) + len(value); k.size > maxKept {
			k.all = nil
			continue
		}
		if k.all == nil {
			k.all = fields{}
		}
		k.all[name] = joined(k.all[name], value)
	}
}

// blank reports whether a value says nothing.
func blank(value json.RawMessage) bool {
	switch string(bytes.TrimSpace(value)) {
	case "", "null", `""`, "[]", "{}":
		return true
	}
	return false
}

// joined is a value that came in two pieces: texts and lists go on, of anything else the
// later piece counts.
func joined(before, piece json.RawMessage) json.RawMessage {
	if len(before) == 0 {
		return bytes.Clone(piece)
	}
	switch {
	case before[0] == '"' && piece[0] == '"':
		return append(before[:len(before)-1], piece[1:]...)
	case before[0] == '[' && piece[0] == '[':
		return append(append(before[:len(before)-1], ','), piece[1:]...)
	}
	return bytes.Clone(piece)
}

// kept returns the fields as they may be stored.
func (k *keeper) kept() fields {
	if k.size > maxKept {
		return nil
	}
	for name, value := range k.all {
		if k.all[name] = bytes.ToValidUTF8(value, []byte("\uFFFD")); !json.Valid(k.all[name]) {
			delete(k.all, name)
		}
	}
	return k.all
}

// building is a tool call on its way.
type building struct {
	index           float64
	id              string
	name, arguments strings.Builder
	kept            keeper
}

type callPiece struct {
	Index    *float64 `json:"index"`
	ID       string   `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// call takes the tool calls of one piece. What is no list of calls is none.
func (f *folder) call(list json.RawMessage) error {
	var raw []fields
	if len(list) == 0 || json.Unmarshal(list, &raw) != nil {
		return nil
	}
	var pieces []callPiece
	if json.Unmarshal(list, &pieces) != nil {
		return nil
	}
	for i, p := range pieces {
		b := f.callOf(p)
		b.name.WriteString(p.Function.Name)
		if f.size += len(p.Function.Name) + len(p.Function.Arguments); f.size > MaxReply {
			return ErrTooLong
		}
		var text string
		if json.Unmarshal(p.Function.Arguments, &text) == nil {
			b.arguments.WriteString(text)
		} else { // an object where a text belongs
			b.arguments.Write(p.Function.Arguments)
		}
		b.kept.keep(raw[i], readOfCall)
	}
	return nil
}

// callOf finds the call that a piece goes on with, or begins one. Endpoints that stream say
// which by an index, an id, or nothing; some give all calls the index 0.
func (f *folder) callOf(p callPiece) *building {
	for i := len(f.calls) - 1; i >= 0 && !f.quiet; i-- {
		b := f.calls[i]
		if (p.Index == nil || *p.Index == b.index) && (p.ID == "" && (p.Index != nil || p.Function.Name == "") || p.ID == b.id && p.ID != "") {
			return b
		}
	}
	b := &building{id: p.ID, index: float64(len(f.calls))}
	if p.Index != nil {
		b.index = *p.Index
	}
	f.calls = append(f.calls, b)
	return b
}

// finishCalls returns the calls, each with an id of its own, and all that is kept.
func (f *folder) finishCalls() (calls []Call, kept Kept) {
	kept.Message = f.kept.kept()
	taken := map[string]bool{"": true}
	for _, b := range f.calls {
		if taken[b.id] {
			b.id = langrooms.NewID()
		}
		taken[b.id] = true
		calls = append(calls, Call{b.id, b.name.String(), b.arguments.String()})
		if of := b.kept.kept(); len(of) > 0 {
			if kept.Calls == nil {
				kept.Calls = make(map[string]map[string]json.RawMessage)
			}
			kept.Calls[b.id] = of
		}
	}
	return calls, kept
}
