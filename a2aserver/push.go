package a2aserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/runs"
)

// The bounds of notifications.
const (
	maxPushes   = 10   // for one task
	maxFollowed = 1000 // tasks that are followed for them
	pushBound   = 10 * time.Second
)

// pushes sends notifications of tasks under way, to addresses on loopback only. What is asked
// for is kept in this process, and ends with the task.
type pushes struct {
	h      *handler
	client *http.Client
	life   context.Context
	end    context.CancelFunc
	work   sync.WaitGroup

	mu     sync.Mutex
	closed bool
	of     map[a2a.TaskID][]push
}

// push is where one client wants to be told.
type push struct {
	*a2a.PushConfig
	old bool // in the form of 0.3
}

var errNotLoopback = errors.New("notifications go to loopback addresses only")

func newPushes(h *handler) *pushes {
	dialer := &net.Dialer{Timeout: pushBound, Control: func(_, address string, _ syscall.RawConn) error {
		host, _, err := net.SplitHostPort(address)
		if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
			return errNotLoopback // whatever the name stood for when it was checked
		}
		return nil
	}}
	p := &pushes{h: h, of: map[a2a.TaskID][]push{}, client: &http.Client{
		Timeout: pushBound, Transport: &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	p.life, p.end = context.WithCancel(context.Background())
	return p
}

// check reports why nobody can be told at an address.
func (p *pushes) check(c *a2a.PushConfig) error {
	u, err := url.Parse(c.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return a2a.NewError(a2a.ErrInvalidParams, "the url of the notifications is none of http or https")
	}
	if ip := net.ParseIP(u.Hostname()); u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return a2a.NewError(a2a.ErrInvalidParams, errNotLoopback.Error())
	}
	return nil
}

// add takes a wish for notifications of a run on; one of the same id is replaced.
func (p *pushes) add(r runs.Run, c a2a.PushConfig, old bool) (*a2a.PushConfig, error) {
	if err := p.check(&c); err != nil {
		return nil, err
	}
	if c.ID == "" {
		c.ID = langrooms.NewID()
	}
	id := taskID(r)
	c.TaskID = id
	p.mu.Lock()
	defer p.mu.Unlock()
	all, followed := p.of[id]
	all = slices.DeleteFunc(slices.Clone(all), func(o push) bool { return o.ID == c.ID })
	switch {
	case p.closed || len(all) >= maxPushes || !followed && len(p.of) >= maxFollowed:
		return nil, a2a.NewError(a2a.ErrUnsupportedOperation, "there are too many notifications to send")
	case !followed:
		p.work.Go(func() { p.follow(r) })
	}
	p.of[id] = append(all, push{&c, old})
	return &c, nil
}

// follow tells of a run until it has ended.
func (p *pushes) follow(r runs.Run) {
	x := p.h.newAssembly(r)
	for e, err := range p.h.cfg.Runs.Events(p.life, r.Thread, r.ID, 0) {
		if err != nil {
			break
		}
		for _, u := range x.take(e) {
			p.tell(x, u)
		}
	}
	p.mu.Lock()
	delete(p.of, taskID(r))
	p.mu.Unlock()
}

// list is what is asked for of a task.
func (p *pushes) list(id a2a.TaskID) []push {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.of[id])
}

// remove takes a wish back.
func (p *pushes) remove(id a2a.TaskID, config string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if all, ok := p.of[id]; ok { // an empty list is still followed
		p.of[id] = slices.DeleteFunc(slices.Clone(all), func(o push) bool { return o.ID == config })
	}
}

// tell sends an update to everybody who wants it: in 1.0 the update, in 0.3 the task when its
// status has changed.
func (p *pushes) tell(x *assembly, u a2a.Event) {
	_, status := u.(*a2a.TaskStatusUpdateEvent)
	for _, c := range p.list(x.ID) {
		var body any = a2a.StreamResponse{Event: u}
		if c.old {
			if !status {
				continue
			}
			body = a2av0.FromV1Task(x.Task)
		}
		p.send(c, body)
	}
}

// send posts a notification. One that does not arrive is lost: who is told can look.
func (p *pushes) send(c push, body any) {
	data, err := json.Marshal(body)
	if err != nil {
		return
	}
	req, err := http.NewRequestWithContext(p.life, http.MethodPost, c.URL, bytes.NewReader(data))
	if err != nil {
		return
	}
	req.Header.Set("Content-Type", "application/json")
	if c.Token != "" {
		req.Header.Set("X-A2A-Notification-Token", c.Token)
	}
	if c.Auth != nil && c.Auth.Credentials != "" {
		req.Header.Set("Authorization", c.Auth.Scheme+" "+c.Auth.Credentials)
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, resp.Body, 1<<16)
	resp.Body.Close()
}

func (p *pushes) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.end()
	p.work.Wait()
}

type oldKey struct{}

func isOld(ctx context.Context) bool { return ctx.Value(oldKey{}) != nil }

// CreateTaskPushConfig asks for notifications of a task that is under way.
func (h *handler) CreateTaskPushConfig(ctx context.Context, q *a2a.PushConfig) (*a2a.PushConfig, error) {
	r, err := h.find(ctx, q.TaskID)
	switch {
	case err != nil:
		return nil, err
	case !r.Status.Live():
		return nil, a2a.NewError(a2a.ErrUnsupportedOperation, "the task has ended")
	}
	return h.pushes.add(r, *q, isOld(ctx))
}

// GetTaskPushConfig returns one of a task's wishes.
func (h *handler) GetTaskPushConfig(ctx context.Context, q *a2a.GetTaskPushConfigRequest) (*a2a.PushConfig, error) {
	if _, err := h.find(ctx, q.TaskID); err != nil {
		return nil, err
	}
	for _, c := range h.pushes.list(q.TaskID) {
		if c.ID == q.ID {
			return c.PushConfig, nil
		}
	}
	return nil, a2a.NewError(a2a.ErrTaskNotFound, fmt.Sprintf("the task has no notifications %.100q", q.ID))
}

// ListTaskPushConfigs lists a task's wishes.
func (h *handler) ListTaskPushConfigs(ctx context.Context, q *a2a.ListTaskPushConfigRequest) (*a2a.ListTaskPushConfigResponse, error) {
	if _, err := h.find(ctx, q.TaskID); err != nil {
		return nil, err
	}
	resp := &a2a.ListTaskPushConfigResponse{Configs: []*a2a.PushConfig{}}
	for _, c := range h.pushes.list(q.TaskID) {
		resp.Configs = append(resp.Configs, c.PushConfig)
	}
	return resp, nil
}

// DeleteTaskPushConfig takes a wish back.
func (h *handler) DeleteTaskPushConfig(ctx context.Context, q *a2a.DeleteTaskPushConfigRequest) error {
	if _, err := h.find(ctx, q.TaskID); err != nil {
		return err
	}
	h.pushes.remove(q.TaskID, q.ID)
	return nil
}
