package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/langrooms/langrooms/a2aserver"
	"github.com/langrooms/langrooms/consent"
	"github.com/langrooms/langrooms/gate"
	"github.com/langrooms/langrooms/hotreload"
	"github.com/langrooms/langrooms/internal/telemetry"
	"github.com/langrooms/langrooms/langgraphapi"
	"github.com/langrooms/langrooms/runs"
	"github.com/langrooms/langrooms/setup"
	"github.com/langrooms/langrooms/sharedsession"
	"github.com/langrooms/langrooms/terminal"
	"github.com/langrooms/langrooms/thread"
)

func (p *program) serveCommand() *cobra.Command {
	var addr, log string
	c := &cobra.Command{Use: "serve", Short: "Serve the threads and shared sessions over HTTP", Args: noArgs,
		Long: "Serve the console (a page for browsers, at /), the threads over LangGraph's API, and shared sessions over REST (/api/rooms) and MCP (/mcp).\n\n" +
			"Without server.keys only a loopback address is listened on, and every caller is the operator.",
		RunE: func(c *cobra.Command, _ []string) error { return p.serve(c.Context(), p.explicit(c), addr, log) }}
	c.Flags().StringVar(&addr, "addr", "", "listen on `HOST:PORT` instead of server.addr; port 0 takes a free one")
	c.Flags().StringVar(&log, "log", "off", "what is done, without a word of what is said, as `FORM` text or json on the diagnostic output; off says errors only")
	return c
}

// The patience with clients and with the end.
const (
	headBound  = 10 * time.Second // for a request's head
	bodyBound  = 60 * time.Second // for its body
	idleBound  = 2 * time.Minute
	drainBound = 6 * time.Second // for running turns when the program is to end
	maxHeader  = 64 << 10        // bytes
	readyBound = 3 * time.Second // for the store to say that it is there
)

// serve runs the server until ctx ends or the program is interrupted, and then lets running
// turns end for a while.
func (p *program) serve(ctx context.Context, required bool, addr, logForm string) error {
	log, err := loggerTo(p.diag, logForm)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT)
	defer stop()
	tracer, sendLast, err := p.tracer(ctx)
	if err != nil {
		return err
	}
	defer sendLast()
	door, desk := &ownDoor{}, &consent.Desk{}
	app, err := setup.Open(ctx, setup.Options{Path: p.config, Required: required, Notify: func(text string) { p.said("%s", text) },
		OwnServer: door.server, Permission: desk.Permission})
	if err != nil {
		return err
	}
	s, err := p.newServer(app, door, desk, observe(app, log, tracer), addr)
	if err != nil {
		return errors.Join(err, app.Close())
	}
	err = s.run(ctx)
	return errors.Join(err, app.Close())
}

// server is all that answers, and what it stands on.
type server struct {
	p       *program
	app     *setup.App
	seen    *telemetry.Telemetry
	desk    *consent.Desk
	runs    *runs.Manager
	agent   *a2aserver.Server
	rooms   *sharedsession.Service
	http    *http.Server
	listen  net.Listener
	leave   func()
	waking  context.Context
	giveUp  context.CancelFunc
	arrived chan struct{}
}

