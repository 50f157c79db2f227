package exchange_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/room"
	"github.com/langrooms/langrooms/thread"
)

// costing answers each time at the same cost.
func costing(name string, usd float64) *voice {
	return &voice{name, func(context.Context, delegate.Request) (delegate.Reply, error) {
		return delegate.Reply{Text: "I am " + name, Usage: &langrooms.Usage{InputTokens: 10, OutputTokens: 5, CostUSD: &usd}}, nil
	}}
}

func total(t *testing.T, s checkpointer.Saver, id string) string {
	t.Helper()
	costs, err := exchange.ReadCosts(t.Context(), s, id)
	if err != nil {
		t.Fatal(err)
	}
	return costs.Total.String()
}

// What was spent on a thread is not taken back by a rewind or a branch; a fork has spent nothing.
func TestCostsStay(t *testing.T) {
	s := memory(t)
	for range 2 {
		if _, err := take(t.Context(), s, "t", roomOf(t, 1, costing("a", 0.5)), address("hi", "a")); err != nil {
			t.Fatal(err)
		}
	}
	const two = "2 answers, 20 tokens in, 10 out, $1.00"
	if got := total(t, s, "t"); got != two {
		t.Fatalf("spent %s", got)
	}
	hold, err := exchange.Hold(t.Context(), s, "t")
	if err != nil {
		t.Fatal(err)
	}
	defer hold.End()
	target, err := exchange.Hold(t.Context(), s, "f")
	if err == nil {
		err = errors.Join(hold.Fork(nil, target), target.End())
	}
	if got := total(t, s, "f"); err != nil || got != "0 answers, tokens unknown, $0.00" {
		t.Errorf("a fork has spent %s, %v", got, err)
	}
	var first string
	for cp, err := range s.List(t.Context(), checkpointer.Query{Thread: "t"}) {
		if err != nil {
			t.Fatal(err)
		}
		if cp.Length == 2 { // after the first answer
			first = cp.Ref.ID
		}
	}
	if err := hold.Branch(first, nil); err != nil {
		t.Fatal(err)
	}
	if got := total(t, s, "t"); got != two {
		t.Errorf("a branch has spent %s", got)
	}
	if err := hold.Rewind(1); err != nil {
		t.Fatal(err)
	}
	if got := total(t, s, "t"); got != two {
		t.Errorf("after a rewind it has spent %s", got)
	}
	if _, err := exchange.ReadCosts(t.Context(), s, "none"); !errors.Is(err, checkpointer.ErrNotFound) {
		t.Errorf("no such thread: %v", err)
	}
}

// The answer that comes late has its cost in its stamp, and counts when it lands.
func TestCostOfALateAnswer(t *testing.T) {
	s := memory(t)
	hold, err := exchange.Hold(t.Context(), s, "t")
	if err == nil {
		err = errors.Join(hold.Put(thread.Step{Messages: []langrooms.Message{room.NewFailure(
			langrooms.Stamp{From: "slow", Exchange: "x", Round: 1}, langrooms.ErrorStillRunning, "still running")}}), hold.End())
	}
	if err != nil {
		t.Fatal(err)
	}
	late := room.NewReply(langrooms.Stamp{From: "slow", Exchange: "x", Round: 1, Late: true, Usage: &langrooms.Usage{CostUSD: new(0.25)}}, "done")
	landed, err := exchange.Land(t.Context(), s, "t", thread.Anchor{Exchange: "x"}, late, func(*thread.Hold) (bool, error) { return true, nil })
	if err != nil || !landed {
		t.Fatal(landed, err)
	}
	if got := total(t, s, "t"); got != "1 answer, tokens unknown, $0.25" {
		t.Errorf("spent %s", got)
	}
	if u := messages(t, s, "t")[1].Cost(); u == nil || *u.CostUSD != 0.25 {
		t.Errorf("the message cost %+v", u)
	}
}

// A turn that has cost what it may asks nobody any more, whoever the speaker is.
func TestMaxCost(t *testing.T) {
	s := memory(t)
	turn, err := exchange.Begin(t.Context(), s, "t")
	if err != nil {
		t.Fatal(err)
	}
	defer turn.End()
	r := roomOf(t, 1, costing("a", 0.25), costing("b", 0.25))
	r.MaxCostUSD = 0.75
	turn.Charge(langrooms.Assistant, &langrooms.Usage{CostUSD: new(0.5)})
	result, err := turn.Address(t.Context(), r, address("hi", "a", "b"))
	if err != nil || result.Reason != langrooms.ReasonMaxCost || result.Outcomes[1].ErrorKind != langrooms.ErrorUnasked || result.Notes.MaxCost != 0.75 {
		t.Errorf("got %+v, %v", result, err)
	}
	if err := turn.Afford(r); !errors.Is(err, exchange.ErrMaxCost) || !strings.Contains(err.Error(), "$0.75 of $0.75") {
		t.Errorf("Afford = %v", err)
	}
	r.Parallel = true
	if result, err := turn.Address(t.Context(), r, address("and now?", "a", "b")); err != nil || result.Reason != langrooms.ReasonMaxCost || len(result.Outcomes) != 2 {
		t.Errorf("side by side got %+v, %v", result, err)
	}
	r.MaxCostUSD = 0
	if err := turn.Afford(r); err != nil {
		t.Errorf("without a bound: %v", err)
	}
}

// A channel that cannot be read is left as it is, and no turn fails for it; the names that have
// sums of their own are bounded.
func TestCostsOfAHostileStore(t *testing.T) {
	s := memory(t)
	set := func(value string) {
		t.Helper()
		hold, err := exchange.Hold(t.Context(), s, "t")
		if err == nil {
			err = errors.Join(hold.Put(thread.Step{Set: map[string][]byte{thread.CostsChannel: []byte(value)}}), hold.End())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	say := func() {
		t.Helper()
		if _, err := take(t.Context(), s, "t", roomOf(t, 1, costing("a", 0.5)), address("hi", "a")); err != nil {
			t.Fatal(err)
		}
	}
	for _, bad := range []string{"", "nonsense", "null", `{"a":7}`, `[]`} {
		set(bad)
		say()
	}
	if _, err := exchange.ReadCosts(t.Context(), s, "t"); !errors.Is(err, checkpointer.ErrFormat) {
		t.Errorf("what cannot be read: %v", err)
	}
	var many []string
	for i := range 300 {
		many = append(many, fmt.Sprintf(`"m%d":{"answers":1}`, i))
	}
	set("{" + strings.Join(many, ",") + "}")
	say()
	costs, err := exchange.ReadCosts(t.Context(), s, "t")
	if err != nil || len(costs.Members) != 301 || costs.Members["(others)"].CostUSD != 0.5 {
		t.Errorf("%d members, %+v, %v", len(costs.Members), costs.Members["(others)"], err)
	}
}
