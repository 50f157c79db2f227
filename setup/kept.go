package setup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/internal/completion"
	"github.com/langrooms/langrooms/langchain"
	"github.com/langrooms/langrooms/room"
)

// keptForm is the stored form of what an endpoint wants back.
type keptForm struct {
	// Of is the identity of the model that said it: nobody else gets it.
	Of string `json:"of"`
	completion.Kept
}

// identity names the model at its endpoint, without saying where that is.
func (l *leadModel) identity() string {
	sum := sha256.Sum256([]byte(l.m.URL + "\n" + l.m.Model))
	return hex.EncodeToString(sum[:8])
}

// encodeKept returns nil when there is nothing to keep.
func encodeKept(k completion.Kept, of string) json.RawMessage {
	if k.Empty() {
		return nil
	}
	data, err := json.Marshal(keptForm{of, k})
	if err != nil {
		return nil // no field of the endpoint's is worth an answer
	}
	return data
}

// keptOf gathers what the model of this identity wants back with the thread.
func keptOf(thread []langrooms.Message, of string) keptFields {
	found := keptFields{}
	for _, m := range thread {
		if m.Role != langrooms.RoleAI || m.Stamp != nil {
			continue
		}
		var kept keptForm
		if raw, ok := m.Extra[langchain.KeptKey]; !ok || json.Unmarshal(raw, &kept) != nil || kept.Of != of {
			kept = keptForm{} // holds the place of a message of the same text
		}
		place := "text " + room.NeutralizeTags(m.Text())
		for _, p := range m.Parts {
			if p.ToolCall != nil {
				place = "call " + room.NeutralizeTags(p.ToolCall.ID)
				break
			}
		}
		found[place] = append(found[place], kept.Kept)
	}
	return found
}
