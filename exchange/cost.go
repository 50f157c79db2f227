package exchange

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/thread"
)

// costsChannel holds the sums by member: they stay true when a compaction has taken the messages
// away, and count the passes that leave none.
const costsChannel = thread.CostsChannel

// Costs are what was spent on a thread: what a fork or an import brings along was spent
// elsewhere, and what a rewind has erased was spent all the same.
type Costs struct {
	// Members are the sums by who answered, the lead under its name.
	Members map[string]langrooms.Spending `json:"members"`
	Total   langrooms.Spending            `json:"total"`
}

// maxSpenders bounds how many names have sums of their own; spending of more is otherSpenders'.
const (
	maxSpenders   = 200
	otherSpenders = "(others)"
)

// ReadCosts returns what was spent on a thread. ErrNotFound when there is none.
func ReadCosts(ctx context.Context, saver checkpointer.Saver, id string) (Costs, error) {
	cp, err := saver.Get(ctx, checkpointer.Ref{Thread: id})
	if err != nil {
		return Costs{}, fmt.Errorf("reading the thread %q: %w", id, err)
	}
	c := Costs{Members: map[string]langrooms.Spending{}}
	if data, ok := cp.Channels[costsChannel]; ok {
		if err := json.Unmarshal(data, &c.Members); err != nil {
			return Costs{}, fmt.Errorf("%w: channel %s of the thread %q: %w", checkpointer.ErrFormat, costsChannel, id, err)
		}
	}
	for _, s := range c.Members {
		c.Total = c.Total.Plus(s)
	}
	return c, nil
}

// charged is the value of the channel with the spending of member added to what channel holds;
// nil when what stands there cannot be read, and so is better left alone.
func charged(channel func(string) ([]byte, bool), member string, spent langrooms.Spending) []byte {
	costs := map[string]langrooms.Spending{}
	if data, ok := channel(costsChannel); ok && json.Unmarshal(data, &costs) != nil || costs == nil {
		return nil
	}
	if _, known := costs[member]; !known && len(costs) >= maxSpenders {
		member = otherSpenders
	}
	costs[member] = costs[member].Plus(spent)
	data, err := json.Marshal(costs)
	if err != nil {
		panic("exchange: finite numbers do not marshal: " + err.Error())
	}
	return data
}

// spentOn is what a dispatch has cost, if anything at all: a peer that never took the message
// has cost nothing, and one that still works on it is counted when its answer comes.
func spentOn(o langrooms.Outcome) (langrooms.Spending, bool) {
	switch o.ErrorKind {
	case langrooms.ErrorUnreachable, langrooms.ErrorRefused, langrooms.ErrorUnasked, langrooms.ErrorStillRunning:
		return langrooms.Spending{}, false
	}
	if o.Collecting || o.Kept {
		return langrooms.Spending{}, false
	}
	return langrooms.SpendingOf(o.Usage), true
}

// charge has step add what o has cost to the sums of the thread that h holds.
func charge(h *thread.Hold, step *thread.Step, o langrooms.Outcome) {
	spent, ok := spentOn(o)
	if !ok {
		return
	}
	value := charged(h.Channel, o.Author, spent)
	if value == nil {
		return
	}
	set := map[string][]byte{costsChannel: value}
	maps.Copy(set, step.Set)
	step.Set = set
}

func (t *Turn) chargeOutcome(o langrooms.Outcome) {
	if spent, ok := spentOn(o); ok {
		t.charge(o.Author, spent)
	}
}

// Charge adds what an answer of member's cost to the sums of the turn and of the thread, which
// the turn's next put stores; nil is an answer of which nothing is known. Members that
// [Turn.Address] asks are charged by it.
func (t *Turn) Charge(member string, u *langrooms.Usage) { t.charge(member, langrooms.SpendingOf(u)) }

func (t *Turn) charge(member string, spent langrooms.Spending) {
	t.spent = t.spent.Plus(spent)
	value := charged(func(name string) ([]byte, bool) {
		if value, ok := t.kept[name]; ok {
			return value, true
		}
		return t.hold.Channel(name)
	}, member, spent)
	if value != nil {
		t.Keep(costsChannel, value)
	}
}

// Spent is what the turn has cost so far.
func (t *Turn) Spent() langrooms.Spending { return t.spent }

// ErrMaxCost says that a turn has cost what it may.
var ErrMaxCost = errors.New("the message has reached its cost bound")

// Afford reports, by an ErrMaxCost, that the turn has cost as much as Room.MaxCostUSD allows, so
// that nobody is to be asked any more. What nobody tells the cost of does not count.
func (t *Turn) Afford(r Room) error {
	const rounding = 1e-9
	if r.MaxCostUSD <= 0 || t.spent.CostUSD < r.MaxCostUSD-rounding {
		return nil
	}
	return fmt.Errorf("%w: %s of %s (room.max_cost_usd)", ErrMaxCost, langrooms.Dollars(t.spent.CostUSD), langrooms.Dollars(r.MaxCostUSD))
}

func (r Room) price(member string) *langrooms.Price {
	if r.Price == nil {
		return nil
	}
	return r.Price(member)
}
