package record

import (
	"fmt"
	"unicode/utf8"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

// Entry is a checkpointer.Entry with its message as stored bytes.
type Entry struct {
	Op checkpointer.Op
	// ID is the message's, empty for a reset.
	ID string
	// Data is the message of an append or a replacement.
	Data []byte
}

// Log encodes a step's log. A bad entry is ErrInvalid and named by its place.
func Log(log []checkpointer.Entry) ([]Entry, error) {
	entries := make([]Entry, len(log))
	for i, e := range log {
		entry, err := encode(e)
		if err != nil {
			return nil, fmt.Errorf("log entry %d: %w", i, err)
		}
		entries[i] = entry
	}
	return entries, nil
}

func encode(e checkpointer.Entry) (Entry, error) {
	switch e.Op {
	case checkpointer.OpAppend, checkpointer.OpReplace:
		data, err := Encode(e.Message)
		return Entry{e.Op, e.Message.ID, data}, err
	case checkpointer.OpRemove:
		return Entry{Op: e.Op, ID: e.ID}, checkMessageID(e.ID)
	case checkpointer.OpReset:
		return Entry{Op: e.Op}, nil
	}
	return Entry{}, invalid("unknown operation %q", e.Op)
}

func checkMessageID(id string) error {
	switch {
	case id == "":
		return invalid("the message id is empty")
	case !utf8.ValidString(id):
		return invalid("the message id is not valid UTF-8: %q", id)
	}
	return nil
}

// Encode returns the stored form of a message; ErrInvalid when it has none.
func Encode(m langrooms.Message) ([]byte, error) {
	if err := checkMessageID(m.ID); err != nil {
		return nil, err
	}
	data, err := m.MarshalJSON() // json.Marshal would escape every "<" anew
	if err != nil {
		return nil, invalid("message %q cannot be stored: %v", m.ID, err)
	}
	return data, nil
}

// Decode reads the stored form of the message at position seq; what cannot be read is
// ErrFormat.
func Decode(data []byte, seq int64) (langrooms.Message, error) {
	var m langrooms.Message
	if err := m.UnmarshalJSON(data); err != nil {
		return m, fmt.Errorf("%w: message at position %d: %v", checkpointer.ErrFormat, seq, err)
	}
	if m.ID == "" {
		return m, fmt.Errorf("%w: message at position %d has no id", checkpointer.ErrFormat, seq)
	}
	m.Seq = seq
	return m, nil
}

// Index is the place of the i-th of a task's writes: the special channel's, or i.
func Index(i int, channel string) (index int, special bool) {
	if index, special = checkpointer.SpecialIndex(channel); special {
		return index, true
	}
	return i, false
}
