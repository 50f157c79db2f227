package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/terminal"
)

// costOf says in brackets what one message cost.
func costOf(u *langrooms.Usage) string {
	_, words, _ := strings.Cut(langrooms.SpendingOf(u).String(), ", ")
	return "(" + words + ")"
}

// costsText says what a thread cost, a member a line.
func costsText(costs exchange.Costs) string {
	if costs.Total.Answers == 0 {
		return "Nobody has answered on this thread yet."
	}
	lines := []string{"This thread has cost: " + costs.Total.String() + "."}
	for _, name := range slices.Sorted(maps.Keys(costs.Members)) {
		lines = append(lines, fmt.Sprintf("  %-16s %s", name, costs.Members[name]))
	}
	return strings.Join(lines, "\n")
}

// costsLine is the last line of thread show --cost --json.
type costsLine struct {
	Thread string         `json:"thread"`
	Costs  exchange.Costs `json:"costs"`
}

// showCosts prints what the thread cost.
func (p *program) showCosts(ctx context.Context, saver checkpointer.Saver) error {
	costs, err := exchange.ReadCosts(ctx, saver, p.thread)
	switch {
	case err != nil:
		return err
	case p.json:
		return p.line(costsLine{p.thread, costs})
	}
	_, err = fmt.Fprintln(p.out, terminal.Clean(costsText(costs)))
	return err
}

// cost is /cost.
func (c *conversation) cost(ctx context.Context, args string) (terminal.Reply, error) {
	if args != "" {
		return terminal.Reply{Text: "/cost takes no argument."}, nil
	}
	thread, _ := c.current()
	costs, err := exchange.ReadCosts(ctx, c.app.Saver, thread)
	if err != nil && !errors.Is(err, checkpointer.ErrNotFound) {
		return terminal.Reply{}, err
	}
	return terminal.Reply{Text: costsText(costs)}, nil
}
