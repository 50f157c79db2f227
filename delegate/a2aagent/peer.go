package a2aagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"

	"github.com/langrooms/langrooms/delegate"
)

// peer is one conversation with the agent, in the version and binding that it speaks.
type peer struct {
	*session
	endpoint  endpoint
	streaming bool
}

// meet reads the card and returns the peer as it wants to be spoken to, with the credential
// that it asks for.
func (s *session) meet(ctx context.Context) (*peer, error) {
	c := s.card(ctx)
	if err := s.grant(ctx, c.security); err != nil {
		return nil, err
	}
	return &peer{session: s, endpoint: c.endpoint, streaming: c.streaming}, nil
}

// write makes the SDK write one request.
type write func(context.Context, a2aclient.Transport, a2aclient.ServiceParams, endpoint) error

// send sends a message and returns the task, or the message, that answers it.
func (p *peer) send(ctx context.Context, m *a2a.Message) (task, error) {
	none := 0
	return p.call(ctx, func(ctx context.Context, t a2aclient.Transport, params a2aclient.ServiceParams, e endpoint) error {
		_, err := t.SendMessage(ctx, params, &a2a.SendMessageRequest{Tenant: e.tenant, Message: m,
			Config: &a2a.SendMessageConfig{ReturnImmediately: true, HistoryLength: &none}})
		return err
	})
}

// get reads a task, without its history.
func (p *peer) get(ctx context.Context, id string) (task, error) {
	none := 0
	return p.getWith(ctx, id, &none)
}

// complete reads once more a settled task that shows no words: those of some agents stand
// in the history alone. What cannot be had leaves t as it is.
func (p *peer) complete(ctx context.Context, t task) task {
	if t.bare || t.id == "" || t.phase() == pending || t.words() != "" {
		return t
	}
	ctx, cancel := context.WithTimeout(ctx, pollBound)
	defer cancel()
	whole, err := p.getWith(ctx, t.id, nil)
	switch {
	case err != nil:
		p.cfg.Logger.Info("a task's history cannot be read", "delegate", p.cfg.Name, "error", p.cleanError(err))
		return t
	case whole.state != t.state:
		return t
	}
	return whole.follow(t)
}

// getWith reads a task with so much of its history; nil is all.
func (p *peer) getWith(ctx context.Context, id string, history *int) (task, error) {
	found, err := p.callTask(ctx, id, func(ctx context.Context, t a2aclient.Transport, params a2aclient.ServiceParams, e endpoint) error {
		_, err := t.GetTask(ctx, params, &a2a.GetTaskRequest{Tenant: e.tenant, ID: a2a.TaskID(id), HistoryLength: history})
		return err
	})
	switch {
	case err != nil:
		return task{}, err
	case found.bare:
		return task{}, p.protocolError("it answered a poll of its task with a message")
	case found.id != "" && found.id != id:
		return task{}, p.protocolError("it answered a poll of its task with another task")
	}
	found.id = id
	return found, nil
}

// reach polls a task that does not exist. An answer of the agent itself, an error too,
// shows that it is there and takes the credential.
func (p *peer) reach(ctx context.Context) error {
	id, none := a2a.NewTaskID(), 0
	_, err := p.call(ctx, func(ctx context.Context, t a2aclient.Transport, params a2aclient.ServiceParams, e endpoint) error {
		_, err := t.GetTask(ctx, params, &a2a.GetTaskRequest{Tenant: e.tenant, ID: id, HistoryLength: &none})
		return err
	})
	var said *rpcError
	var status *statusCause
	switch {
	case errors.As(err, &status) && (status.status == http.StatusUnauthorized || status.status == http.StatusForbidden):
		return err
	case errors.As(err, &said) && said.Code != codeVersionNotSupported, errors.Is(err, errNeither):
		return nil
	}
	return err
}

// cancel asks the peer to stop working on a task.
func (p *peer) cancel(ctx context.Context, id string) error {
	_, err := p.callTask(ctx, id, func(ctx context.Context, t a2aclient.Transport, params a2aclient.ServiceParams, e endpoint) error {
		_, err := t.CancelTask(ctx, params, &a2a.CancelTaskRequest{Tenant: e.tenant, ID: a2a.TaskID(id)})
		return err
	})
	return err
}

