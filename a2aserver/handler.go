package a2aserver

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/runs"
	"github.com/langrooms/langrooms/thread"
)

// handler answers A2A's operations, of whatever binding.
type handler struct {
	*Server
	pushes *pushes
}

// taskID names a run together with its thread, so that no list of them is needed.
func taskID(r runs.Run) a2a.TaskID {
	return a2a.TaskID(r.ID + "." + base64.RawURLEncoding.EncodeToString([]byte(r.Thread)))
}

// find returns the run of a task on a thread that the caller may use; every other one is as
// not there.
func (h *handler) find(ctx context.Context, id a2a.TaskID) (runs.Run, error) {
	run, encoded, _ := strings.Cut(string(id), ".")
	name, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil || len(id) > 4*langrooms.MaxThreadID {
		return runs.Run{}, a2a.ErrTaskNotFound
	}
	if err := h.mine(ctx, string(name)); err != nil {
		if errors.Is(err, thread.ErrNone) {
			return runs.Run{}, a2a.ErrTaskNotFound
		}
		return runs.Run{}, h.failed(err)
	}
	r, err := h.cfg.Runs.Get(ctx, string(name), run)
	if errors.Is(err, runs.ErrUnknown) {
		return runs.Run{}, a2a.ErrTaskNotFound
	}
	return r, h.failed(err)
}

// mine reports whether the caller may use a thread: nil, thread.ErrNone, or what failed.
func (h *handler) mine(ctx context.Context, id string) error {
	if runs.Internal(id) || h.cfg.Room != nil && h.cfg.Room(id) {
		return thread.ErrNone
	}
	_, err := thread.Find(ctx, h.cfg.Saver, id, h.cfg.Who(ctx))
	return err
}

// failed maps what the layers below say.
func (h *handler) failed(err error) error {
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, langrooms.ErrText), errors.Is(err, langrooms.ErrThreadID), errors.Is(err, checkpointer.ErrInvalid), errors.Is(err, checkpointer.ErrTooLarge):
		return a2a.NewError(a2a.ErrInvalidParams, err.Error())
	}
	h.cfg.Failed(err)
	return a2a.NewError(a2a.ErrInternalError, "the server failed")
}

// accept takes a message on as a run.
func (h *handler) accept(ctx context.Context, q *a2a.SendMessageRequest) (runs.Run, error) {
	in, err := h.input(q)
	if err != nil {
		return runs.Run{}, err
	}
	id, err := h.context(ctx, q.Message)
	if err != nil {
		return runs.Run{}, err
	}
	r, err := h.cfg.Runs.Accept(ctx, runs.Request{Thread: id, Input: in})
	if err == nil && q.Config != nil && q.Config.PushConfig != nil {
		_, err = h.pushes.add(r, *q.Config.PushConfig, isOld(ctx))
		return r, err
	}
	return r, h.failed(err)
}

// input reads a message.
func (h *handler) input(q *a2a.SendMessageRequest) (in runs.Input, err error) {
	m := q.Message
	switch {
	case m == nil:
		return in, a2a.NewError(a2a.ErrInvalidParams, "there is no message")
	case m.Role == a2a.MessageRoleAgent:
		return in, a2a.NewError(a2a.ErrInvalidParams, "the message is an agent's, not a user's")
	case q.Config != nil && q.Config.PushConfig != nil:
		if err := h.pushes.check(q.Config.PushConfig); err != nil {
			return in, err
		}
	}
	var pieces []string
	for _, p := range m.Parts {
		if p != nil {
			if t, ok := p.Content.(a2a.Text); ok {
				pieces = append(pieces, string(t))
				continue
			}
		}
		file, err := fileOf(p)
		if err != nil {
			return in, err
		}
		in.Message.Parts = append(in.Message.Parts, file)
	}
	if err := langrooms.CheckFiles(in.Message.Parts); err != nil {
		return in, a2a.NewError(a2a.ErrInvalidParams, err.Error())
	}
	in.Text = strings.Join(pieces, "\n")
	if strings.TrimSpace(in.Text) == "" {
		return in, a2a.NewError(a2a.ErrInvalidParams, "the message is empty")
	}
	if err := langrooms.CheckText(in.Text); err != nil {
		return in, h.failed(err)
	}
	if text, ok := m.Metadata[delegate.TraceExtension].(string); ok {
		in.Trace = delegate.ParseTrace(text)
	}
	if err := delegate.Trace(in.Trace).Admit(h.cfg.Self); err != nil {
		return in, a2a.NewError(a2a.ErrUnsupportedOperation, err.Error())
	}
	return in, nil
}

// context is the thread of a message: the one that it names, or a new one of the caller's.
func (h *handler) context(ctx context.Context, m *a2a.Message) (string, error) {
	id := m.ContextID
	if m.TaskID != "" {
		r, err := h.find(ctx, m.TaskID)
		switch {
		case err != nil:
			return "", err
		case id != "" && id != r.Thread:
			return "", a2a.NewError(a2a.ErrInvalidParams, "the task is of another context")
		}
		return "", a2a.NewError(a2a.ErrUnsupportedOperation, "a task takes no further message; send it with the context id alone")
	}
	if id == "" {
		id = langrooms.NewID()
		_, err := thread.Make(ctx, h.cfg.Saver, id, h.cfg.Who(ctx), nil)
		return id, h.failed(err)
	}
	err := h.mine(ctx, id)
	if errors.Is(err, thread.ErrNone) {
		return "", a2a.NewError(a2a.ErrInvalidParams, "there is no such context; leave the context id out to begin one")
	}
	return id, h.failed(err)
}

