package main

import (
	"context"
	"errors"
	"slices"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/httpapi"
	"github.com/langrooms/langrooms/thread"
)

// lately is how many of a thread's newest messages tell who speaks there.
const lately = 40

// titles tells what the caller's threads are called, and who has spoken there of late.
func (s *server) titles(ctx context.Context, who httpapi.Caller, ids []string) ([]httpapi.Title, error) {
	var all []httpapi.Title
	for _, id := range ids {
		_, err := thread.Find(ctx, s.app.Saver, id, thread.Caller{Name: who.Name, Admin: who.Admin})
		if errors.Is(err, thread.ErrNone) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, httpapi.Title{Thread: id, Title: titleOf(ctx, s.app.Saver, id), Agents: speakers(ctx, s.app.Saver, id)})
	}
	return all, nil
}

// speakers are the members that have spoken on a thread of late, those that began first in front. What cannot be read has
// none.
func speakers(ctx context.Context, saver checkpointer.Saver, id string) []string {
	names := []string{}
	for m, err := range saver.Messages(ctx, checkpointer.Ref{Thread: id}, checkpointer.Range{Backward: true, Limit: checkpointer.N(lately)}) {
		if err != nil {
			break
		}
		if st := m.Stamp; st != nil && len(st.To) == 0 && st.From != langrooms.Operator {
			names = append(slices.DeleteFunc(names, func(n string) bool { return n == st.From }), st.From)
		}
	}
	slices.Reverse(names)
	return names
}
