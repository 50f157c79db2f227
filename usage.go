package langrooms

import (
	"fmt"
	"math"
	"strings"
)

// Usage counts what an answer cost, as far as the peer reports it. No tokens at all means that
// their number is not known.
type Usage struct {
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
	// CostUSD is nil when unknown; unknown is not zero.
	CostUSD *float64 `json:"cost_usd,omitempty"`
}

func (u *Usage) clone() *Usage {
	if u == nil {
		return nil
	}
	c := *u
	if u.CostUSD != nil {
		cost := *u.CostUSD
		c.CostUSD = &cost
	}
	return &c
}

// The bounds of what is believed of one answer.
const (
	maxTokens  = 1 << 40
	maxCostUSD = 1e6
)

// Plausible returns a copy of u without what cannot be: negative or absurd numbers are unknown.
// It is nil when nothing is left.
func (u *Usage) Plausible() *Usage {
	c := u.clone()
	if c == nil {
		return nil
	}
	if c.InputTokens < 0 || c.OutputTokens < 0 || c.InputTokens > maxTokens || c.OutputTokens > maxTokens {
		c.InputTokens, c.OutputTokens = 0, 0
	}
	if c.CostUSD != nil && !(*c.CostUSD >= 0 && *c.CostUSD <= maxCostUSD) { // also refuses NaN
		c.CostUSD = nil
	}
	if c.CostUSD == nil && !c.counted() {
		return nil
	}
	return c
}

// counted reports whether the tokens are known.
func (u *Usage) counted() bool { return u != nil && (u.InputTokens > 0 || u.OutputTokens > 0) }

// Price is what tokens cost, in US dollars for a million of them.
type Price struct {
	InputPerMTok  float64
	OutputPerMTok float64
}

// Priced returns u with the cost of its tokens at price p. What the peer says itself stays, and
// without tokens or price the cost stays unknown. u is not changed.
func (u *Usage) Priced(p *Price) *Usage {
	if p == nil || !u.counted() || u.CostUSD != nil {
		return u
	}
	c := *u
	cost := (float64(u.InputTokens)*p.InputPerMTok + float64(u.OutputTokens)*p.OutputPerMTok) / 1e6
	c.CostUSD = &cost
	return &c
}

// Spending is the sum of what several answers cost, as far as it is known: an answer whose
// tokens or cost nobody told is counted and not taken for zero.
type Spending struct {
	// Answers is the number of answers that the sums are about, also of those without words.
	Answers      int   `json:"answers"`
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	// CostUSD sums the costs that are known.
	CostUSD float64 `json:"cost_usd"`
	// UnknownTokens and UnknownCost count the answers that are missing in the sums above.
	UnknownTokens int `json:"unknown_tokens,omitempty"`
	UnknownCost   int `json:"unknown_cost,omitempty"`
}

// SpendingOf is the spending of one answer; nil is an answer of which nothing is known.
func SpendingOf(u *Usage) Spending {
	s := Spending{Answers: 1}
	if u.counted() {
		s.InputTokens, s.OutputTokens = int64(u.InputTokens), int64(u.OutputTokens)
	} else {
		s.UnknownTokens = 1
	}
	if u != nil && u.CostUSD != nil {
		s.CostUSD = *u.CostUSD
	} else {
		s.UnknownCost = 1
	}
	return s
}

// Plus returns the sum of both.
func (s Spending) Plus(o Spending) Spending {
	return Spending{
		Answers: s.Answers + o.Answers, InputTokens: s.InputTokens + o.InputTokens, OutputTokens: s.OutputTokens + o.OutputTokens,
		CostUSD: math.Min(s.CostUSD+o.CostUSD, math.MaxFloat64), UnknownTokens: s.UnknownTokens + o.UnknownTokens, UnknownCost: s.UnknownCost + o.UnknownCost,
	}
}

// Known reports whether any tokens or any cost are known.
func (s Spending) Known() bool { return s.UnknownTokens < s.Answers || s.UnknownCost < s.Answers }

// String says it in a line, such as "3 answers, 1,200 tokens in, 340 out, $0.0123, the cost of 1
// unknown".
func (s Spending) String() string {
	words := []string{plural(s.Answers, "answer")}
	if s.UnknownTokens < s.Answers {
		words = append(words, thousands(s.InputTokens)+" tokens in", thousands(s.OutputTokens)+" out")
		if s.UnknownTokens > 0 {
			words = append(words, fmt.Sprintf("the tokens of %d unknown", s.UnknownTokens))
		}
	} else {
		words = append(words, "tokens unknown")
	}
	switch {
	case s.UnknownCost == 0:
		words = append(words, Dollars(s.CostUSD))
	case s.UnknownCost < s.Answers:
		words = append(words, Dollars(s.CostUSD), fmt.Sprintf("the cost of %d unknown", s.UnknownCost))
	default:
		words = append(words, "cost unknown")
	}
	return strings.Join(words, ", ")
}

// Dollars writes an amount in cents, and below one dollar in hundredths of them where it has any.
func Dollars(usd float64) string {
	if usd >= 1 {
		return fmt.Sprintf("$%.2f", usd)
	}
	text := fmt.Sprintf("$%.4f", usd)
	if usd > 0 && text == "$0.0000" {
		return "less than $0.0001"
	}
	return strings.TrimSuffix(text, "00")
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// thousands writes n with a comma between thousands.
func thousands(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
