package a2aagent

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/langrooms/langrooms"
)

// spent is what an agent says in its metadata of what its work has cost. The protocol has no
// place for it; the names are those that agents use.
type spent struct {
	input, output int
	cost          float64
	priced        bool
}

// usage is s as a reply tells it; nil when the agent said nothing.
func (s spent) usage() *langrooms.Usage {
	u := &langrooms.Usage{InputTokens: s.input, OutputTokens: s.output}
	if s.priced {
		u.CostUSD = &s.cost
	}
	return u.Plausible()
}

// spentOf reads the first of several objects of metadata that tells a usage: under "usage",
// "token_usage", or a name that ends in "usage_metadata", as Google's agent development kit
// writes it ("adk_usage_metadata").
func spentOf(metadata ...json.RawMessage) spent {
	for _, data := range metadata {
		var fields map[string]json.RawMessage
		if json.Unmarshal(data, &fields) != nil {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if key := squeezed(name); key != "usage" && key != "tokenusage" && !strings.HasSuffix(key, "usagemetadata") {
				continue
			}
			if s := readSpent(fields[name]); s != (spent{}) {
				return s
			}
		}
	}
	return spent{}
}

// readSpent reads one usage. What is no number, or no number of tokens, is not read.
func readSpent(data json.RawMessage) (s spent) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil {
		return s
	}
	for name, value := range fields {
		var n float64
		if json.Unmarshal(value, &n) != nil || !(n >= 0) || n > 1<<40 {
			continue
		}
		switch squeezed(name) {
		case "inputtokens", "prompttokens", "inputtokencount", "prompttokencount":
			s.input = max(s.input, int(n))
		case "outputtokens", "completiontokens", "outputtokencount", "candidatestokencount":
			s.output += int(n)
		case "thoughtstokencount": // beside the candidates'
			s.output += int(n)
		case "costusd":
			s.cost, s.priced = n, true
		}
	}
	return s
}

// squeezed is a name without what spellings differ in.
func squeezed(name string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))
}
