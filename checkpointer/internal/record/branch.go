package record

import (
	"slices"
	"sort"

	"github.com/langrooms/langrooms/checkpointer"
)

// Branch is one branch of a log. It continues Parent, of which it sees the entries before
// position ParentLen and of these only the appended ones before position Bound.
type Branch struct {
	Parent           *Branch
	ParentLen, Bound int64
	Entries          []Placed // ascending positions; a compacted or pruned log has gaps
	Length           int64
}

// Placed is an entry at its position.
type Placed struct {
	Pos int64
	Entry
}

// Item is an entry as a checkpoint sees it.
type Item struct {
	Pos  int64
	ID   string
	Data []byte
}

// Position is where a checkpoint stands in a log, which the checkpoint Version last
// changed.
type Position struct {
	*Branch
	Length, Version int64
}

// Visible returns the entries that p sees in want. It walks from the newest back, knowing
// of each id what later entries made of it.
func (p Position) Visible(want checkpointer.Range) []Item {
	var found []Item
	limit := -1
	if want.Limit != nil && want.Backward {
		limit = *want.Limit
	}
	if want.Limit != nil && *want.Limit == 0 {
		return nil
	}
	p.walk(func(at, source, _ *Placed) bool {
		if len(found) == limit || at.Pos < want.From {
			return false
		}
		if source != nil && (want.To == 0 || at.Pos < want.To) {
			found = append(found, Item{at.Pos, at.ID, source.Data})
		}
		return true
	})
	if !want.Backward {
		slices.Reverse(found)
	}
	if want.Limit != nil && len(found) > *want.Limit {
		found = found[:*want.Limit]
	}
	return found
}

// walk calls f for every appended entry within p's bounds, newest first, until it returns
// false or a reset ends the log: with the entry that holds its content, nil when it is
// removed, and then with the one that removed it. It returns the reset.
func (p Position) walk(f func(at, source, remover *Placed) bool) (reset *Placed) {
	later := map[string]*Placed{} // the newest change of each id
	end, bound := p.Length, p.Length
	for l := p.Branch; l != nil; end, bound, l = l.ParentLen, min(bound, l.Bound), l.Parent {
		for i := l.before(end) - 1; i >= 0; i-- {
			e := &l.Entries[i]
			change := later[e.ID]
			switch {
			case e.Op == checkpointer.OpReset:
				return e
			case e.Op == checkpointer.OpRemove, e.Op == checkpointer.OpReplace && change == nil:
				later[e.ID] = e
			case e.Op == checkpointer.OpAppend && e.Pos < bound:
				if !f(e, content(e, change), remover(change)) {
					return nil
				}
			}
		}
	}
	return nil
}

// content is the entry that holds what an appended one shows, after change.
func content(e, change *Placed) *Placed {
	switch {
	case change == nil:
		return e
	case change.Op == checkpointer.OpRemove:
		return nil
	}
	return change
}

func remover(change *Placed) *Placed {
	if change != nil && change.Op == checkpointer.OpRemove {
		return change
	}
	return nil
}

// before is the number of entries below position end.
func (l *Branch) before(end int64) int {
	return sort.Search(len(l.Entries), func(i int) bool { return l.Entries[i].Pos >= end })
}

// Use says what of an entry is needed.
type Use int

// Presence is the entry without its data, Content the data too.
const (
	Presence Use = 1 << iota
	Content
)

// Needed finds what the checkpoints at these positions need: of each branch the entries
// before a length, and of these the ones in use.
func Needed(positions []Position) (lengths map[*Branch]int64, use map[*Placed]Use) {
	lengths, use = map[*Branch]int64{}, map[*Placed]Use{}
	for _, p := range positions {
		end := p.Length
		for l := p.Branch; l != nil; end, l = l.ParentLen, l.Parent {
			lengths[l] = max(lengths[l], end)
		}
		p.walk(func(at, source, _ *Placed) bool {
			if source != nil {
				use[at] |= Presence
				use[source] |= Presence | Content
			}
			return true
		})
	}
	for _, p := range positions { // what hides an entry that another position needs
		reset := p.walk(func(at, _, remover *Placed) bool {
			if remover != nil && use[at] != 0 {
				use[remover] |= Presence
			}
			return true
		})
		if reset != nil {
			use[reset] |= Presence
		}
	}
	return lengths, use
}
