package acpagent

import (
	"reflect"
	"testing"

	"github.com/langrooms/langrooms/delegate"
)

// A prompt bears the trace context of what is asked, beside what its _meta holds, and nothing
// where there is none.
func TestTraceContextInAPrompt(t *testing.T) {
	if got := withTraceContext(t.Context(), nil); got != nil {
		t.Errorf("without one: %v", got)
	}
	ctx := delegate.WithTraceContext(t.Context(), "00-a-b-01", "v=1")
	for _, meta := range []map[string]any{nil, {"x": 1}} {
		want := map[string]any{"traceparent": "00-a-b-01", "tracestate": "v=1"}
		if meta != nil {
			want["x"] = 1
		}
		if got := withTraceContext(ctx, meta); !reflect.DeepEqual(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
}
