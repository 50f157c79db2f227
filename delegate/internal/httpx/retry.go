package httpx

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/langrooms/langrooms/internal/lifetime"
)

const (
	// maxWait is the longest wait that a peer can ask for.
	maxWait = 30 * time.Second
	// plainWait is the wait after a 429 that asks for none.
	plainWait = time.Second
	// maxDrained bounds what is read of a refusal, so that its connection can be used again.
	maxDrained = 64 << 10
)

// Retry returns base with up to times tries more for a request that the peer would not take
// for now (429, and 503 with Retry-After; RFC 9110, 10.2.3). A request whose body cannot be
// had again, a wait that is too long, and one that the request's context does not have time
// for, return the refusal itself.
func Retry(base http.RoundTripper, times int) http.RoundTripper {
	if times == 0 {
		return base
	}
	return &retry{base, times}
}

type retry struct {
	base  http.RoundTripper
	times int
}

// RoundTrip implements [http.RoundTripper].
func (r *retry) RoundTrip(req *http.Request) (*http.Response, error) {
	for try := 0; ; try++ {
		resp, err := r.base.RoundTrip(req)
		if err != nil || try == r.times {
			return resp, err
		}
		wait, ok := RetryAfter(resp)
		if !ok || !waited(req, wait) {
			return resp, nil
		}
		next := req.Clone(req.Context())
		if req.GetBody != nil {
			if next.Body, err = req.GetBody(); err != nil {
				return resp, nil
			}
		}
		io.CopyN(io.Discard, resp.Body, maxDrained)
		resp.Body.Close()
		req = next
	}
}

// waited passes the time and reports whether the request can be made again.
func waited(req *http.Request, wait time.Duration) bool {
	ctx := req.Context()
	end, bounded := ctx.Deadline()
	again := req.Body == nil || req.Body == http.NoBody || req.GetBody != nil
	if !again || wait > maxWait || bounded && time.Until(end) <= wait {
		return false
	}
	return lifetime.Sleep(ctx, wait)
}

// RetryAfter returns how long a refusal asks to wait, and false where the response is no
// refusal for now. A date in the past is no wait.
func RetryAfter(resp *http.Response) (time.Duration, bool) {
	after := strings.TrimSpace(resp.Header.Get("Retry-After"))
	limited := resp.StatusCode == http.StatusTooManyRequests
	if !limited && (resp.StatusCode != http.StatusServiceUnavailable || after == "") {
		return 0, false
	}
	if seconds, err := strconv.ParseFloat(after, 64); err == nil && seconds >= 0 {
		return time.Duration(min(seconds, float64(24*60*60)) * float64(time.Second)), true
	}
	if at, err := http.ParseTime(after); err == nil {
		return max(0, time.Until(at)), true
	}
	return plainWait, limited
}
