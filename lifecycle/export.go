package lifecycle

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/thread"
)

// Format is a form of an export.
type Format string

// The forms. JSON can be imported again; Markdown is for people.
const (
	JSON     Format = "json"
	Markdown Format = "md"
)

// incognitoText stands for what was said incognito (spec: rooms, 2.9).
const incognitoText = "(incognito: left out of the export)"

// formatName and formatVersion are in the head of a JSON export.
const (
	formatName    = "langrooms thread"
	formatVersion = 1
)

// Export writes a thread. The content of incognito messages is left out. ErrNotFound when
// there is no such thread, ErrInvalid for another format.
func (t *Threads) Export(ctx context.Context, id string, format Format, w io.Writer) error {
	if format != JSON && format != Markdown {
		return fmt.Errorf("%w: there is no format %q", checkpointer.ErrInvalid, format)
	}
	var messages []langrooms.Message
	err := t.with(ctx, id, func(hold *thread.Hold) (err error) {
		messages, err = hold.History()
		return err
	})
	if err != nil {
		return err
	}
	// Whoever reads w may be slow, so the thread is not held any more.
	out := bufio.NewWriter(w)
	if format == JSON {
		err = writeJSON(out, id, messages)
	} else {
		err = writeMarkdown(out, id, messages)
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return fmt.Errorf("exporting the thread %q: %w", id, err)
	}
	return nil
}

// exported is what of m leaves the store.
func exported(m langrooms.Message) langrooms.Message {
	if m.Stamp == nil || !m.Stamp.Incognito {
		return m
	}
	m = m.Clone()
	m.Parts = []langrooms.Part{langrooms.TextPart(incognitoText)}
	m.Extra = nil
	return m
}

// positionField holds a message's position in a JSON export, so that each member's place
// in the conversation can be found again.
const positionField = "seq"

// writeJSON writes one JSON document, a message a line.
func writeJSON(w io.Writer, id string, messages []langrooms.Message) error {
	head, err := json.Marshal(id)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, `{"format":%q,"version":%d,"thread":%s,"messages":[`, formatName, formatVersion, escapeC1(head)); err != nil {
		return err
	}
	for i, m := range messages {
		m = exported(m).Clone()
		if m.Extra == nil {
			m.Extra = map[string]json.RawMessage{}
		}
		m.Extra[positionField] = json.RawMessage(fmt.Sprint(m.Seq))
		data, err := m.MarshalJSON()
		if err != nil {
			return err
		}
		separator := ",\n"
		if i == 0 {
			separator = "\n"
		}
		if _, err := fmt.Fprintf(w, "%s%s", separator, escapeC1(data)); err != nil {
			return err
		}
	}
	_, err = fmt.Fprint(w, "\n]}\n")
	return err
}

// escapeC1 writes the control characters that JSON allows in a string, and that a terminal
// would obey, as escapes. They can stand nowhere else.
func escapeC1(data []byte) []byte {
	return c1.ReplaceAllFunc(data, func(found []byte) []byte {
		return fmt.Appendf(nil, `\u%04x`, []rune(string(found))[0])
	})
}

var c1 = regexp.MustCompile(`[\x{7f}-\x{9f}]`)
