package main

import (
	"context"
	"errors"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/gate"
	"github.com/langrooms/langrooms/httpapi"
	"github.com/langrooms/langrooms/sharedsession"
	"github.com/langrooms/langrooms/thread"
)

// find finds the conversations of the caller's in which a text was said, threads and shared sessions. What has
// been found when ctx ends is returned beside its error.
func (s *server) find(ctx context.Context, who httpapi.Caller, text string, most int) ([]httpapi.Found, error) {
	want, err := wanted(text)
	if err != nil {
		return nil, httpapi.ErrNoText
	}
	var all []httpapi.Found
	for id, err := range threadsToSearch(ctx, s.app.Saver, want, "") {
		if err != nil {
			return all, err
		}
		found, err := s.findIn(ctx, who, want, id)
		switch {
		case errors.Is(err, thread.ErrNone), errors.Is(err, sharedsession.ErrNotFound), errors.Is(err, checkpointer.ErrNotFound), errors.Is(err, checkpointer.ErrFormat):
			continue // not the caller's, deleted meanwhile, or written by a later version
		case err != nil:
			return all, err
		case found == nil:
			continue
		}
		if all = append(all, *found); len(all) == most {
			break
		}
	}
	return all, nil
}

// findIn is the newest message of a conversation that holds what is wanted; nil where there is none.
func (s *server) findIn(ctx context.Context, who httpapi.Caller, want query, id string) (*httpapi.Found, error) {
	f := httpapi.Found{Thread: id, Kind: "thread"}
	if sharedsession.Is(id) {
		f.Kind = "room"
		if !s.rooms.Enabled() {
			return nil, nil
		}
		i, _ := gate.From(ctx) // the gate lets nobody else through
		if err := s.rooms.Access(ctx, callerOf(i), id, true); err != nil {
			return nil, err
		}
	} else if _, err := thread.Find(ctx, s.app.Saver, id, thread.Caller{Name: who.Name, Admin: who.Admin}); err != nil {
		return nil, err
	}
	for h, err := range searchOne(ctx, s.app.Saver, want, id) {
		if err != nil {
			return nil, err
		}
		f.Message, f.Author, f.Time, f.Excerpt = h.ID, h.From, h.Time, excerpt(h.Text, want)
		return &f, nil
	}
	return nil, nil
}
