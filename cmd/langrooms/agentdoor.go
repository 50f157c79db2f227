package main

import (
	"context"
	"net/http"

	"github.com/langrooms/langrooms/a2aserver"
	"github.com/langrooms/langrooms/gate"
	"github.com/langrooms/langrooms/sharedsession"
	"github.com/langrooms/langrooms/thread"
)

// mountAgent lets other agents in by A2A.
func (s *server) mountAgent(mux *http.ServeMux) error {
	api, err := a2aserver.New(a2aserver.Config{
		Saver: s.app.Saver, Runs: s.runs, Lead: s.app.Lead, Room: sharedsession.Is, Self: s.app.Self(), Version: version(), Failed: s.failed,
		Members: func() (all []a2aserver.Member) {
			for _, d := range s.app.Roster.Current().All() {
				all = append(all, a2aserver.Member{Name: d.Info().Name, Description: d.Info().Description})
			}
			return all
		},
		Keys: func() bool { return len(s.app.Config().Server.Keys) > 0 },
		Who: func(ctx context.Context) thread.Caller {
			who, _ := gate.From(ctx) // the gate lets nobody else through
			return thread.Caller{Name: who.Subject(), Admin: who.Admin}
		},
	})
	if err != nil {
		return err
	}
	s.agent = api
	for _, pattern := range api.Patterns() {
		mux.Handle(pattern, api)
	}
	return nil
}
