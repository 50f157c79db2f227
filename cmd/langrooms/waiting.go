package main

import (
	"context"

	"github.com/langrooms/langrooms/httpapi"
	"github.com/langrooms/langrooms/thread"
)

// waiting are the late answers that are waited for on a thread of the caller's.
func (s *server) waiting(ctx context.Context, who httpapi.Caller, id string) (list []httpapi.Waiting, err error) {
	if err := s.mayUse(ctx, who, id); err != nil {
		return nil, err
	}
	handles, err := s.app.Waiting(ctx, id)
	for _, h := range handles {
		list = append(list, httpapi.Waiting{Member: h.Delegate, Task: h.Task, Since: h.Since})
	}
	return list, err
}

// withdraw ends the waiting for one of them.
func (s *server) withdraw(ctx context.Context, who httpapi.Caller, id, member string) (bool, error) {
	if err := s.mayUse(ctx, who, id); err != nil {
		return false, err
	}
	return s.app.Withdraw(ctx, id, member)
}

// mayUse is thread.ErrNone unless the id is of a thread of the caller's.
func (s *server) mayUse(ctx context.Context, who httpapi.Caller, id string) error {
	if ours(id) {
		return thread.ErrNone
	}
	_, err := thread.Find(ctx, s.app.Saver, id, thread.Caller{Name: who.Name, Admin: who.Admin})
	return err
}
