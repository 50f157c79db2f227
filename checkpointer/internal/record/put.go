package record

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/langrooms/langrooms/checkpointer"
)

// Put is a step in its stored form.
type Put struct {
	Log  []Entry            // of the messages
	Logs map[string][]Entry // of the named logs
	// Metadata is as Metadata writes it.
	Metadata map[string]string
	Digest   []byte
}

// NewPut checks the arguments of Put and encodes them: ErrInvalid, or ErrTooLarge above
// the limits of the port.
func NewPut(parent checkpointer.Ref, step checkpointer.Step) (p Put, err error) {
	if err := checkPut(parent, step); err != nil {
		return p, err
	}
	if p.Log, err = Log(step.Log); err != nil {
		return p, err
	}
	if p.Logs, err = namedLogs(step.Logs); err != nil {
		return p, err
	}
	if p.Metadata, err = Metadata(step.Metadata); err != nil {
		return p, err
	}
	if err := p.checkSize(step); err != nil {
		return p, err
	}
	p.Digest = p.digest(parent.ID, step)
	return p, nil
}

func namedLogs(logs map[string][]checkpointer.LogEntry) (map[string][]Entry, error) {
	all := make(map[string][]Entry, len(logs))
	for name, log := range logs {
		if err := checkLogName(name); err != nil {
			return nil, err
		}
		if len(log) == 0 {
			continue // changes nothing
		}
		entries := make([]Entry, len(log))
		for i, e := range log {
			entry, err := encodeEntry(e)
			if err != nil {
				return nil, fmt.Errorf("entry %d of the log %q: %w", i, name, err)
			}
			entries[i] = entry
		}
		all[name] = entries
	}
	return all, nil
}

func encodeEntry(e checkpointer.LogEntry) (Entry, error) {
	if !utf8.ValidString(e.ID) || len(e.ID) > checkpointer.MaxID {
		return Entry{}, invalid("the id of the entry is too long or not valid UTF-8: %.100q", e.ID)
	}
	switch e.Op {
	case checkpointer.OpAppend:
		return Entry{e.Op, e.ID, append([]byte{}, e.Data...)}, nil
	case checkpointer.OpReplace, checkpointer.OpRemove:
		if e.ID == "" {
			return Entry{}, invalid("the id of the entry is empty")
		}
		if e.Op == checkpointer.OpRemove {
			return Entry{Op: e.Op, ID: e.ID}, nil
		}
		return Entry{e.Op, e.ID, append([]byte{}, e.Data...)}, nil
	case checkpointer.OpReset:
		return Entry{Op: e.Op}, nil
	}
	return Entry{}, invalid("unknown operation %q", e.Op)
}

// sizes adds up the bytes of one call.
type sizes struct{ total, entries int }

func (s *sizes) add(name, value int) error {
	if value > checkpointer.MaxValue {
		return fmt.Errorf("%w: %d bytes, at most %d are allowed", checkpointer.ErrTooLarge, value, checkpointer.MaxValue)
	}
	if s.total += name + value; s.total > checkpointer.MaxStep {
		return fmt.Errorf("%w: the call has more than %d bytes", checkpointer.ErrTooLarge, checkpointer.MaxStep)
	}
	return nil
}

func (s *sizes) log(name string, entries []Entry) error {
	if s.entries += len(entries); s.entries > checkpointer.MaxEntries {
		return fmt.Errorf("%w: more than %d log entries in one step", checkpointer.ErrTooLarge, checkpointer.MaxEntries)
	}
	for i, e := range entries {
		if err := s.add(len(e.ID), len(e.Data)); err != nil {
			return fmt.Errorf("entry %d of the log %q: %w", i, name, err)
		}
	}
	return nil
}

func (p Put) checkSize(step checkpointer.Step) error {
	var s sizes
	for name, value := range step.Channels {
		if err := s.add(len(name), len(value)); err != nil {
			return fmt.Errorf("channel %q: %w", name, err)
		}
	}
	for _, name := range step.Remove {
		s.total += len(name)
	}
	for key, text := range p.Metadata {
		s.total += len(key) + len(text)
	}
	for name, entries := range p.Logs {
		if err := s.log(name, entries); err != nil {
			return err
		}
	}
	return s.log(checkpointer.LogMessages, p.Log)
}

// mark begins the plain form of a value that is not a plain string.
const mark = "\x00"

// Plain is the form of metadata in which format 1 stored it, when its values were strings:
// a string stands as it is, any other value is its canonical JSON behind a NUL, as is a
// string that begins with one. It takes what Metadata wrote.
func Plain(texts map[string]string) map[string]string {
	plain := make(map[string]string, len(texts))
	for key, text := range texts {
		var s string
		if err := json.Unmarshal([]byte(text), &s); err != nil || text == "null" || strings.HasPrefix(s, mark) {
			s = mark + text
		}
		plain[key] = s
	}
	return plain
}
