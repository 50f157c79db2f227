package langrooms_test

import (
	"math"
	"testing"

	"github.com/langrooms/langrooms"
)

// What nobody told is counted and said, and never taken for zero.
func TestSpending(t *testing.T) {
	tokens := &langrooms.Usage{InputTokens: 1_234_567, OutputTokens: 89}
	money := &langrooms.Usage{CostUSD: new(0.0421)}
	price := &langrooms.Price{InputPerMTok: 3, OutputPerMTok: 15}
	for _, tt := range []struct {
		of   []*langrooms.Usage
		want string
	}{
		{nil, "0 answers, tokens unknown, $0.00"},
		{[]*langrooms.Usage{nil}, "1 answer, tokens unknown, cost unknown"},
		{[]*langrooms.Usage{tokens}, "1 answer, 1,234,567 tokens in, 89 out, cost unknown"},
		{[]*langrooms.Usage{tokens.Priced(price)}, "1 answer, 1,234,567 tokens in, 89 out, $3.71"},
		{[]*langrooms.Usage{money}, "1 answer, tokens unknown, $0.0421"},
		{[]*langrooms.Usage{money, nil}, "2 answers, tokens unknown, $0.0421, the cost of 1 unknown"},
		{[]*langrooms.Usage{money, tokens}, "2 answers, 1,234,567 tokens in, 89 out, the tokens of 1 unknown, $0.0421, the cost of 1 unknown"},
		{[]*langrooms.Usage{{CostUSD: new(0.0)}}, "1 answer, tokens unknown, $0.00"},
		{[]*langrooms.Usage{{InputTokens: 1, CostUSD: new(0.5)}}, "1 answer, 1 tokens in, 0 out, $0.50"},
		{[]*langrooms.Usage{{InputTokens: 1, CostUSD: new(0.00001)}}, "1 answer, 1 tokens in, 0 out, less than $0.0001"},
	} {
		var sum langrooms.Spending
		for _, u := range tt.of {
			sum = sum.Plus(langrooms.SpendingOf(u))
		}
		if got := sum.String(); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// A price makes a cost of tokens, and of nothing else; what the peer says itself stays.
func TestPriced(t *testing.T) {
	price := &langrooms.Price{InputPerMTok: 2, OutputPerMTok: 10}
	var none *langrooms.Usage
	if none.Priced(price) != nil || (&langrooms.Usage{CostUSD: new(1.0)}).Priced(nil).CostUSD == nil {
		t.Error("nothing is made of nothing")
	}
	if u := (&langrooms.Usage{}).Priced(price); u.CostUSD != nil {
		t.Errorf("without tokens it costs %v", *u.CostUSD)
	}
	if u := (&langrooms.Usage{InputTokens: 1000, CostUSD: new(0.5)}).Priced(price); *u.CostUSD != 0.5 {
		t.Errorf("the peer's own cost became %v", *u.CostUSD)
	}
	told := &langrooms.Usage{InputTokens: 1000, OutputTokens: 100}
	if u := told.Priced(price); *u.CostUSD != 0.003 || told.CostUSD != nil {
		t.Errorf("priced at %v, the original at %v", *u.CostUSD, told.CostUSD)
	}
}

func TestPlausible(t *testing.T) {
	for _, bad := range []*langrooms.Usage{nil, {}, {InputTokens: -1}, {OutputTokens: 1 << 60}, {CostUSD: new(-1.0)},
		{CostUSD: new(math.NaN())}, {CostUSD: new(math.Inf(1))}, {CostUSD: new(1e300)}, {InputTokens: -1, CostUSD: new(-1.0)}} {
		if got := bad.Plausible(); got != nil {
			t.Errorf("%+v is %+v", bad, got)
		}
	}
	if got := (&langrooms.Usage{InputTokens: -1, CostUSD: new(0.5)}).Plausible(); got.InputTokens != 0 || *got.CostUSD != 0.5 {
		t.Errorf("what is plausible of it is %+v", got)
	}
}
