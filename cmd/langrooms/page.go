package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/console"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/gate"
	"github.com/langrooms/langrooms/httpapi"
	"github.com/langrooms/langrooms/lifecycle"
	"github.com/langrooms/langrooms/runs"
	"github.com/langrooms/langrooms/thread"
)

// mountPage serves the console, and of /api what it needs beside the threads and the shared
// sessions.
func (s *server) mountPage(mux *http.ServeMux, g *gate.Gate) error {
	api, err := httpapi.New(httpapi.Config{Roster: s.app.Roster, File: s.app.File(), InForce: s.app.Config, Questions: s.desk, Compact: s.compact, Threads: wholeThreads{s.app.Saver}, Costs: s.costs, Files: s.files, OpenFile: s.openFile, Search: s.find, Titles: s.titles, StopMember: s.stopMember,
		Waiting: s.waiting, Withdraw: s.withdraw,
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
	return mountDocument(mux)
}

// costs is what a thread of the caller's has cost.
func (s *server) costs(ctx context.Context, who httpapi.Caller, id string) (exchange.Costs, error) {
	if ours(id) {
		return exchange.Costs{}, thread.ErrNone
	}
	if _, err := thread.Find(ctx, s.app.Saver, id, thread.Caller{Name: who.Name, Admin: who.Admin}); err != nil {
		return exchange.Costs{}, err
	}
	costs, err := exchange.ReadCosts(ctx, s.app.Saver, id)
	if errors.Is(err, checkpointer.ErrNotFound) { // nothing has been said there yet
		return exchange.Costs{Members: map[string]langrooms.Spending{}}, nil
	}
	return costs, err
}

// files are those of a thread of the caller's.
func (s *server) files(ctx context.Context, who httpapi.Caller, id string) (files []httpapi.File, err error) {
	if ours(id) {
		return nil, thread.ErrNone
	}
	if _, err := thread.Find(ctx, s.app.Saver, id, thread.Caller{Name: who.Name, Admin: who.Admin}); err != nil {
		return nil, err
	}
	all, err := filesOn(ctx, s.app.Saver, id)
	if errors.Is(err, checkpointer.ErrNotFound) { // nothing has been said there yet
		err = nil
	}
	for _, f := range all {
		files = append(files, httpapi.File{Message: f.message, N: f.n, Name: langrooms.FileName(f.Name), Type: f.MIMEType, Bytes: len(f.Data), From: f.from, Time: f.at})
	}
	return files, err
}

// openFile is one of them.
func (s *server) openFile(ctx context.Context, who httpapi.Caller, id, message string, n int) (langrooms.Part, bool, error) {
	if ours(id) {
		return langrooms.Part{}, false, thread.ErrNone
	}
	if _, err := thread.Find(ctx, s.app.Saver, id, thread.Caller{Name: who.Name, Admin: who.Admin}); err != nil {
		return langrooms.Part{}, false, err
	}
	for m, err := range s.app.Saver.Messages(ctx, checkpointer.Ref{Thread: id}, checkpointer.Range{Backward: true}) {
		switch {
		case errors.Is(err, checkpointer.ErrNotFound):
			return langrooms.Part{}, false, nil
		case err != nil:
			return langrooms.Part{}, false, err
		case m.ID != message:
			continue
		}
		files := m.Files()
		if n >= len(files) {
			return langrooms.Part{}, false, nil
		}
		return files[n], true, nil
	}
	return langrooms.Part{}, false, nil
}

// compact compacts a thread of the caller's. A shared session's messages keep their numbers.
func (s *server) compact(ctx context.Context, who httpapi.Caller, id string, keep int, text string) (int, error) {
	if ours(id) {
		return 0, thread.ErrNone
	}
	if _, err := thread.Find(ctx, s.app.Saver, id, thread.Caller{Name: who.Name, Admin: who.Admin}); err != nil {
		return 0, err
	}
	threads := threadsOf(s.app.Saver)
	threads.Summarize = func(ctx context.Context, messages []langrooms.Message) (string, error) {
		text, err := s.app.Summarize(ctx, messages)
		if err != nil {
			err = fmt.Errorf("%w: %w", lifecycle.ErrNoSummary, err)
		}
		return text, err
	}
	replaced, err := threads.Compact(ctx, id, keep, text)
	if errors.Is(err, checkpointer.ErrNotFound) { // nothing has been said there yet
		return 0, nil
	}
	return replaced, err
}

// stopMember stops a member in the live runs of a thread.
func (s *server) stopMember(ctx context.Context, who httpapi.Caller, id, member string) (stopped []string, err error) {
	if ours(id) {
		return nil, thread.ErrNone
	}
	if _, err := thread.Find(ctx, s.app.Saver, id, thread.Caller{Name: who.Name, Admin: who.Admin}); err != nil {
		return nil, err
	}
	live, err := s.runs.Live(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, r := range live {
		err := s.runs.StopMember(ctx, id, r.ID, member, langrooms.Stop{Kind: langrooms.ErrorStopped})
		switch {
		case err == nil:
			stopped = append(stopped, r.ID)
		case !errors.Is(err, runs.ErrNotAsked) && !errors.Is(err, runs.ErrUnknown):
			return stopped, err
		}
	}
	return stopped, nil
}
