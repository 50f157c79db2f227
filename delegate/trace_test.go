package delegate_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/langrooms/langrooms/delegate"
)

func TestTrace(t *testing.T) {
	ctx := delegate.Through(delegate.Through(delegate.WithTrace(t.Context(), delegate.ParseTrace("a, b")), "c"), "c")
	if got := delegate.TraceOf(ctx).String(); got != "a,b,c" {
		t.Errorf("the trace is %q", got)
	}
	if delegate.TraceOf(t.Context()) != nil || delegate.Through(t.Context(), "") != t.Context() {
		t.Error("a trace from nowhere")
	}
	for _, c := range []struct {
		text, self string
		want       error
	}{
		{"", "a", nil},
		{"b,c", "a", nil},
		{"b,a,c", "a", delegate.ErrCycle},
		{"b,,c", "", nil},
		{"1,2,3,4,5,6,7", "a", nil},
		{"1,2,3,4,5,6,7,8", "a", delegate.ErrHops},
		{strings.Repeat(",", 1<<20), "a", delegate.ErrHops},
		{strings.Repeat("x", 1<<20), "a", nil},
	} {
		trace := delegate.ParseTrace(c.text)
		if err := trace.Admit(c.self); !errors.Is(err, c.want) {
			t.Errorf("Admit of %.20q: %v, want %v", c.text, err, c.want)
		}
		if n := len(trace.String()); n > 1024 {
			t.Errorf("%.20q is kept in %d bytes", c.text, n)
		}
	}
}
