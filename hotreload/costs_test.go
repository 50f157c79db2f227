package hotreload_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/langrooms/langrooms/hotreload"
)

// A bound that cannot count what a member's answers cost is told of, with the place; so is half a price.
func TestCostsThatDoNotCount(t *testing.T) {
	const file = `model: { provider: openai, model: m%s }
room: { max_cost_usd: %s }
delegates:
  - { name: a, type: openai, url: "http://h/v1", model: m%s }
  - { name: b, type: a2a, url: "http://h/" }
`
	const whole, half = ", cost: { input_per_mtok: 1, output_per_mtok: 2 }", ", cost: { output_per_mtok: 2 }"
	for _, tt := range []struct{ model, bound, entry, want string }{
		{"", "0", "", ""},
		{whole, "1", whole, ""},
		{"", "1", whole, "1 model.cost the lead's model has no cost"},
		{whole, "1", "", "4 delegates.a.cost delegate \"a\" has no cost"},
		{half, "0", half, "1 model.cost model.cost: input_per_mtok and output_per_mtok are needed both|4 delegates.a.cost delegate \"a\": cost: input_per_mtok and"},
	} {
		_, findings, err := hotreload.Parse("f", fmt.Appendf(nil, file, tt.model, tt.bound, tt.entry))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range findings {
			if f.Severity == hotreload.Warning {
				got = append(got, fmt.Sprint(f.Line, " ", f.Key, " ", f.Message))
			}
		}
		want := strings.FieldsFunc(tt.want, func(r rune) bool { return r == '|' })
		ok := len(got) == len(want)
		for i := range min(len(got), len(want)) {
			ok = ok && strings.HasPrefix(got[i], want[i])
		}
		if !ok {
			t.Errorf("%q, bound %s, %q: %q, want %q", tt.model, tt.bound, tt.entry, got, want)
		}
	}
}
