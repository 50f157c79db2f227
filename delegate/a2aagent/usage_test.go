package a2aagent

import (
	"encoding/json"
	"testing"

	"github.com/langrooms/langrooms"
)

// Agents tell their usage under several names and in several places; whatever else stands there
// is none.
func TestUsageOfMetadata(t *testing.T) {
	for data, want := range map[string]*langrooms.Usage{
		`{"status":{"state":"completed"},"metadata":{"adk_usage_metadata":{"promptTokenCount":12,"candidatesTokenCount":3,"thoughtsTokenCount":4}}}`: {InputTokens: 12, OutputTokens: 7},
		`{"status":{"state":"completed","message":{"parts":[],"metadata":{"usage":{"input_tokens":12,"output_tokens":7}}}}}`:                         {InputTokens: 12, OutputTokens: 7},
		`{"status":{"state":"completed"},"artifacts":[{"parts":[],"metadata":{"token_usage":{"prompt_tokens":12,"completion_tokens":7}}}]}`:          {InputTokens: 12, OutputTokens: 7},
		`{"status":{"state":"completed"},"history":[{"role":"agent","metadata":{"usage":{"inputTokens":12,"outputTokens":7}}}]}`:                     {InputTokens: 12, OutputTokens: 7},
		`{"status":{"state":"completed"},"history":[{"role":"user","metadata":{"usage":{"inputTokens":12,"outputTokens":7}}}]}`:                      nil,
		`{"message":{"parts":[{"text":"x"}],"metadata":{"usage":{"input_tokens":1,"output_tokens":2,"cost_usd":0.5}}}}`:                              {InputTokens: 1, OutputTokens: 2, CostUSD: new(0.5)},
		`{"status":{"state":"completed"},"metadata":{"usage":{"cost_usd":0.5}}}`:                                                                     {CostUSD: new(0.5)},
		`{"status":{"state":"completed"},"metadata":{"usage":"many"}}`:                                                                               nil,
		`{"status":{"state":"completed"},"metadata":{"usage":{"input_tokens":-1,"output_tokens":1e300,"cost_usd":"free"}}}`:                          nil,
		`{"status":{"state":"completed"},"metadata":["usage"]}`:                                                                                      nil,
		`{"status":{"state":"completed"},"metadata":{"disk_usage":{"input_tokens":3}}}`:                                                              nil,
	} {
		task, err := readResult(json.RawMessage(data))
		got := task.spent.usage()
		switch {
		case err != nil:
			t.Errorf("%s: %v", data, err)
		case (got == nil) != (want == nil):
			t.Errorf("%s: %+v, want %+v", data, got, want)
		case got != nil && (got.InputTokens != want.InputTokens || got.OutputTokens != want.OutputTokens || (got.CostUSD == nil) != (want.CostUSD == nil)):
			t.Errorf("%s: %+v, want %+v", data, got, want)
		}
	}
}
