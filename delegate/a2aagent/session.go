package a2aagent

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/delegate/internal/httpx"
	"github.com/langrooms/langrooms/internal/redact"
)

// session is one call's way to the peer, with the credential as it is now.
type session struct {
	*Agent
	token   string
	secrets redact.Set // the token, as what a peer says may repeat it
	client  *http.Client
	// secret is what is configured, and token what goes to the peer: the same, but with
	// OAuth2.
	secret  string
	headers http.Header
}

// open resolves the credential.
func (a *Agent) open() (*session, error) {
	s := &session{Agent: a}
	if a.cfg.Token != nil {
		token, err := a.cfg.Token()
		if err != nil {
			return nil, a.fail(delegate.KindRefused, fmt.Errorf("its credential cannot be resolved: %w", err))
		}
		if !sendable(token) {
			return nil, a.fail(delegate.KindRefused, errors.New("its credential holds a character that no header can carry"))
		}
		s.secret = token
		if s.token = token; a.cfg.Scheme == SchemeOAuth2 {
			s.token = ""
		}
	}
	headers, err := httpx.Headers(a.cfg.HTTP)
	if err != nil {
		return nil, a.fail(delegate.KindRefused, err)
	}
	s.headers = headers
	s.hide(s.secret)
	client := a.base
	client.Transport = &guard{base: a.base.Transport, origin: origin(a.target), set: s.authorize}
	client.CheckRedirect = checkRedirect
	s.client = &client
	return s, nil
}

// hide keeps secrets, and what the configured headers carry, out of what is shown.
func (s *session) hide(secrets ...string) {
	for _, values := range s.headers {
		secrets = append(secrets, values...)
	}
	s.secrets = redact.New(secrets...)
}

// authorize puts the configured headers and the credential on a request.
func (s *session) authorize(req *http.Request) {
	for name, values := range s.headers {
		if len(req.Header.Values(name)) == 0 || strings.EqualFold(name, "User-Agent") {
			req.Header[name] = values
		}
	}
	if s.token != "" {
		s.cards.asked().place(s.cfg.Scheme).put(req, s.token)
	}
}

// clean takes the credential out of text, which a peer may have echoed, and makes it
// valid UTF-8.
func (s *session) clean(text string) string {
	return s.secrets.Text(strings.ToValidUTF8(text, "\uFFFD"))
}

// cleanTask cleans what a task says, before any of it is cut: half a credential is one too.
func (s *session) cleanTask(t task) task {
	t.status, t.artifacts = s.clean(t.status), s.clean(t.artifacts)
	t.thought, t.said = s.clean(t.thought), s.clean(t.said)
	return t
}

// cleanRPC does so with what an error says; nil is none.
func (s *session) cleanRPC(e *rpcError) {
	if e == nil {
		return
	}
	e.Status, e.Message = s.clean(e.Status), s.clean(e.Message)
	e.Data = json.RawMessage(s.clean(string(e.Data)))
}

func (s *session) cleanReply(r delegate.Reply) delegate.Reply {
	r.Text, r.Task = s.clean(r.Text), s.clean(r.Task)
	return r
}

// cleanError returns err as an error that may be shown.
func (s *session) cleanError(err error) error {
	if err == nil {
		return nil
	}
	e := delegate.AsError(s.cfg.Name, err)
	e.Err = s.secrets.Error(e.Err)
	e.Task = s.clean(e.Task)
	return e
}

// origin is what a credential is bound to: scheme, host and port.
func origin(u *url.URL) string {
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "https":
		port = "443"
	default:
		port = "80"
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}