// callTask is call with a task id, which the HTTP+JSON binding puts into the path.
func (p *peer) callTask(ctx context.Context, id string, w write) (task, error) {
	if p.endpoint.binding == a2a.TransportProtocolHTTPJSON && !pathSafe(id) {
		return task{}, p.protocolError("its task id cannot stand in a URL")
	}
	return p.call(ctx, w)
}

// call makes one call. A JSON-RPC peer that does not know the method is tried in the
// other version once: it has not accepted anything, and its card was missing or wrong.
func (p *peer) call(ctx context.Context, w write) (task, error) {
	t, err := p.try(ctx, p.endpoint, w)
	if !errors.Is(err, errMethodNotFound) || p.endpoint.binding != a2a.TransportProtocolJSONRPC {
		return t, err
	}
	other := p.endpoint.other()
	second, errSecond := p.try(ctx, other, w)
	if errSecond != nil {
		return t, err
	}
	p.endpoint = other
	p.cards.speak(other)
	return second, nil
}

func (p *peer) try(ctx context.Context, e endpoint, w write) (task, error) {
	rec := &recording{}
	if err := p.do(ctx, rec, e, w); err != nil {
		return task{}, err
	}
	if rec.readErr != nil && ctx.Err() != nil { // the answer began, and was not there in time
		return task{}, p.transportError(ctx, rec, rec.readErr)
	}
	return p.read(rec, e.binding)
}

// do sends one request and returns an error when no answer came.
func (p *peer) do(ctx context.Context, rec *recording, e endpoint, w write) error {
	transport, params, err := p.transport(e)
	if err != nil {
		return p.fail(delegate.KindProtocol, err)
	}
	err = w(rec.attach(ctx), transport, params, e)
	if rec.taken {
		return nil
	}
	return p.transportError(ctx, rec, err)
}

// read makes out what a recorded answer is.
func (p *peer) read(rec *recording, binding a2a.TransportProtocol) (task, error) {
	if rec.readErr != nil {
		if errors.Is(rec.readErr, io.EOF) || errors.Is(rec.readErr, io.ErrUnexpectedEOF) {
			return task{}, p.protocolError("its answer broke off")
		}
		return task{}, p.protocolError("its answer broke off: %w", rec.readErr)
	}
	env, isJSON := readEnvelope(rec.body, binding)
	p.cleanRPC(env.err)
	switch {
	case rec.status/100 != 2:
		e := p.statusError(rec.status, env.err, p.statusWords(rec))
		e.RetryAfter = rec.retryAfter
		return task{}, e
	case !isJSON:
		return task{}, p.protocolError("its answer is not the JSON that was expected (%s, %d bytes)", contentType(rec.mediaType), len(rec.body))
	case env.err != nil:
		return task{}, p.rpcFault(env.err)
	}
	t, err := readResult(env.result)
	if err != nil {
		return task{}, p.protocolError("its answer cannot be read: %w", delegate.DecodeCause(err))
	}
	return p.cleanTask(t), nil
}

// protocolError is an answer that cannot be read, to a request that was accepted.
func (p *peer) protocolError(format string, args ...any) *delegate.Error {
	e := p.fail(delegate.KindProtocol, fmt.Errorf(format, args...))
	e.Accepted = true
	return e
}

// statusWords returns what a peer says beside a bad status, outside of the protocol. A
// page for a browser says nothing.
func (p *peer) statusWords(rec *recording) string {
	if rec.mediaType == "text/html" {
		return ""
	}
	var said struct{ Error, Message, Detail string }
	text := string(rec.body)
	if json.Unmarshal(rec.body, &said) == nil {
		for _, s := range []string{said.Message, said.Detail, said.Error} {
			if s != "" {
				text = s
				break
			}
		}
	}
	text = p.clean(text)
	return delegate.OneLine(text[:min(len(text), 4000)], 200)
}

func contentType(mediaType string) string {
	if mediaType == "" {
		return "no content type"
	}
	return delegate.OneLine(mime.FormatMediaType(mediaType, nil), 100)
}

// pathSafe reports whether id stands for itself as one segment of a URL's path.
func pathSafe(id string) bool {
	return id != "." && id != ".." && !strings.ContainsAny(id, `/\?#%`) && id != ""
}
