package memorysaver

import (
	"slices"
	"sort"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

// log is one branch of a named log, the messages being one. It continues parent, of
// which it sees the entries before position parentLen and of these only the appended ones
// before position bound.
type log struct {
	parent           *log
	parentLen, bound int64
	entries          []entry // ascending positions; a compacted or pruned log has gaps
	length           int64
}

type entry struct {
	pos int64
	record.Entry
}

// position is where a checkpoint stands in a log, which the checkpoint version last
// changed.
type position struct {
	*log
	length, version int64
}

// log returns where r stands in the messages.
func (r *row) log() position { return r.logs[checkpointer.LogMessages] }

// branch returns the position that a checkpoint after p, which may have no log yet,
// appends at.
func (p position) branch(truncate *int64) position {
	switch n := p.length; {
	case p.log == nil:
		p.log = &log{}
	case truncate != nil && *truncate < n:
		p.log = &log{parent: p.log, parentLen: n, bound: *truncate, length: *truncate}
	case p.log.length != n: // another checkpoint has gone on here
		p.log = &log{parent: p.log, parentLen: n, bound: n, length: n}
	}
	p.length = p.log.length
	return p
}

// append adds entries at p, which must be the end of its log.
func (p position) append(entries []record.Entry) position {
	for _, e := range entries {
		p.log.entries = append(p.log.entries, entry{p.log.length, e})
		p.log.length++
	}
	p.length = p.log.length
	return p
}

// baseLog is a log that begins with items at their positions.
func baseLog(items []item, length int64) *log {
	l := &log{length: length}
	for _, it := range items {
		l.entries = append(l.entries, entry{it.pos, record.Entry{Op: checkpointer.OpAppend, ID: it.id, Data: it.data}})
	}
	return l
}

// item is a visible entry: its position, id and stored bytes.
type item struct {
	pos  int64
	id   string
	data []byte
}

// visible returns the entries that p sees in want. It walks from the newest back, knowing
// of each id what later entries made of it.
func (p position) visible(want checkpointer.Range) []item {
	var found []item
	limit := -1
	if want.Limit != nil && want.Backward {
		limit = *want.Limit
	}
	if want.Limit != nil && *want.Limit == 0 {
		return nil
	}
	p.walk(func(at *entry, source, _ *entry) bool {
		if len(found) == limit || at.pos < want.From {
			return false
		}
		if source != nil && (want.To == 0 || at.pos < want.To) {
			found = append(found, item{at.pos, at.ID, source.Data})
		}
		return true
	})
	return ordered(found, want)
}

// walk calls f for every appended entry within p's bounds, newest first, until it returns
// false or a reset ends the log: with the entry that holds its content, nil when it is
// removed, and then with the one that removed it. It returns the reset.
func (p position) walk(f func(at, source, remover *entry) bool) (reset *entry) {
	later := map[string]*entry{} // the newest change of each id
	end, bound := p.length, p.length
	for l := p.log; l != nil; end, bound, l = l.parentLen, min(bound, l.bound), l.parent {
		for i := l.before(end) - 1; i >= 0; i-- {
			e := &l.entries[i]
			change := later[e.ID]
			switch {
			case e.Op == checkpointer.OpReset:
				return e
			case e.Op == checkpointer.OpRemove, e.Op == checkpointer.OpReplace && change == nil:
				later[e.ID] = e
			case e.Op != checkpointer.OpAppend || e.pos >= bound:
			case change == nil:
				change = e
				fallthrough
			default:
				source, remover := change, (*entry)(nil)
				if change.Op == checkpointer.OpRemove {
					source, remover = nil, change
				}
				if !f(e, source, remover) {
					return nil
				}
			}
		}
	}
	return nil
}

// ordered turns items, newest first, into the order asked for.
func ordered(items []item, want checkpointer.Range) []item {
	if !want.Backward {
		slices.Reverse(items)
	}
	if want.Limit != nil && len(items) > *want.Limit {
		items = items[:*want.Limit]
	}
	return items
}

// before is the number of entries below position end.
func (l *log) before(end int64) int {
	return sort.Search(len(l.entries), func(i int) bool { return l.entries[i].pos >= end })
}

// decoded turns items into messages.
func decoded(items []item) ([]langrooms.Message, error) {
	messages := make([]langrooms.Message, 0, len(items))
	for _, it := range items {
		m, err := record.Decode(it.data, it.pos)
		if err != nil {
			return nil, err
		}
		messages = append(messages, m)
	}
	return messages, nil
}
