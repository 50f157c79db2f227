package a2aagent

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// inBubble runs f with an agent whose peer is reached over pipes, so that time can be faked.
func inBubble(t *testing.T, peer http.Handler, change func(*Config), f func(t *testing.T, a *Agent)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
		server := &http.Server{Handler: peer}
		var serving sync.WaitGroup
		serving.Go(func() { server.Serve(l) })
		transport := &http.Transport{DialContext: l.dial}
		cfg := Config{Name: "proto", URL: "http://peer.test/a2a", HTTPClient: &http.Client{Transport: transport}}
		if change != nil {
			change(&cfg)
		}
		f(t, newAgent(t, cfg))
		transport.CloseIdleConnections()
		server.Close()
		serving.Wait()
	})
}

// pipeListener accepts the ends of pipes.
type pipeListener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (l *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
		return ours, nil
	case <-l.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// timeline notes when each look at a task came, since the message.
type timeline struct {
	http.Handler
	f     *fakePeer
	mu    sync.Mutex
	began time.Time
	at    []time.Duration
}

func (l *timeline) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	before := len(l.f.requests())
	l.f.ServeHTTP(w, r)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch after := len(l.f.requests()); {
	case after == before:
	case after == 1:
		l.began = time.Now()
	default:
		l.at = append(l.at, time.Since(l.began))
	}
}
