package memorysaver

import (
	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

// log returns where r stands in the messages.
func (r *row) log() record.Position { return r.logs[checkpointer.LogMessages] }

// branch returns the position that a checkpoint after p, which may have no log yet,
// appends at.
func branch(p record.Position, truncate *int64) record.Position {
	switch n := p.Length; {
	case p.Branch == nil:
		p.Branch = &record.Branch{}
	case truncate != nil && *truncate < n:
		p.Branch = &record.Branch{Parent: p.Branch, ParentLen: n, Bound: *truncate, Length: *truncate}
	case p.Branch.Length != n: // another checkpoint has gone on here
		p.Branch = &record.Branch{Parent: p.Branch, ParentLen: n, Bound: n, Length: n}
	}
	p.Length = p.Branch.Length
	return p
}

// grown is p, the end of its log, with entries added.
func grown(p record.Position, entries []record.Entry) record.Position {
	for _, e := range entries {
		p.Entries = append(p.Entries, record.Placed{Pos: p.Branch.Length, Entry: e})
		p.Branch.Length++
	}
	p.Length = p.Branch.Length
	return p
}

// baseLog is a log that begins with items at their positions.
func baseLog(items []record.Item, length int64) *record.Branch {
	l := &record.Branch{Length: length}
	for _, it := range items {
		l.Entries = append(l.Entries, record.Placed{Pos: it.Pos, Entry: record.Entry{Op: checkpointer.OpAppend, ID: it.ID, Data: it.Data}})
	}
	return l
}

// decoded turns items into messages.
func decoded(items []record.Item) ([]langrooms.Message, error) {
	messages := make([]langrooms.Message, 0, len(items))
	for _, it := range items {
		m, err := record.Decode(it.Data, it.Pos)
		if err != nil {
			return nil, err
		}
		messages = append(messages, m)
	}
	return messages, nil
}
