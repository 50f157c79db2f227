package sharedsession

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/langrooms/langrooms"
)

// The bounds of a chain (spec 4.8).
const (
	maxDepth   = 8
	maxTurns   = 24
	maxRecent  = 30
	rateWindow = 5 * time.Minute
)

// keptDone is how many turns that are over are remembered with their state.
const keptDone = 60

// origin is where a mention comes from: an inbound message, or a turn of a chain.
type origin struct {
	root   int64 // 0: the mention's message begins a chain
	depth  int
	chains []int64
}

// origin returns that of what w's agent says in its turn.
func (w wake) origin() origin { return origin{w.Root, w.Depth, w.Chains} }

// ownTurn returns the origin of what who posts by itself: within its own turn that belongs to
// the turn's chain.
func (s *state) ownTurn(who Party) origin {
	for _, w := range s.work.Wakes {
		if who.Kind == Agent && w.Agent == who.Name && w.State == Running && !w.Scribe {
			return w.origin()
		}
	}
	return origin{}
}

// call wakes agents by a mention of by in the message at seq (spec 4.4, 4.5, 4.8). Refused
// says in words who was not woken, and why.
func (s *state) call(by Party, seq int64, agents []string, o origin, now time.Time) (called []Wake, refused []string) {
	if o.root == 0 {
		o.root = seq
	}
	o.depth++
	o.chains = append(slices.Clone(o.chains), seq)
	why := map[string][]string{}
	var reasons []string
	for _, name := range agents {
		if by == (Party{Agent, name}) {
			continue
		}
		if reason := s.refusal(by, name, o, now); reason != "" {
			reasons = appendNew(reasons, reason)
			why[reason] = append(why[reason], "@"+name)
			continue
		}
		s.noteCall(by, now)
		called = append(called, s.queue(by, seq, name, o, now))
	}
	for _, reason := range reasons {
		refused = append(refused, strings.Join(why[reason], ", ")+" ("+reason+")")
	}
	return called, refused
}

// refusal says why an agent is not woken, or "".
func (s *state) refusal(by Party, name string, o origin, now time.Time) string {
	m := s.present(Party{Agent, name})
	switch {
	case m == nil:
		return "not in the room"
	case m.Role == Observer:
		return "an observer only reads"
	case o.depth > maxDepth:
		return fmt.Sprintf("the chain is %d turns deep", maxDepth)
	case s.queued(name) < 0 && s.work.Turns[o.root] >= maxTurns:
		return fmt.Sprintf("%d turns have followed one message", maxTurns)
	case len(s.recent(by, now)) >= maxRecent:
		return fmt.Sprintf("%s has woken agents %d times in %d minutes", by.shown(), maxRecent, int(rateWindow.Minutes()))
	}
	return ""
}

// recent returns the times of by's wakes that still count.
func (s *state) recent(by Party, now time.Time) []int64 {
	from := now.Add(-rateWindow).Unix()
	return slices.DeleteFunc(slices.Clone(s.work.Recent[by.key()]), func(at int64) bool { return at <= from })
}

func (s *state) noteCall(by Party, now time.Time) {
	all := map[string][]int64{}
	from := now.Add(-rateWindow).Unix()
	for who, times := range s.work.Recent {
		if times = slices.DeleteFunc(slices.Clone(times), func(at int64) bool { return at <= from }); len(times) > 0 {
			all[who] = times
		}
	}
	all[by.key()] = append(all[by.key()], now.Unix())
	s.work.Recent = all
	s.changed[workChannel] = true
}

func (s *state) queued(agent string) int {
	return slices.IndexFunc(s.work.Wakes, func(w wake) bool { return w.Agent == agent && w.State == Queued && !w.Scribe })
}

// maxSeqs bounds the messages that one turn is said to answer.
const maxSeqs = 50

