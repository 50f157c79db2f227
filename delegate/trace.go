package delegate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Trace names the installations of langrooms that a message has come through, in order, so
// that one whose delegates lead back to itself is noticed instead of asked for ever. It
// travels from one to the next beside the message, only to peers that say they know it, as
// text that commas part: in A2A as metadata of the message under [TraceExtension], in ACP as
// [TraceMeta] in the prompt's _meta, over plain HTTP as the header [TraceHeader].
type Trace []string

// How a trace travels.
const (
	TraceExtension = "https://github.com/langrooms/langrooms/ext/trace/v1"
	TraceMeta      = "langrooms/trace"
	TraceHeader    = "Langrooms-Trace"
)

// MaxHops is how many installations a message may come through.
const MaxHops = 8

// maxHop bounds the name of an installation in bytes.
const maxHop = 64

var (
	// ErrCycle: a message has come back to where it had been.
	ErrCycle = errors.New("the message has come back to a langrooms that it came through: its delegates lead in a circle")
	// ErrHops: a message has come too far.
	ErrHops = fmt.Errorf("the message has come through %d langrooms, and none passes it on further", MaxHops)
)

// ParseTrace reads a trace as a peer has sent it. What no langrooms writes counts as hops.
func ParseTrace(text string) Trace {
	if text == "" {
		return nil
	}
	t := strings.SplitN(text, ",", MaxHops+1)
	for i := range t {
		t[i] = strings.TrimSpace(t[i])
		t[i] = t[i][:min(len(t[i]), maxHop)]
	}
	return t
}

// String is the trace as it travels.
func (t Trace) String() string { return strings.Join(t, ",") }

// Admit reports why the installation self does not take a message of this trace: [ErrCycle] or
// [ErrHops], or nil.
func (t Trace) Admit(self string) error {
	switch {
	case self != "" && slices.Contains(t, self):
		return ErrCycle
	case len(t) >= MaxHops:
		return ErrHops
	}
	return nil
}

type traceKey struct{}

// WithTrace returns a context for the work on a message that has come through these.
func WithTrace(ctx context.Context, t Trace) context.Context {
	return context.WithValue(ctx, traceKey{}, slices.Clone(t))
}

// TraceOf returns what [WithTrace] gave, or nil.
func TraceOf(ctx context.Context) Trace {
	t, _ := ctx.Value(traceKey{}).(Trace)
	return t
}

// Through returns a context whose trace ends with the installation self; empty is none.
func Through(ctx context.Context, self string) context.Context {
	t := TraceOf(ctx)
	if self == "" || len(t) > 0 && t[len(t)-1] == self {
		return ctx
	}
	return WithTrace(ctx, append(slices.Clone(t), self))
}
