package delegate

import "context"

// The names under which a trace context travels: as HTTP headers, and as keys of ACP's _meta.
const (
	TraceParentKey = "traceparent"
	TraceStateKey  = "tracestate"
)

// traceContext is a W3C trace context in its written form.
type traceContext struct{ parent, state string }

type traceContextKey struct{}

// WithTraceContext gives ctx the W3C trace context of a span of the program's, in its written form.
// Delegates over A2A and ACP send it on with what they ask for ctx, so that a peer's spans are part
// of the same trace; it holds ids alone. An empty parent gives none.
func WithTraceContext(ctx context.Context, parent, state string) context.Context {
	if parent == "" {
		return ctx
	}
	return context.WithValue(ctx, traceContextKey{}, traceContext{parent, state})
}

// TraceContextOf returns what [WithTraceContext] gave, or empty texts.
func TraceContextOf(ctx context.Context) (parent, state string) {
	c, _ := ctx.Value(traceContextKey{}).(traceContext)
	return c.parent, c.state
}
