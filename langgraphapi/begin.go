package langgraphapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/runs"
)

// overtakes is the strategy of a run from a checkpoint that lies before the turn in progress:
// that turn is left behind anyway.
func (s *Server) overtakes(ctx context.Context, thread, checkpoint string) (runs.Strategy, error) {
	live, err := s.cfg.Runs.Live(ctx, thread)
	if err != nil || len(live) == 0 {
		return runs.Enqueue, err
	}
	at, err := AtHead(ctx, s.cfg.Saver, thread, checkpoint)
	if err != nil || at {
		return runs.Enqueue, err
	}
	return runs.Interrupt, nil
}

// threadOf finds the thread of a run, or makes it where that is asked for.
func (s *Server) threadOf(r *http.Request, q runQuery, temporary bool) (known, error) {
	if temporary {
		return s.create(r, threadCreate{Metadata: q.Metadata})
	}
	id := r.PathValue("thread")
	k, err := s.find(r, id)
	var p *problem
	if errors.As(err, &p) && p.status == http.StatusNotFound && q.IfNotExists == "create" {
		return s.create(r, threadCreate{ID: id, Metadata: q.Metadata, IfExists: "do_nothing"}) // another may have made it meanwhile
	}
	if err == nil {
		err = s.notARoom(id)
	}
	return k, err
}

// begun writes into the thread's metadata which graph it is of, and gives it the empty root
// checkpoint without which clients cannot edit its first message.
func (s *Server) begun(ctx context.Context, k *known, a assistant) error {
	if k.Record.Metadata["graph_id"] != a.GraphID {
		if err := s.patch(ctx, k, map[string]any{"graph_id": a.GraphID, "assistant_id": a.ID}); err != nil {
			return err
		}
	}
	_, err := s.cfg.Saver.Get(ctx, checkpointer.Ref{Thread: k.ID})
	if !errors.Is(err, checkpointer.ErrNotFound) {
		return err
	}
	_, err = s.cfg.Saver.Put(ctx, checkpointer.Ref{Thread: k.ID}, checkpointer.Step{ID: langrooms.NewID(), Metadata: rootMetadata})
	if errors.Is(err, checkpointer.ErrConflict) {
		return nil // another run was first
	}
	return err
}

var rootMetadata = checkpointer.Metadata{"source": "input"}
