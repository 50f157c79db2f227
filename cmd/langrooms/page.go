package main

import (
	"net/http"

	"github.com/langrooms/langrooms/console"
	"github.com/langrooms/langrooms/gate"
	"github.com/langrooms/langrooms/httpapi"
)

// mountPage serves the console, and of /api what it needs beside the threads and the shared
// sessions.
func (s *server) mountPage(mux *http.ServeMux, g *gate.Gate) error {
	api, err := httpapi.New(httpapi.Config{Roster: s.app.Roster, File: s.app.File(), InForce: s.app.Config, Questions: s.desk,
		Who: func(r *http.Request) httpapi.Caller {
			who, _ := gate.From(r.Context()) // the gate lets nobody else through
			return httpapi.Caller{Name: who.Subject(), Admin: who.Admin, Agents: who.Agents}
		}})
	if err != nil {
		return err
	}
	page, err := console.New(console.Config{Cookie: gate.Cookie,
		NeedsKey: func() bool { return len(s.app.Config().Server.Keys) > 0 },
		Knows: func(key string) bool {
			_, ok := g.Identify(key)
			return ok
		},
		Who: func(r *http.Request) console.Visitor {
			who, _ := gate.From(r.Context()) // nobody where there is no key
			return console.Visitor{Name: who.Name, Admin: who.Admin}
		}})
	if err != nil {
		return err
	}
	for _, pattern := range api.Patterns() {
		mux.Handle(pattern, api)
	}
	for _, pattern := range page.Patterns() {
		mux.Handle(pattern, page)
	}
	return nil
}
