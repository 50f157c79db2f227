package httpx

import (
	"net/http"

	"github.com/langrooms/langrooms/delegate"
)

// Traced returns base with the trace context of each request's context in its headers.
func Traced(base http.RoundTripper) http.RoundTripper { return traced{base} }

type traced struct{ base http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (t traced) RoundTrip(req *http.Request) (*http.Response, error) {
	parent, state := delegate.TraceContextOf(req.Context())
	if parent == "" || req.Header.Get(delegate.TraceParentKey) != "" {
		return t.base.RoundTrip(req)
	}
	req = req.Clone(req.Context())
	req.Header.Set(delegate.TraceParentKey, parent)
	if state != "" {
		req.Header.Set(delegate.TraceStateKey, state)
	}
	return t.base.RoundTrip(req)
}
