package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"
	"unicode"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/thread"
)

// ErrImport says that what is imported is no export of a thread; the wrapping error says
// where.
var ErrImport = errors.New("this is no export of a thread")

// maxImport bounds an import in bytes.
const maxImport = 1 << 30

// One put of an import holds at most batchMessages, and at most batchBytes of them unless
// it is a single one.
const (
	batchMessages = 500
	batchBytes    = 1 << 20
)

// Import reads a JSON export into the new thread, and returns how many messages it has.
// Messages keep their ids and stamps. Nothing is written unless all of it can be read, and
// nothing stays when the store fails in the middle. ErrImport, and ErrConflict when the
// thread exists.
func (t *Threads) Import(ctx context.Context, id string, r io.Reader) (n int, err error) {
	messages, sizes, err := read(r)
	if err != nil {
		return 0, err
	}
	hold, err := exchange.Hold(ctx, t.Saver, id)
	if err != nil {
		return 0, err
	}
	err = t.fill(hold, messages, sizes)
	if err = errors.Join(err, hold.End()); err != nil {
		return 0, err
	}
	return len(messages), nil
}

// fill puts messages of these sizes on the thread that is held.
func (t *Threads) fill(hold *thread.Hold, messages []langrooms.Message, sizes []int) error {
	if hold.Exists() {
		return exists(hold.Thread())
	}
	if err := t.forget(hold.Context(), hold.Thread()); err != nil {
		return err
	}
	for at := 0; at < len(messages); {
		end, bytes := at+1, sizes[at]
		for end < len(messages) && end-at < batchMessages && bytes+sizes[end] <= batchBytes {
			bytes += sizes[end]
			end++
		}
		if err := hold.Put(thread.Step{Source: "import", Messages: messages[at:end]}); err != nil {
			return errors.Join(err, hold.Delete())
		}
		at = end
	}
	return nil
}

// document is a JSON export.
type document struct {
	Format   string            `json:"format"`
	Version  int               `json:"version"`
	Messages []json.RawMessage `json:"messages"`
}

// decode reads one document and nothing after it.
func decode(r io.Reader) (doc document, err error) {
	limited := &io.LimitedReader{R: r, N: maxImport + 1}
	dec := json.NewDecoder(limited)
	if err = dec.Decode(&doc); err == nil {
		if _, err = dec.Token(); err == nil {
			err = errors.New("something follows its end")
		} else if errors.Is(err, io.EOF) {
			err = nil
		}
	}
	switch {
	case limited.N <= 0:
		err = fmt.Errorf("it is longer than %d bytes", int64(maxImport))
	case errors.Is(err, io.EOF):
		err = errors.New("it is empty")
	case err != nil:
		err = fmt.Errorf("byte %d: %w", dec.InputOffset(), err)
	}
	return doc, err
}

// read parses and checks a whole export; sizes are the messages' in bytes.
func read(r io.Reader) (messages []langrooms.Message, sizes []int, err error) {
	doc, err := decode(r)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrImport, err)
	}
	switch {
	case doc.Format != formatName:
		return nil, nil, fmt.Errorf("%w: its format is %q, not %q", ErrImport, delegate.OneLine(doc.Format, 100), formatName)
	case doc.Version != formatVersion:
		return nil, nil, fmt.Errorf("%w: version %d; this program reads version %d", ErrImport, doc.Version, formatVersion)
	case len(doc.Messages) == 0:
		return nil, nil, fmt.Errorf("%w: it holds no message", ErrImport)
	}
	positions := make([]int64, len(doc.Messages))
	ids := make(map[string]bool, len(doc.Messages))
	for i, raw := range doc.Messages {
		m, at, err := readMessage(raw)
		if err == nil && ids[m.ID] {
			err = fmt.Errorf("the id %q is there twice", m.ID)
		}
		if err == nil && i > 0 && at <= positions[i-1] {
			err = fmt.Errorf("its position %d does not follow %d", at, positions[i-1])
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%w: message %d: %w", ErrImport, i+1, err)
		}
		messages, sizes = append(messages, m), append(sizes, len(raw))
		positions[i], ids[m.ID] = at, true
	}
	renumber(messages, positions)
	return messages, sizes, nil
}

func readMessage(raw json.RawMessage) (m langrooms.Message, at int64, err error) {
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, 0, err
	}
	position, ok := m.Extra[positionField]
	if !ok || json.Unmarshal(position, &at) != nil || at < 0 || string(position) == "null" {
		return m, 0, fmt.Errorf("its field %q is no position", positionField)
	}
	delete(m.Extra, positionField)
	if len(m.Extra) == 0 {
		m.Extra = nil
	}
	return m, at, checkMessage(m)
}

// checkMessage reports what a message lacks to stand on a thread.
func checkMessage(m langrooms.Message) error {
	switch m.Role {
	case langrooms.RoleHuman, langrooms.RoleAI, langrooms.RoleSystem, langrooms.RoleTool:
	default:
		return fmt.Errorf("there is no role %q", delegate.OneLine(string(m.Role), 100))
	}
	switch {
	case strings.TrimSpace(m.ID) == "" || len(m.ID) > checkpointer.MaxID || strings.ContainsFunc(m.ID, unicode.IsControl):
		return errors.New("it has no usable id")
	case m.Time.IsZero():
		return errors.New("it has no time")
	case m.Stamp != nil && m.Stamp.From == "":
		return errors.New("its stamp names no author")
	}
	for _, name := range namesIn(m) {
		if err := langrooms.CheckIdentity(name); err != nil {
			return fmt.Errorf("a name in it %w", err)
		}
	}
	for i, p := range m.Parts {
		if p.Kind == "" {
			return fmt.Errorf("its part %d has no kind", i+1)
		}
	}
	return nil
}

// namesIn lists who a message says has spoken or was addressed.
func namesIn(m langrooms.Message) []string {
	var names []string
	if m.Stamp != nil {
		names = append([]string{m.Stamp.From}, m.Stamp.To...)
	}
	if m.Summary != nil {
		for _, member := range m.Summary.Members {
			names = append(names, member.Name)
		}
	}
	return names
}

// renumber gives each member's place in the conversation in the positions of the new
// thread, which counts from 0.
func renumber(messages []langrooms.Message, positions []int64) {
	place := func(old int64) int64 {
		return int64(sort.Search(len(positions), func(i int) bool { return positions[i] >= old }))
	}
	for i := range messages {
		if s := messages[i].Stamp; s != nil && s.Seen != 0 {
			s.Seen = place(s.Seen)
		}
		if sum := messages[i].Summary; sum != nil {
			for j := range sum.Members {
				sum.Members[j].Seen = place(sum.Members[j].Seen)
			}
		}
	}
}
