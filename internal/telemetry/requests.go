package telemetry

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// seen is what becomes known of a request while it is answered. Until its end it belongs to the
// request's goroutine, but for the id.
type seen struct {
	id     string
	route  string
	thread string
}

// Requests counts and logs what next answers; id names a request from the head of its answer. It
// goes outermost, so that refusals are seen too.
func (t *Telemetry) Requests(id string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		rec := &recorder{ResponseWriter: w, control: http.NewResponseController(w), bound: t.writeBound, streams: t.streams}
		_ = rec.control.SetWriteDeadline(time.Time{}) // the one of an earlier request on the connection; a recorder has none
		t.open.Inc()
		s := &seen{}
		ctx, span := t.tracer.Start(propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header)), "request", trace.WithSpanKind(trace.SpanKindServer))
		defer func() {
			rec.deadline() // for what is still buffered
			t.open.Dec()
			if rec.stream {
				t.streams.Dec()
			}
			t.answered(r, rec, s, rec.Header().Get(id), time.Since(began), span)
		}()
		next.ServeHTTP(rec, r.WithContext(context.WithValue(ctx, requestKey{}, s)))
	})
}

// Routes notes which of a mux's routes a request takes. It goes around the mux. id names a request
// from the head of its answer.
func (t *Telemetry) Routes(id string, mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, ok := r.Context().Value(requestKey{}).(*seen)
		if ok {
			s.id = w.Header().Get(id)
		}
		defer func() {
			if ok {
				s.route, s.thread = r.Pattern, threadOf(r)
			}
		}()
		mux.ServeHTTP(w, r)
	})
}

// threadOf is the thread that a request is about, by the names that the routes give it.
func threadOf(r *http.Request) string {
	if thread := r.PathValue("thread"); thread != "" {
		return bounded(thread)
	}
	if strings.Contains(r.Pattern, "/threads/{id}") {
		return bounded(r.PathValue("id"))
	}
	return ""
}

// maxID bounds, in bytes, what a log record holds of a thread's id: strangers choose it.
const maxID = 200

func bounded(id string) string {
	if len(id) > maxID {
		id = id[:maxID]
	}
	return strings.ToValidUTF8(id, "\uFFFD")
}

// methods are those that are counted by their names: a stranger's are without number.
var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions}

// answered counts and logs a request that is over.
func (t *Telemetry) answered(r *http.Request, rec *recorder, s *seen, id string, took time.Duration, span trace.Span) {
	method, route := "other", "other"
	if slices.Contains(methods, r.Method) {
		method = r.Method
	}
	if s.route != "" && s.route != "/" {
		_, path, found := strings.Cut(s.route, " ") // a pattern may have its method in front
		if route = path; !found {
			route = s.route
		}
	}
	status := rec.status
	if status == 0 {
		status = http.StatusOK
	}
	t.requests.WithLabelValues(method, route, strconv.Itoa(status)).Inc()
	if !rec.stream {
		t.took.WithLabelValues(route).Observe(took.Seconds())
	}
	endRequest(span, method, route, id, s.thread, status)
	level := slog.LevelInfo
	if (method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions) && status < http.StatusBadRequest {
		level = slog.LevelDebug
	}
	attrs := []slog.Attr{slog.String("request", id), slog.String("method", method), slog.String("route", route), slog.Int("status", status),
		slog.Int64("bytes", rec.bytes), milliseconds(took)}
	if s.thread != "" {
		attrs = append(attrs, slog.String("thread", s.thread))
	}
	t.log.LogAttrs(r.Context(), level, "request", attrs...)
}

func milliseconds(d time.Duration) slog.Attr {
	return slog.Float64("ms", float64(d.Microseconds())/1000)
}