// SendMessage takes a message on, and waits for the answer unless it is not to.
func (h *handler) SendMessage(ctx context.Context, q *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
	r, err := h.accept(ctx, q)
	if err != nil {
		return nil, err
	}
	if q.Config == nil || !q.Config.ReturnImmediately {
		if err := h.cfg.Runs.Wait(ctx, r.Thread, r.ID); err != nil {
			return nil, h.failed(err)
		}
		if r, err = h.cfg.Runs.Get(ctx, r.Thread, r.ID); err != nil {
			return nil, h.failed(err)
		}
	}
	t, err := h.task(ctx, r)
	if err != nil {
		return nil, err
	}
	if q.Config != nil {
		cut(t, q.Config.HistoryLength)
	}
	return t, nil
}

// SendStreamingMessage takes a message on and tells what becomes of it.
func (h *handler) SendStreamingMessage(ctx context.Context, q *a2a.SendMessageRequest) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		r, err := h.accept(ctx, q)
		if err != nil {
			yield(nil, err)
			return
		}
		h.follow(ctx, r, yield)
	}
}

// SubscribeToTask tells what becomes of a task that is under way: first how it stands.
func (h *handler) SubscribeToTask(ctx context.Context, q *a2a.SubscribeToTaskRequest) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		r, err := h.find(ctx, q.ID)
		switch {
		case err != nil:
			yield(nil, err)
		case !r.Status.Live():
			yield(nil, a2a.NewError(a2a.ErrUnsupportedOperation, "the task has ended; look at it instead"))
		default:
			h.follow(ctx, r, yield)
		}
	}
}

// GetTask looks at a task.
func (h *handler) GetTask(ctx context.Context, q *a2a.GetTaskRequest) (*a2a.Task, error) {
	r, err := h.find(ctx, q.ID)
	if err != nil {
		return nil, err
	}
	t, err := h.task(ctx, r)
	if err == nil {
		cut(t, q.HistoryLength)
	}
	return t, err
}

// CancelTask stops a task and waits until it has ended.
func (h *handler) CancelTask(ctx context.Context, q *a2a.CancelTaskRequest) (*a2a.Task, error) {
	r, err := h.find(ctx, q.ID)
	if err != nil {
		return nil, err
	}
	if !r.Status.Live() {
		return nil, a2a.NewError(a2a.ErrTaskNotCancelable, "the task has ended")
	}
	if err := h.cfg.Runs.Cancel(ctx, r.Thread, r.ID, false); err != nil {
		return nil, h.failed(err)
	}
	waiting, stop := context.WithTimeout(ctx, cancelBound)
	defer stop()
	if err := h.cfg.Runs.Wait(waiting, r.Thread, r.ID); err != nil && ctx.Err() != nil {
		return nil, h.failed(err)
	}
	if r, err = h.cfg.Runs.Get(ctx, r.Thread, r.ID); err != nil {
		return nil, h.failed(err)
	}
	return h.task(ctx, r)
}

// cancelBound is how long a canceled task may take to end before the caller is told how it
// stands.
const cancelBound = 10 * time.Second

// The bounds of a list.
const (
	pageSize    = 50
	maxPageSize = 100
	maxListed   = 1000 // runs that are looked through
)

// ListTasks lists the caller's tasks, newest first: those of a context, or of all.
func (h *handler) ListTasks(ctx context.Context, q *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	size, offset := q.PageSize, 0
	if size == 0 {
		size = pageSize
	}
	if size < 1 || size > maxPageSize {
		return nil, a2a.NewError(a2a.ErrInvalidParams, fmt.Sprintf("pageSize is %d, it must be 1 to %d", size, maxPageSize))
	}
	if q.PageToken != "" {
		var err error
		if offset, err = strconv.Atoi(q.PageToken); err != nil || offset < 0 {
			return nil, a2a.NewError(a2a.ErrInvalidParams, "the pageToken is none of this server's")
		}
	}
	all, err := h.listed(ctx, q)
	if err != nil {
		return nil, err
	}
	resp := &a2a.ListTasksResponse{Tasks: []*a2a.Task{}, TotalSize: len(all), PageSize: size}
	for _, r := range all[min(offset, len(all)):min(offset+size, len(all))] {
		t, err := h.task(ctx, r)
		if err != nil {
			return nil, err
		}
		if cut(t, q.HistoryLength); !q.IncludeArtifacts {
			t.Artifacts = nil
		}
		resp.Tasks = append(resp.Tasks, t)
	}
	if offset+size < len(all) {
		resp.NextPageToken = strconv.Itoa(offset + size)
	}
	return resp, nil
}

// listed are the runs that a list is about.
func (h *handler) listed(ctx context.Context, q *a2a.ListTasksRequest) (all []runs.Run, err error) {
	add := func(id string) error {
		if err := h.mine(ctx, id); err != nil {
			if errors.Is(err, thread.ErrNone) {
				return nil
			}
			return err
		}
		found, err := h.cfg.Runs.List(ctx, id, maxListed)
		for _, r := range found {
			if (q.Status == "" || stateOf(r.Status) == q.Status) && (q.StatusTimestampAfter == nil || r.Updated.After(*q.StatusTimestampAfter)) {
				all = append(all, r)
			}
		}
		return err
	}
	if q.ContextID != "" {
		err = add(q.ContextID)
		return all, h.failed(err)
	}
	lister, ok := h.cfg.Saver.(checkpointer.Lister)
	if !ok {
		return nil, a2a.NewError(a2a.ErrUnsupportedOperation, "this server's store cannot list its threads; name a context")
	}
	for info, err := range lister.Threads(ctx) {
		if err == nil {
			err = add(info.Thread)
		}
		if err != nil {
			return nil, h.failed(err)
		}
		if len(all) >= maxListed {
			break
		}
	}
	return all, nil
}
