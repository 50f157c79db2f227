package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"

	"go.opentelemetry.io/otel/trace"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/gate"
	"github.com/langrooms/langrooms/internal/telemetry"
	"github.com/langrooms/langrooms/setup"
)

// loggerTo is the log that --log asks for: text or json to out, or nil.
func loggerTo(out io.Writer, form string) (*slog.Logger, error) {
	o := &slog.HandlerOptions{Level: slog.LevelInfo}
	switch form {
	case "", "off":
		return nil, nil
	case "text":
		return slog.New(slog.NewTextHandler(out, o)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(out, o)), nil
	}
	return nil, fmt.Errorf("--log is %q, it must be off, text or json", form)
}

// observe begins to count what app's server does.
func observe(app *setup.App, log *slog.Logger, tracer trace.Tracer) *telemetry.Telemetry {
	return telemetry.New(telemetry.Config{Log: log, Tracer: tracer, Version: version(),
		Members: func() int { return len(app.Roster.Current().Names()) }})
}

// mountHealth says how the server is.
func (s *server) mountHealth(mux *http.ServeMux) {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	mux.HandleFunc("GET /readyz", s.ready)
	metrics := s.seen.Metrics()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		if who, _ := gate.From(r.Context()); !who.Admin {
			gate.Refuse(w, r, http.StatusForbidden, "forbidden", "metrics are for admins")
			return
		}
		metrics.ServeHTTP(w, r)
	})
}

// ready says whether the store can be read and the roster stands.
func (s *server) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), readyBound)
	defer cancel()
	_, err := s.app.Saver.Get(ctx, checkpointer.Ref{Thread: "readyz"})
	switch {
	case err != nil && !errors.Is(err, checkpointer.ErrNotFound):
		gate.Refuse(w, r, http.StatusServiceUnavailable, "not_ready", "the store cannot be read")
	case len(s.app.Config().Delegates) > 0 && len(s.app.Roster.Current().Names()) == 0:
		gate.Refuse(w, r, http.StatusServiceUnavailable, "not_ready", "no delegate of the configuration stands on the roster")
	default:
		w.WriteHeader(http.StatusOK)
	}
}

// seenRoom is app's Room, whose dispatches are counted.
func seenRoom(app *setup.App, seen *telemetry.Telemetry) func() (exchange.Room, func()) {
	return func() (exchange.Room, func()) {
		r, release := app.Room()
		r.Events = seen.Dispatches(r.Events)
		return r, release
	}
}
