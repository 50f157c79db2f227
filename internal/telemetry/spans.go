package telemetry

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
)

// What spans are told of, beside what OpenTelemetry's conventions name.
const (
	attrRequest  = attribute.Key("langrooms.request")
	attrThread   = attribute.Key("langrooms.thread")
	attrRun      = attribute.Key("langrooms.run")
	attrExchange = attribute.Key("langrooms.exchange")
	attrDelegate = attribute.Key("langrooms.delegate")
	attrRound    = attribute.Key("langrooms.round")
	attrOutcome  = attribute.Key("langrooms.outcome")
	attrReason   = attribute.Key("langrooms.reason")
)

// endRequest ends the span of a request. Failures of a client's are none of the server's.
func endRequest(span trace.Span, method, route, id, thread string, status int) {
	span.SetName(method + " " + route)
	span.SetAttributes(attribute.String("http.request.method", method), attribute.String("http.route", route),
		attribute.Int("http.response.status_code", status), attrRequest.String(id))
	if thread != "" {
		span.SetAttributes(attrThread.String(thread))
	}
	if status >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

// startTurn begins the span of a turn, and gives what is asked in it the place in the trace.
func (t *Telemetry) startTurn(ctx context.Context, thread, run string) (context.Context, trace.Span) {
	within, span := t.tracer.Start(ctx, "turn", trace.WithAttributes(attrRequest.String(requestOf(ctx)), attrThread.String(bounded(thread)), attrRun.String(run)))
	written := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(within, written)
	return delegate.WithTraceContext(within, written[delegate.TraceParentKey], written[delegate.TraceStateKey]), span
}

func endTurn(span trace.Span, status string, result langrooms.Result) {
	span.SetAttributes(attrExchange.String(result.Exchange), attrOutcome.String(status), attrReason.String(string(result.Reason)))
	if status == turnFailed {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

// started begins the span of an ask.
func (a *asks) started(e langrooms.Event) {
	if a.spans == nil {
		a.spans = map[askKey]trace.Span{}
	}
	_, span := a.t.tracer.Start(a.ctx, "dispatch", trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(attrThread.String(bounded(e.Thread)), attrExchange.String(e.Exchange), attrDelegate.String(e.Member), attrRound.Int(e.Round)))
	a.spans[askKey{e.Exchange, e.Member, e.Round}] = span
}

// endSpan ends the span of an ask.
func (a *asks) endSpan(e langrooms.Event, o langrooms.Outcome, outcome string) {
	key := askKey{e.Exchange, o.Author, o.Round}
	span, found := a.spans[key]
	if !found {
		return
	}
	delete(a.spans, key)
	span.SetAttributes(attrOutcome.String(outcome))
	if o.ErrorKind != "" {
		span.SetStatus(codes.Error, outcome)
	}
	span.End()
}

// end ends the spans of asks whose end nobody told.
func (a *asks) end() {
	for _, span := range a.spans {
		span.SetStatus(codes.Error, "")
		span.End()
	}
	a.spans = nil
}
