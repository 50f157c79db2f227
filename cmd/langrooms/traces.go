package main

import (
	"context"
	"os"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// tracesBound is how long the last spans may take to be sent at the end.
const tracesBound = 2 * time.Second

// tracer returns what makes the server's spans, and what sends the last of them. Without an
// endpoint in OpenTelemetry's own variables there is none, and nothing is sent anywhere.
func (p *program) tracer(ctx context.Context) (trace.Tracer, func(), error) {
	if os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") == "" && os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") == "" {
		return nil, func() {}, nil
	}
	var once sync.Once
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) { // its text may hold the endpoint's credentials
		once.Do(func() {
			p.said("traces cannot be sent to the endpoint of OTEL_EXPORTER_OTLP_ENDPOINT; this is said once")
		})
	}))
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, nil, err
	}
	of, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", "langrooms"), attribute.String("service.version", version())),
		resource.WithFromEnv()) // which wins
	if err != nil {
		return nil, nil, err
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(of))
	return provider.Tracer("github.com/langrooms/langrooms"), func() {
		ctx, cancel := context.WithTimeout(context.Background(), tracesBound)
		defer cancel()
		_ = provider.Shutdown(ctx) // the handler has said what failed
	}, nil
}
