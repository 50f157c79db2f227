package langgraphapi

import "github.com/langrooms/langrooms"

// usageMetadata counts tokens as LangChain's UsageMetadata does.
type usageMetadata struct {
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
	Total  int `json:"total_tokens"`
}

// used says what a message used. LangChain knows no price: the cost stands in the response's
// metadata.
func (m *message) used(u *langrooms.Usage) {
	if u == nil {
		return
	}
	if u.InputTokens > 0 || u.OutputTokens > 0 {
		m.Usage = &usageMetadata{u.InputTokens, u.OutputTokens, u.InputTokens + u.OutputTokens}
	}
	if u.CostUSD != nil {
		m.Response["cost_usd"] = *u.CostUSD
	}
}
