package telemetry

import (
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// recorder notes what an answer is, and gives the client a bounded time for each piece of it: who
// does not read holds no goroutine for ever, whatever wrote to it.
type recorder struct {
	http.ResponseWriter
	control *http.ResponseController
	bound   time.Duration
	streams prometheus.Gauge

	status int
	bytes  int64
	stream bool
}

// Unwrap lets a response controller reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func (r *recorder) deadline() {
	_ = r.control.SetWriteDeadline(time.Now().Add(r.bound)) // a recorder in tests has none
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 && status >= http.StatusOK {
		r.status = status
		if strings.HasPrefix(r.Header().Get("Content-Type"), "text/event-stream") {
			r.stream = true
			r.streams.Inc()
		}
	}
	r.deadline()
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(data []byte) (int, error) {
	if r.status == 0 {
		r.WriteHeader(http.StatusOK)
	}
	r.deadline()
	n, err := r.ResponseWriter.Write(data)
	r.bytes += int64(n)
	return n, err
}

// FlushError sends what is buffered.
func (r *recorder) FlushError() error {
	if r.status == 0 {
		r.WriteHeader(http.StatusOK)
	}
	r.deadline()
	return r.control.Flush()
}

// Flush is FlushError for who asks for an [http.Flusher].
func (r *recorder) Flush() { _ = r.FlushError() }
