package room

import (
	"slices"
	"strings"

	"github.com/langrooms/langrooms/internal/names"
)

// The words that stand for several members behind an @, where no delegate has the name (spec 1.8).
const (
	// GroupAll is every member that has spoken on the thread; where none has, the whole roster.
	GroupAll = "all"
	// GroupOthers is the same without those that are named beside it, or, where nobody is, without
	// the member that spoke last; where that leaves nobody, the rest of the roster.
	GroupOthers = "others"
)

// MaxGroup bounds the members of an address that names a group.
const MaxGroup = 12

// Expand returns the address with the group's members in To, behind those that are named, in roster
// order, and how many were left out because they are too many. cast lists who has spoken on the
// thread, last is who did so last, or "". An address without a group is returned as it is; one whose
// group is nobody has no To.
func (a Address) Expand(roster, cast []string, last string) (expanded Address, left int) {
	if a.Group == "" {
		return a, 0
	}
	not := slices.Clone(a.To)
	if a.Group == GroupOthers && len(a.To) == 0 {
		not = []string{last}
	}
	among := func(keep func(name string) bool) (members []string) {
		for _, name := range roster {
			if !slices.Contains(not, name) && keep(name) {
				members = append(members, name)
			}
		}
		return members
	}
	members := among(func(name string) bool { return slices.Contains(cast, name) })
	if len(members) == 0 && (a.Group == GroupOthers || len(a.To) == 0) {
		members = among(func(string) bool { return true })
	}
	room := max(0, MaxGroup-len(a.To))
	left = max(0, len(members)-room)
	a.To = slices.Concat(a.To, members[:len(members)-left])
	return a, left
}

// group returns the group that an @ token stands for, or "".
func (n roster) group(token string) string {
	typed, ok := strings.CutPrefix(token, "@")
	if !ok || len(typed) > keyGrowth*len(GroupOthers) {
		return ""
	}
	key := names.Key(strings.TrimRight(typed, punctuation))
	if _, taken := n.keyed[key]; taken || key != GroupAll && key != GroupOthers {
		return ""
	}
	return key
}

// groupsLike lists the groups that begin with a key and that no delegate has the name of.
func groupsLike(key string, roster []string) (groups []string) {
	known := newRoster(roster)
	for _, g := range []string{GroupAll, GroupOthers} {
		if strings.HasPrefix(g, key) && known.group("@"+g) == g {
			groups = append(groups, g)
		}
	}
	return groups
}
