package demo

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

// Peers are the demo's servers on the loopback interface.
type Peers struct {
	origin string
	key    string
	server *http.Server
	a2a    *a2aServer
	stop   context.CancelFunc
	served chan struct{} // closed when the server has ended

	closing  sync.Once
	closeErr error
}

// closeGrace is how long Close waits for answers that are being written.
const closeGrace = 3 * time.Second

// Start serves the demo agents on a free port of 127.0.0.1, working in the folder dir;
// empty means the process's. It returns when they can be reached. When ctx ends the agents
// stop what they do; Close is still needed.
func Start(ctx context.Context, dir string) (*Peers, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("demo: working folder: %w", err)
	}
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	life, stop := context.WithCancel(ctx)
	p := &Peers{
		origin: "http://" + listener.Addr().String(), key: rand.Text(), stop: stop, served: make(chan struct{}),
		a2a: &a2aServer{agent: agents()[a2aName], dir: dir, life: life},
	}
	p.server = &http.Server{
		Handler:           p.handler(dir),
		ReadHeaderTimeout: 10 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return life },
	}
	go func() {
		defer close(p.served)
		// It ends by Close only, and then with http.ErrServerClosed.
		_ = p.server.Serve(listener)
	}()
	return p, nil
}

func (p *Peers) handler(dir string) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET "+cardPath, a2asrv.NewStaticAgentCardHandler(p.a2a.card(p.origin)))
	mux.Handle(a2aPath, p.authorized(p.a2a.handler()))
	models := &openaiServer{dir: dir, members: agents()}
	mux.Handle("/v1/", p.authorized(models.handler()))
	return mux
}

// authorized refuses whoever does not know the key: other users of this machine can reach
// the port too, and the agents start programs.
func (p *Peers) authorized(next http.Handler) http.Handler {
	want := []byte("Bearer " + p.key)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), want) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			writeError(w, http.StatusUnauthorized, "invalid_api_key", "the demo agents answer only this program")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Resolve returns the address of the demo agent of this name for a delegate of type kind:
// the base url of the OpenAI-compatible endpoint ("openai": proto, reviewer and oracle; the
// model has the agent's name) or the JSON-RPC endpoint ("a2a": reviewer). ok is false when
// there is no such agent or it does not speak that protocol. The peer wants [Peers.Key] as
// its bearer token.
func (p *Peers) Resolve(name, kind string) (url string, ok bool) {
	_, known := agents()[name]
	switch {
	case kind == "openai" && known:
		return p.LeadModelURL(), true
	case kind == "a2a" && name == a2aName:
		return p.origin + a2aPath, true
	}
	return "", false
}

// LeadModelURL returns the base url of the OpenAI-compatible endpoint that serves the
// graph's own agent as the model "lead".
func (p *Peers) LeadModelURL() string { return p.origin + "/v1" }

// Key returns the bearer token that every peer wants. It is random for each Start.
func (p *Peers) Key() string { return p.key }

// Close ends the servers, and every command that an agent runs, and waits for them.
// Idempotent.
func (p *Peers) Close() error {
	p.closing.Do(func() {
		p.stop()
		ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
		defer cancel()
		p.closeErr = p.server.Shutdown(ctx)
		if errors.Is(p.closeErr, context.DeadlineExceeded) {
			p.closeErr = p.server.Close()
		}
		<-p.served
		p.a2a.wait()
	})
	return p.closeErr
}
