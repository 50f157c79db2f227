package completion

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/langrooms/langrooms/internal/redact"
)

// Tool calls and unknown fields are put together from a stream in whatever way endpoints cut
// and number them, and each call has an id of its own.
func TestCallsAndKept(t *testing.T) {
	type call struct{ Name, Arguments string }
	for name, tt := range map[string]struct {
		body  string
		calls []call
		kept  string // Kept as JSON, ids as they are
	}{
		"one by one": {
			`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"x","arguments":""}}]}}]}` + "\n\n" +
				`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"n\":"}}]}}]}` + "\n\n" +
				`data: {"choices":[{"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"y","arguments":"{}"}},{"index":0,"function":{"arguments":"1}"}}]}}]}` + "\n\ndata: [DONE]\n\n",
			[]call{{"x", `{"n":1}`}, {"y", "{}"}}, `{}`},
		"all with index 0": {
			`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}]}}]}` + "\n\n" +
				`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"y","arguments":"{}"}}]}}]}` + "\n\ndata: [DONE]\n\n",
			[]call{{"x", "{}"}, {"y", "{}"}}, `{}`},
		"without index": {
			`data: {"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"x","arguments":"{"}}]}}]}` + "\n\n" +
				`data: {"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"}"}}]}}]}` + "\n\ndata: [DONE]\n\n",
			[]call{{"x", "{}"}}, `{}`},
		"whole, without ids, an object as arguments, in choices of their own": {
			`{"choices":[{"index":0,"message":{"content":"hi","tool_calls":null}},{"index":1,"message":{"tool_calls":[{"function":{"name":"x","arguments":{"n":1}}},{"function":{"name":"x","arguments":"{}"}}]}}]}`,
			[]call{{"x", `{"n":1}`}, {"x", "{}"}}, `{}`},
		"fields in pieces": {
			`data: {"choices":[{"delta":{"reasoning_content":"a","details":[1],"seen":1,"none":null}}]}` + "\n\n" +
				`data: {"choices":[{"delta":{"reasoning_content":"\"b","details":[2],"seen":2,"tool_calls":[{"index":0,"id":"a","extra_content":{"s":1},"function":{"name":"x","arguments":"{}"}}]}}]}` + "\n\ndata: [DONE]\n\n",
			[]call{{"x", "{}"}}, `{"message":{"details":[1,2],"reasoning_content":"a\"b","seen":2},"calls":{"a":{"extra_content":{"s":1}}}}`},
		"too much": {
			`{"choices":[{"message":{"content":"hi","junk":"` + strings.Repeat("x", maxKept) + `"}}]}`, nil, `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := Read(strings.NewReader(tt.body), NewReporter(redact.New(), nil))
			if err != nil {
				t.Fatal(err)
			}
			var calls []call
			ids := map[string]bool{"": true}
			for _, c := range a.Calls {
				calls = append(calls, call{c.Name, c.Arguments})
				if ids[c.ID] {
					t.Errorf("the id %q is taken", c.ID)
				}
				ids[c.ID] = true
			}
			kept, err := json.Marshal(a.Kept)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.calls, calls) + cmp.Diff(tt.kept, string(kept)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
