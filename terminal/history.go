package terminal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// The bounds of a history: how many entries are kept, and how long one may be in bytes.
const (
	maxHistory      = 1000
	maxHistoryEntry = 64 << 10
	maxHistoryFile  = 8 << 20
)

// history is what the operator has typed, oldest first, kept in a file when it has a path.
type history struct {
	path    string
	entries []string
}

// StateFile returns the path of a file in the user's state folder, $XDG_STATE_HOME or
// ~/.local/state, or "" where there is none.
func StateFile(elements ...string) string {
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(append([]string{state}, elements...)...)
}

// openHistory reads the history of a file. One that does not exist, or cannot be read, is an
// empty one; lines that are damaged are left out.
func openHistory(path string) *history {
	h := &history{path: path}
	data, err := os.ReadFile(path)
	if path == "" || err != nil {
		return h
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 2*maxHistoryEntry+2)
	for lines.Scan() {
		var text string
		if json.Unmarshal(lines.Bytes(), &text) == nil && text != "" {
			h.entries = append(h.entries, text)
		}
	}
	if over := len(h.entries) - maxHistory; over > 0 {
		h.entries = slices.Delete(h.entries, 0, over)
	}
	if len(data) > maxHistoryFile {
		h.rewrite() //nolint:errcheck // the next start tries again
	}
	return h
}

// add appends an entry, here and in the file. What repeats the newest is left out.
func (h *history) add(text string) error {
	if text == "" || len(text) > maxHistoryEntry || len(h.entries) > 0 && h.entries[len(h.entries)-1] == text {
		return nil
	}
	h.entries = append(h.entries, text)
	if h.path == "" {
		return nil
	}
	line, err := json.Marshal(text)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
		return fmt.Errorf("keeping the history: %w", err)
	}
	f, err := os.OpenFile(h.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("keeping the history: %w", err)
	}
	_, err = f.Write(append(line, '\n')) // one write, so that chats side by side mix no lines
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// rewrite puts the file anew, with the entries that are kept.
func (h *history) rewrite() error {
	f, err := os.CreateTemp(filepath.Dir(h.path), ".history-*") // which makes it 0600
	if err != nil {
		return err
	}
	out := json.NewEncoder(f)
	for _, entry := range h.entries {
		if err = out.Encode(entry); err != nil {
			break
		}
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), h.path)
	}
	if err != nil {
		os.Remove(f.Name()) //nolint:errcheck // the first error is the one to tell
	}
	return err
}
