package room

import (
	"slices"

	"github.com/langrooms/langrooms"
)

// The bounds of room.max_rounds (spec 10).
const (
	DefaultRounds = 3
	MaxRounds     = 10
)

// ClampRounds returns the round cap that the setting n stands for: n itself from 1 to
// [MaxRounds], MaxRounds above it, [DefaultRounds] for zero and below.
func ClampRounds(n int) int {
	if n <= 0 {
		return DefaultRounds
	}
	return min(n, MaxRounds)
}

// Run is the plan of one address: which members are asked in which round and when it
// ends (spec 4). It is a value: its methods return the changed plan and never change
// the one they are called on. The zero value is a run without members.
type Run struct {
	members []string // of the present round
	out     []string // from the next round on
	limit   int
	round   int
	spoke   bool
	literal bool // the message speaks of passing itself
}

// NewRun plans a run of the members to, in written order, under the room.max_rounds
// setting (see [ClampRounds]). Repeated names count once. With fewer than two members
// it has one round (spec 4.1).
func NewRun(to []string, maxRounds int) Run {
	r := Run{limit: ClampRounds(maxRounds), round: 1}
	for _, name := range to {
		if !slices.Contains(r.members, name) {
			r.members = append(r.members, name)
		}
	}
	if len(r.members) < 2 {
		r.limit = 1
	}
	return r
}

// MultiRound reports whether the member that is asked next is offered to pass, and its
// silence recognised (spec 4.1, 4.4). That needs a second round to be possible: in the
// first round it ends when fewer than two members are left.
func (r Run) MultiRound() bool {
	return r.limit > 1 && (r.round > 1 || len(r.live()) >= 2)
}

// About says what the run's message is. When it holds the word pass itself, as in "answer
// PASS or FAIL", the first round makes no offer and takes a bare pass for an answer.
func (r Run) About(message string) Run {
	r.literal = holdsPass(message)
	return r
}

// OffersPass reports whether the member that is asked next is told that it can pass.
func (r Run) OffersPass() bool { return r.MultiRound() && !r.literalRound() }

func (r Run) literalRound() bool { return r.literal && r.round == 1 }

// Round is the present round, counted from 1.
func (r Run) Round() int { return r.round }

// Members lists the members of the present round in written order; one that fails or pauses
// in it stays listed until the next.
func (r Run) Members() []string { return slices.Clone(r.members) }

// Record notes the outcome of one dispatch of the present round. A member whose dispatch
// failed is out from the next round on, whatever the reason (spec 4.3), and so is one that
// has paused: it waits for an answer, which no further question is. Nothing but whether it
// failed, paused or was silent is read out of an outcome (spec 4.6), and one whose author is
// no member changes nothing.
func (r Run) Record(o langrooms.Outcome) Run {
	switch {
	case !slices.Contains(r.members, o.Author):
		return r
	case !o.OK || o.Paused:
		r.out = append(slices.Clone(r.out), o.Author)
	}
	r.spoke = r.spoke || o.OK && !o.Silent
	return r
}

func (r Run) live() []string {
	var live []string
	for _, name := range r.members {
		if !slices.Contains(r.out, name) {
			live = append(live, name)
		}
	}
	return live
}

// NextRound ends the present round (spec 4.2). When done is true the run is over for the
// reason given, and next is r; a run of one round ends as answered. Otherwise next is the
// following round of the members that are left.
func (r Run) NextRound() (next Run, reason langrooms.Reason, done bool) {
	live := r.live()
	switch {
	case r.limit <= 1:
		return r, langrooms.ReasonAnswered, true
	case len(live) < 2:
		return r, langrooms.ReasonExhausted, true
	case !r.spoke:
		return r, langrooms.ReasonSettled, true
	case r.round >= r.limit:
		return r, langrooms.ReasonCapped, true
	}
	return Run{members: live, limit: r.limit, round: r.round + 1, literal: r.literal}, "", false
}