// queue adds a turn, or merges the mention into one that has not begun (spec 4.5).
func (s *state) queue(by Party, seq int64, name string, o origin, now time.Time) Wake {
	s.changed[workChannel] = true
	if i := s.queued(name); i >= 0 {
		w := &s.work.Wakes[i]
		if len(w.Seqs) < maxSeqs {
			w.Seqs = append(slices.Clone(w.Seqs), seq)
		}
		if o.depth < w.Depth {
			w.Root, w.Depth = o.root, o.depth
		}
		for _, c := range o.chains {
			if !slices.Contains(w.Chains, c) {
				w.Chains = append(slices.Clone(w.Chains), c)
			}
		}
		return w.shown()
	}
	w := wake{ID: langrooms.NewID(), Agent: name, State: Queued, Since: now, By: by, Seqs: []int64{seq},
		Root: o.root, Depth: o.depth, Chains: o.chains}
	s.work.Wakes = append(s.work.Wakes, w)
	turns := maps.Clone(s.work.Turns)
	if turns == nil {
		turns = map[int64]int{}
	}
	turns[o.root]++
	s.work.Turns = turns
	return w.shown()
}

// claim makes the next turn of agent a running one: one that its process has left, else one
// that waits. The caller has the agent's lease, so nobody runs a turn of it. estimate is what
// the turn may cost; where the other turns under way leave no room for it, it waits for them
// (spec 5). ok is false when there is nothing to run now.
func (s *state) claim(agent string, estimate float64, now time.Time) (w wake, ok bool) {
	at := -1
	for i, w := range s.work.Wakes {
		if w.Agent == agent && (at < 0 || w.State == Running) {
			at = i
		}
	}
	if at < 0 {
		return wake{}, false
	}
	c := &s.work.Wakes[at]
	reserved := -c.Reserved
	for _, other := range s.work.Wakes {
		reserved += other.Reserved
	}
	if limit := s.room.MaxCostUSD; limit != nil && !c.Scribe && reserved > 0 && s.work.CostUSD+reserved+estimate > *limit {
		return wake{}, false
	}
	c.State, c.Since, c.Reserved = Running, now, estimate
	c.Attempt++
	s.changed[workChannel] = true
	return *c, true
}

// finish ends a turn.
func (s *state) finish(id string, as State) {
	i := s.waking(id)
	if i < 0 {
		return
	}
	w := s.work.Wakes[i]
	w.State = as
	s.work.Wakes = slices.Delete(slices.Clone(s.work.Wakes), i, i+1)
	s.done = append(slices.Clone(s.done), w.shown())
	s.done = s.done[max(len(s.done)-keptDone, 0):]
	turns := map[int64]int{}
	for _, w := range s.work.Wakes {
		if n, ok := s.work.Turns[w.Root]; ok {
			turns[w.Root] = n
		}
	}
	s.work.Turns = turns
	s.changed[workChannel], s.changed[doneChannel] = true, true
}

// close closes the room and returns its one closing line. Turns that wait are dropped, those
// that run go on; the scribe gets one last turn (spec 5, 6).
func (s *state) close(by *Party, reason string, now time.Time) string {
	text := "The room closed: " + reason + "."
	if by != nil {
		text = by.shown() + " closed the room: " + reason + "."
	}
	s.room.Close = &closing{At: now, Reason: reason}
	s.changed[roomChannel] = true
	if dropped := s.drop(func(wake) bool { return true }); len(dropped) > 0 {
		text += " Not woken: " + strings.Join(dropped, ", ") + "."
	}
	for _, m := range s.room.Members {
		if m.Kind == Agent && m.Role == Scribe && m.Left == nil {
			s.work.Wakes = append(s.work.Wakes, wake{ID: langrooms.NewID(), Agent: m.Name, State: Queued, Since: now, Scribe: true})
			s.changed[workChannel] = true
			break
		}
	}
	return text
}

// drop ends the waiting turns that which picks, and names their agents.
func (s *state) drop(which func(wake) bool) (names []string) {
	for _, w := range slices.Clone(s.work.Wakes) {
		if w.State == Queued && !w.Scribe && which(w) {
			s.finish(w.ID, Dropped)
			names = appendNew(names, "@"+w.Agent)
		}
	}
	return names
}

// busy reports whether a turn of the chain that began with the message at seq is not over.
// Those of except are not waited for: an agent cannot wait for itself.
func (s *state) busy(seq int64, except Party) bool {
	return slices.ContainsFunc(s.work.Wakes, func(w wake) bool {
		return slices.Contains(w.Chains, seq) && except != Party{Agent, w.Agent}
	})
}
