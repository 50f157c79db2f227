package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/exchange"
)

// ErrImport says that what is imported is no export of a thread; the wrapping error says
// where.
var ErrImport = errors.New("this is no export of a thread")

// maxImport bounds an import in bytes.
const maxImport = 1 << 30

// batch is how many messages one put of an import holds.
const batch = 500

// Import reads a JSON export into the new thread, and returns how many messages it has.
// Messages keep their ids and stamps. Nothing is written unless all of it can be read.
// ErrImport, and ErrConflict when the thread exists.
func (t *Threads) Import(ctx context.Context, thread string, r io.Reader) (n int, err error) {
	messages, err := read(io.LimitReader(r, maxImport))
	if err != nil {
		return 0, err
	}
	turn, err := exchange.Begin(ctx, t.Saver, thread)
	if err != nil {
		return 0, err
	}
	if turn.Exists() {
		return 0, errors.Join(fmt.Errorf("the thread %q exists: %w", thread, checkpointer.ErrConflict), turn.End())
	}
	for at := 0; at < len(messages); at += batch {
		if err := turn.Put("import", messages[at:min(at+batch, len(messages))]...); err != nil {
			return 0, errors.Join(err, turn.Delete(), turn.End())
		}
	}
	return len(messages), turn.End()
}

// read parses and checks a whole export.
func read(r io.Reader) ([]langrooms.Message, error) {
	dec := json.NewDecoder(r)
	var doc struct {
		Format   string            `json:"format"`
		Version  int               `json:"version"`
		Messages []json.RawMessage `json:"messages"`
	}
	if err := dec.Decode(&doc); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrImport, err)
	}
	switch {
	case doc.Format != formatName:
		return nil, fmt.Errorf("%w: its format is %q, not %q", ErrImport, doc.Format, formatName)
	case doc.Version != formatVersion:
		return nil, fmt.Errorf("%w: version %d; this program reads version %d", ErrImport, doc.Version, formatVersion)
	case len(doc.Messages) == 0:
		return nil, fmt.Errorf("%w: it holds no message", ErrImport)
	}
	messages := make([]langrooms.Message, len(doc.Messages))
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
			return nil, fmt.Errorf("%w: message %d: %w", ErrImport, i+1, err)
		}
		messages[i], positions[i], ids[m.ID] = m, at, true
	}
	renumber(messages, positions)
	return messages, nil
}

func readMessage(raw json.RawMessage) (m langrooms.Message, at int64, err error) {
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, 0, err
	}
	if err := json.Unmarshal(m.Extra[positionField], &at); err != nil {
		return m, 0, fmt.Errorf("its position: %w", err)
	}
	delete(m.Extra, positionField)
	if len(m.Extra) == 0 {
		m.Extra = nil
	}
	switch m.Role {
	case langrooms.RoleHuman, langrooms.RoleAI, langrooms.RoleSystem, langrooms.RoleTool:
	default:
		return m, 0, fmt.Errorf("the role %q", m.Role)
	}
	if strings.TrimSpace(m.ID) == "" || len(m.ID) > checkpointer.MaxID {
		return m, 0, errors.New("it has no usable id")
	}
	return m, at, nil
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
