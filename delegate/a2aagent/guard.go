package a2aagent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/langrooms/langrooms/delegate/internal/httpx"
)

// maxAnswer bounds an answer in bytes.
const maxAnswer = 64 << 20

var (
	errRecorded = errors.New("the answer was recorded")
	errTooLarge = fmt.Errorf("the answer is larger than %d MiB", maxAnswer>>20)
)

// guard is the one road to the peer. It sets the credential, lets no request out of the
// peer's origin, and hands a recorded request's answer to its recording.
type guard struct {
	base   http.RoundTripper
	origin string
	set    func(*http.Request)
}

// RoundTrip implements [http.RoundTripper]. The answer to a request whose context has a
// recording goes there, and the caller, the SDK, gets errRecorded in its place.
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if origin(req.URL) != g.origin {
		if req.Body != nil {
			req.Body.Close()
		}
		return nil, &elsewhereError{to: req.URL}
	}
	out := req.Clone(req.Context())
	g.set(out)
	if req.Method == http.MethodGet && req.Body != nil {
		req.Body.Close() // the SDK sends "null" with a GET, which some servers refuse
		out.Body, out.GetBody, out.ContentLength = nil, nil, 0
	}
	resp, err := g.base.RoundTrip(out)
	rec, recorded := req.Context().Value(recordingKey{}).(*recording)
	if err != nil || !recorded || redirects(resp) {
		return resp, err
	}
	rec.take(resp)
	return nil, errRecorded
}

func redirects(resp *http.Response) bool {
	switch resp.StatusCode {
	case 301, 302, 303, 307, 308:
		return resp.Header.Get("Location") != ""
	}
	return false
}

// recording is what came back on one request.
type recording struct {
	keepStream bool // an event stream is kept open instead of being read
	wrote      atomic.Bool
	taken      bool
	status     int
	mediaType  string
	retryAfter time.Duration // what the peer asks for, 0 for nothing
	body       []byte
	readErr    error
	stream     io.ReadCloser
}

type recordingKey struct{}

// attach returns a context whose request is recorded.
func (r *recording) attach(ctx context.Context) context.Context {
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest: func(info httptrace.WroteRequestInfo) { r.wrote.Store(info.Err == nil) },
	})
	return context.WithValue(ctx, recordingKey{}, r)
}

func (r *recording) take(resp *http.Response) {
	r.taken, r.status = true, resp.StatusCode
	r.mediaType, _, _ = mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if wait, ok := httpx.RetryAfter(resp); ok && resp.Header.Get("Retry-After") != "" {
		r.retryAfter = wait
	}
	if r.keepStream && resp.StatusCode == http.StatusOK && r.mediaType == "text/event-stream" {
		r.stream = resp.Body
		return
	}
	defer resp.Body.Close()
	r.body, r.readErr = io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if r.readErr == nil && len(r.body) > maxAnswer {
		r.body, r.readErr = nil, errTooLarge
	}
}

// maxRedirects bounds a chain of redirects within the peer's origin.
const maxRedirects = 3

// checkRedirect lets a redirect pass when it repeats the request within the origin.
func checkRedirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	if origin(req.URL) != origin(first.URL) || req.Method != first.Method || len(via) > maxRedirects {
		return &elsewhereError{to: req.URL}
	}
	return nil
}

// elsewhereError is a redirect that is not followed.
type elsewhereError struct{ to *url.URL }

// Error names the place without what may be secret in it.
func (e *elsewhereError) Error() string {
	place := url.URL{Scheme: e.to.Scheme, Host: e.to.Host, Path: e.to.Path}
	return fmt.Sprintf("it redirects to %s, which is not followed; set the url to where it is", place.String())
}
