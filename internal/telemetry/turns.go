package telemetry

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/langrooms/langrooms"
)

// How a turn ended, as the metrics and the log have it.
const (
	turnAnswered = "answered"
	turnFailed   = "failed"
	turnStopped  = "stopped"
)

// Turn begins a run's turn: events are seen on their way to next, and end is called with what the
// turn came to. What is done in the turn is done with within.
func (t *Telemetry) Turn(ctx context.Context, thread, run string, next langrooms.Sink) (within context.Context, events langrooms.Sink, end func(langrooms.Result, error)) {
	if t == nil {
		return ctx, next, func(langrooms.Result, error) {}
	}
	began := time.Now()
	t.running.Inc()
	attrs := []slog.Attr{slog.String("request", requestOf(ctx)), slog.String("thread", bounded(thread)), slog.String("run", run)}
	within, span := t.startTurn(ctx, thread, run)
	asks := &asks{t: t, ctx: within, attrs: attrs}
	return within, asks.sink(next), func(result langrooms.Result, err error) {
		t.running.Dec()
		took := time.Since(began)
		status := turnAnswered
		switch {
		case ctx.Err() != nil || result.Reason == langrooms.ReasonStopped:
			status = turnStopped
		case err != nil:
			status = turnFailed
		}
		t.turns.WithLabelValues(status).Inc()
		t.turnTook.Observe(took.Seconds())
		asks.end()
		endTurn(span, status, result)
		t.log.LogAttrs(ctx, slog.LevelInfo, "turn", append(attrs[:len(attrs):len(attrs)], slog.String("exchange", result.Exchange),
			slog.String("status", status), slog.String("reason", string(result.Reason)), milliseconds(took))...)
	}
}

// Dispatches sees the events of turns that belong to no run, those of shared sessions.
func (t *Telemetry) Dispatches(next langrooms.Sink) langrooms.Sink {
	return (&asks{t: t, ctx: context.Background()}).sink(next)
}

// asks counts and logs the asks of members in a turn. Events come one at a time.
type asks struct {
	t     *Telemetry
	ctx   context.Context
	attrs []slog.Attr
	spans map[askKey]trace.Span // of those under way
}

// askKey names an ask in a turn.
type askKey struct {
	exchange, member string
	round            int
}

// sink sees events on their way to next.
func (a *asks) sink(next langrooms.Sink) langrooms.Sink {
	return func(e langrooms.Event) {
		next.Emit(e)
		switch {
		case e.Type == langrooms.EventDispatchStarted:
			a.started(e)
		case e.Type == langrooms.EventDispatchEnded && e.Outcome != nil:
			a.ended(e, *e.Outcome)
		}
	}
}

// ended counts and logs an ask that is over.
func (a *asks) ended(e langrooms.Event, o langrooms.Outcome) {
	outcome := outcomeOf(o)
	a.t.dispatches.WithLabelValues(o.Author, outcome).Inc()
	a.t.askTook.WithLabelValues(o.Author).Observe(o.Duration.Seconds())
	a.t.spent(o)
	a.endSpan(e, o, outcome)
	all := a.attrs[:len(a.attrs):len(a.attrs)]
	if len(all) == 0 {
		all = []slog.Attr{slog.String("thread", bounded(e.Thread))}
	}
	a.t.log.LogAttrs(a.ctx, slog.LevelInfo, "dispatch", append(all, slog.String("exchange", e.Exchange), slog.String("delegate", o.Author),
		slog.Int("round", o.Round), slog.String("outcome", outcome), milliseconds(o.Duration))...)
}

// outcomeOf is one word for an outcome, out of few.
func outcomeOf(o langrooms.Outcome) string {
	switch {
	case o.ErrorKind != "":
		return string(o.ErrorKind)
	case o.Paused:
		return "paused"
	case o.Silent:
		return "silent"
	case o.OK:
		return "ok"
	}
	return "failed"
}

// spent sums what is known of an answer's cost.
func (t *Telemetry) spent(o langrooms.Outcome) {
	u := o.Usage.Plausible()
	if u == nil {
		return
	}
	t.tokens.WithLabelValues(o.Author, "input").Add(float64(u.InputTokens))
	t.tokens.WithLabelValues(o.Author, "output").Add(float64(u.OutputTokens))
	if u.CostUSD != nil {
		t.cost.WithLabelValues(o.Author).Add(*u.CostUSD)
	}
}
