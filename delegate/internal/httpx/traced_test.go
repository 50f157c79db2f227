package httpx_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/delegate/internal/httpx"
)

// The trace context of what is asked goes along as headers; without one there are none, and one
// that is set already stays.
func TestTraced(t *testing.T) {
	var got http.Header
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header }))
	defer server.Close()
	client := &http.Client{Transport: httpx.Traced(http.DefaultTransport)}
	for _, tt := range []struct{ parent, state, set, wantParent, wantState string }{
		{"00-a-b-01", "v=1", "", "00-a-b-01", "v=1"},
		{"00-a-b-01", "", "", "00-a-b-01", ""},
		{"", "v=1", "", "", ""},
		{"00-a-b-01", "v=1", "00-c-d-01", "00-c-d-01", ""},
	} {
		req, err := http.NewRequestWithContext(delegate.WithTraceContext(t.Context(), tt.parent, tt.state), http.MethodGet, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		if tt.set != "" {
			req.Header.Set(delegate.TraceParentKey, tt.set)
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if got.Get("Traceparent") != tt.wantParent || got.Get("Tracestate") != tt.wantState {
			t.Errorf("%+v: %q, %q", tt, got.Get("Traceparent"), got.Get("Tracestate"))
		}
	}
}
