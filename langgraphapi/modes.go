package langgraphapi

import (
	"encoding/json"
	"net/http"
	"slices"
)

// The stream modes that are served.
const (
	modeValues   = "values"
	modeTuple    = "messages-tuple"
	modeMessages = "messages"
	modeUpdates  = "updates"
	modeCustom   = "custom"
)

// knownModes are also those for which nothing is sent.
var knownModes = []string{modeValues, modeTuple, modeMessages, modeUpdates, modeCustom, "events", "debug", "tasks", "checkpoints", "tools"}

// modes takes one mode in place of a list.
type modes []string

// UnmarshalJSON reads a list of modes, or one; null is none.
func (m *modes) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		if *m = nil; one != "" {
			*m = modes{one}
		}
		return nil
	}
	var list []string
	if err := json.Unmarshal(data, &list); err != nil {
		return refused(http.StatusUnprocessableEntity, "stream_mode must be a mode or a list of modes")
	}
	*m = list
	return nil
}

func (m modes) check() error {
	for _, mode := range m {
		if !slices.Contains(knownModes, mode) {
			return refused(http.StatusUnprocessableEntity, "stream_mode: there is no mode %q", mode)
		}
	}
	return nil
}

// list is m, or what is meant without a mode.
func (m modes) list() []string {
	if len(m) == 0 {
		return []string{modeValues}
	}
	return m
}
