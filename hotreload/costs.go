package hotreload

import "gopkg.in/yaml.v3"

// checkCosts warns of prices that are there by half, and of answers that a cost bound cannot count: an
// OpenAI endpoint tells tokens, and mostly no cost.
func checkCosts(s *scope, c *Config, top *yaml.Node) {
	half := func(cost Cost) bool { return (cost.InputPerMTok == nil) != (cost.OutputPerMTok == nil) }
	const both = "input_per_mtok and output_per_mtok are needed both; the cost counts as unknown"
	const uncounted = "has no cost, so what its answers cost is not counted against room.max_cost_usd unless the endpoint tells it"
	bound := c.Room.MaxCostUSD > 0
	for _, d := range c.Delegates {
		at := &yaml.Node{Line: d.Line, Column: 1}
		switch {
		case half(d.Cost):
			s.report(Warning, at, "delegates."+d.Name+".cost", "delegate %q: cost: %s", d.Name, both)
		case bound && d.Type == "openai" && d.Cost.Price() == nil:
			s.report(Warning, at, "delegates."+d.Name+".cost", "delegate %q %s", d.Name, uncounted)
		}
	}
	switch {
	case half(c.Model.Cost):
		s.report(Warning, section(top, "model"), "model.cost", "model.cost: %s", both)
	case bound && c.Model.Provider == "openai" && c.Model.Cost.Price() == nil:
		s.report(Warning, section(top, "model"), "model.cost", "the lead's model %s", uncounted)
	}
}
