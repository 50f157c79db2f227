package lifecycle_test

import (
	"context"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/exchange"
)

// What a model takes for a summary is spent on the thread, whatever becomes of the summary, and no
// more is put where nothing is told.
func TestCostOfASummary(t *testing.T) {
	onEachStore(t, func(t *testing.T, s store) {
		spent := func(id string) string {
			t.Helper()
			costs, err := exchange.ReadCosts(t.Context(), s, id)
			if err != nil {
				t.Fatal(err)
			}
			return costs.Members["vera"].String()
		}
		threads := threadsOf(s)
		threads.Summarize = func(ctx context.Context, _ []langrooms.Message) (string, error) {
			exchange.Spend(ctx, "vera", &langrooms.Usage{InputTokens: 100, OutputTokens: 5, CostUSD: new(0.25)})
			return "so far", nil
		}
		say(t, s, "t", pages(40)...)
		before := history(t, s, "t")
		if n, err := threads.Compact(t.Context(), "t", 5, ""); n == 0 || err != nil {
			t.Fatal(n, err)
		}
		expect(t, "compacted", "1 answer, 100 tokens in, 5 out, $0.25", spent("t"))
		if _, err := threads.Uncompact(t.Context(), "t"); err != nil {
			t.Fatal(err)
		}
		expect(t, "restored", before, history(t, s, "t"))
		expect(t, "restored", "1 answer, 100 tokens in, 5 out, $0.25", spent("t"))

		say(t, s, "u", pages(60)...)
		n, err := threads.Shorten(t.Context(), "u", 6000)
		if n == 0 || err != nil {
			t.Fatal(n, err)
		}
		expect(t, "shortened in two pieces", "2 answers, 200 tokens in, 10 out, $0.50", spent("u"))

		say(t, s, "v", pages(40)...)
		if _, err := threads.Compact(t.Context(), "v", 5, "by hand"); err != nil {
			t.Fatal(err)
		}
		expect(t, "written by hand", "0 answers, tokens unknown, $0.00", spent("v"))
	})
}
