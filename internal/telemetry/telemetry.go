package telemetry

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// Config wires a [Telemetry].
type Config struct {
	// Log takes the records: requests that change something or fail, turns and dispatches at
	// the level info, other requests at debug. Nil drops them.
	Log *slog.Logger
	// Tracer makes the spans; nil makes none.
	Tracer trace.Tracer
	// Members counts the delegates of the roster; nil leaves the gauge out.
	Members func() int
	// Version is the program's.
	Version string
	// WriteBound is how long a client may take to take one piece of an answer; 0 means 30 seconds.
	WriteBound time.Duration
}

// Telemetry counts and logs. Make one with [New]; a nil one does neither.
type Telemetry struct {
	log        *slog.Logger
	tracer     trace.Tracer
	writeBound time.Duration
	registry   *prometheus.Registry

	requests   *prometheus.CounterVec
	took       *prometheus.HistogramVec
	open       prometheus.Gauge
	streams    prometheus.Gauge
	turns      *prometheus.CounterVec
	turnTook   prometheus.Histogram
	running    prometheus.Gauge
	dispatches *prometheus.CounterVec
	askTook    *prometheus.HistogramVec
	tokens     *prometheus.CounterVec
	cost       *prometheus.CounterVec
}

// long are the buckets, in seconds, of what people and models take.
var long = []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3600}

// New returns a telemetry that has counted nothing. It does no I/O.
func New(cfg Config) *Telemetry {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Tracer == nil {
		cfg.Tracer = noop.NewTracerProvider().Tracer("")
	}
	if cfg.WriteBound == 0 {
		cfg.WriteBound = 30 * time.Second
	}
	t := &Telemetry{log: cfg.Log, tracer: cfg.Tracer, writeBound: cfg.WriteBound, registry: prometheus.NewRegistry()}
	t.requests = t.counters("langrooms_http_requests_total", "Requests by method, route and status.", "method", "route", "status")
	t.took = t.histograms("langrooms_http_request_seconds", "How long requests took that were no streams.", prometheus.DefBuckets, "route")
	t.open = t.gauge("langrooms_http_requests_open", "Requests that are being answered, streams among them.")
	t.streams = t.gauge("langrooms_http_streams_open", "Event streams that are being written.")
	t.turns = t.counters("langrooms_turns_total", "Turns of runs by how they ended.", "status")
	t.turnTook = t.histograms("langrooms_turn_seconds", "How long turns took.", long).WithLabelValues().(prometheus.Histogram)
	t.running = t.gauge("langrooms_turns_running", "Turns that are being taken by this process.")
	t.dispatches = t.counters("langrooms_dispatches_total", "Asks of members by how they ended: ok, silent, paused, or the kind of the error.", "delegate", "outcome")
	t.askTook = t.histograms("langrooms_dispatch_seconds", "How long members took.", long, "delegate")
	t.tokens = t.counters("langrooms_tokens_total", "Tokens of members' answers, as far as they are told.", "delegate", "kind")
	t.cost = t.counters("langrooms_cost_usd_total", "What members' answers cost, as far as it is known.", "delegate")
	t.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	info := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "langrooms_info", Help: "The program's version.",
		ConstLabels: prometheus.Labels{"version": cfg.Version}}, func() float64 { return 1 })
	t.registry.MustRegister(info)
	if cfg.Members != nil {
		t.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "langrooms_roster_delegates", Help: "Delegates on the roster."},
			func() float64 { return float64(cfg.Members()) }))
	}
	return t
}

func (t *Telemetry) counters(name, help string, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	t.registry.MustRegister(c)
	return c
}

func (t *Telemetry) histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	t.registry.MustRegister(h)
	return h
}

func (t *Telemetry) gauge(name, help string) prometheus.Gauge {
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	t.registry.MustRegister(g)
	return g
}

// Metrics answers with the metrics in Prometheus' form.
func (t *Telemetry) Metrics() http.Handler {
	return promhttp.HandlerFor(t.registry, promhttp.HandlerOpts{})
}

// requestKey is where a request's id goes along in a context.
type requestKey struct{}

// Carry gives a turn's context what of its caller's is to be seen there: the request's id and its
// place in a trace.
func (t *Telemetry) Carry(caller, turn context.Context) context.Context {
	if at := trace.SpanContextFromContext(caller); at.IsValid() {
		turn = trace.ContextWithSpanContext(turn, at)
	}
	if s, ok := caller.Value(requestKey{}).(*seen); ok {
		return context.WithValue(turn, requestKey{}, s)
	}
	return turn
}

// requestOf is the id of the request that ctx belongs to, or "".
func requestOf(ctx context.Context) string {
	if s, ok := ctx.Value(requestKey{}).(*seen); ok {
		return s.id
	}
	return ""
}