func (p *program) newServer(app *setup.App, door *ownDoor, desk *consent.Desk, seen *telemetry.Telemetry, addr string) (*server, error) {
	if addr == "" {
		addr = app.Config().Server.Addr
	}
	nodes, err := wire(app)
	if err != nil {
		return nil, err
	}
	g, err := gate.New(gate.Config{Addr: addr, Keys: func() []gate.Key { return keysOf(app.Config().Server.Keys) },
		Own:     func() []gate.Key { return door.gateKeys(app.Config().Server.Keys) },
		Origins: func() []string { return app.Config().Server.CORSOrigins }})
	if err != nil {
		return nil, err
	}
	s := &server{p: p, app: app, seen: seen, desk: desk}
	t := turner{saver: app.Saver, nodes: nodes, desk: desk, seen: seen}
	s.runs, err = runs.New(runs.Config{Saver: app.Saver, Turn: t.turn, Undo: t.undo, Carry: seen.Carry, Failed: s.failed})
	if err != nil {
		return nil, err
	}
	api, err := langgraphapi.New(langgraphapi.Config{
		Saver: app.Saver, Runs: s.runs, Lead: app.Lead, Version: version(), Failed: s.failed,
		Names:  func() []string { return app.Roster.Current().Names() },
		Delete: threadsOf(app.Saver).Delete,
		Branch: t.branch,
		Room:   sharedsession.Is,
		Who: func(r *http.Request) thread.Caller {
			who, _ := gate.From(r.Context())
			return thread.Caller{Name: who.Subject(), Admin: who.Admin}
		},
	})
	if err != nil {
		s.runs.Close()
		return nil, err
	}
	mux := http.NewServeMux()
	for _, pattern := range api.Patterns() {
		mux.Handle(pattern, api)
	}
	if err := s.mountAgent(mux); err != nil {
		s.runs.Close()
		return nil, err
	}
	if err := s.mountPage(mux, g); err != nil {
		s.runs.Close()
		return nil, err
	}
	if s.listen, err = net.Listen("tcp", addr); err != nil {
		s.runs.Close()
		return nil, err
	}
	door.opens(s.listen.Addr()) // before the rooms, whose agents may be asked at once
	if err := s.mountRooms(mux); err != nil {
		s.runs.Close()
		return nil, errors.Join(err, s.listen.Close())
	}
	s.mountHealth(mux)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		gate.Refuse(w, r, http.StatusNotFound, "not_found", "there is nothing here")
	})
	s.http = &http.Server{Handler: seen.Requests(gate.RequestID, g.Handler(seen.Routes(gate.RequestID, mux))), ReadHeaderTimeout: headBound, ReadTimeout: bodyBound, IdleTimeout: idleBound, MaxHeaderBytes: maxHeader}
	s.wake()
	return s, nil
}

// run serves until ctx ends.
func (s *server) run(ctx context.Context) error {
	fmt.Fprintf(s.p.out, "langrooms serves on http://%s\n", s.listen.Addr())
	if len(s.app.Config().Server.Keys) == 0 {
		s.p.said("There are no keys (server.keys): every caller on this machine is the operator.")
	}
	served := make(chan error, 1)
	go func() { served <- s.http.Serve(s.listen) }()
	var err error
	select {
	case err = <-served:
	case <-ctx.Done():
	}
	return errors.Join(err, s.end())
}

// failed tells the operator of an error that is not a caller's.
func (s *server) failed(err error) { s.p.said("%v", err) }

// end takes no new turns, lets the running ones end for a while, and stops what remains.
func (s *server) end() error {
	ctx, cancel := context.WithTimeout(context.Background(), drainBound)
	defer cancel()
	s.runs.Drain(ctx)
	s.giveUp()
	<-s.arrived
	s.leave()
	s.rooms.Close()
	s.runs.Close()
	s.agent.Close()
	last, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := s.http.Shutdown(last)
	if errors.Is(err, context.DeadlineExceeded) { // readers of streams do not go by themselves
		err = s.http.Close()
	}
	return err
}

// wake gives the lead a turn for each late answer that it is to take in.
func (s *server) wake() {
	arrivals, leave := s.app.Inbox.AllArrivals()
	s.leave, s.arrived = leave, make(chan struct{})
	s.waking, s.giveUp = context.WithCancel(context.Background())
	go func() {
		defer close(s.arrived)
		for {
			select {
			case a, more := <-arrivals:
				if !more {
					return
				}
				if a.Notice == "" || sharedsession.Is(a.Thread) { // in a room nobody is the lead
					continue
				}
				if _, err := s.runs.Accept(s.waking, runs.Request{Thread: a.Thread, Input: runs.Input{Notice: a.Notice}}); err != nil {
					s.p.said("the lead was not woken on the thread %s: %s", shownID(a.Thread), terminal.Clean(err.Error()))
				}
			case <-s.waking.Done():
				return
			}
		}
	}()
}

// keysOf are the identities of the configuration.
func keysOf(entries []hotreload.Key) []gate.Key {
	var keys []gate.Key
	for _, k := range entries {
		keys = append(keys, gate.Key{Secret: k.Key.Resolve, Identity: gate.Identity{Kind: gate.Kind(k.Kind), Name: k.Name,
			Admin: k.Admin && k.Kind == string(gate.User), Agents: k.Agents, Owner: k.Owner}})
	}
	return keys
}
