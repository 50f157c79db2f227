package setup

import (
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/tmc/langchaingo/llms"

	"github.com/langrooms/langrooms/hotreload"
	"github.com/langrooms/langrooms/internal/completion"
	"github.com/langrooms/langrooms/middleware/cast"
)

// modelKey is what a model was made of.
type modelKey struct {
	section string
	key     string
}

// leadModels makes the lead's model, and keeps it while its section and key stay.
type leadModels struct {
	own       llms.Model // the program's, in place of the file's
	demo      *demoPeers
	transport *http.Transport

	mu     sync.Mutex
	model  llms.Model
	of     modelKey
	closed bool
}

func newLeadModels(own llms.Model, demo *demoPeers) *leadModels {
	return &leadModels{own: own, demo: demo, transport: http.DefaultTransport.(*http.Transport).Clone()}
}

// Model returns the lead's model in force for one turn, wrapped so that it is told who is in
// the room, with the lead's name of this moment. The model behind it is another one after a
// change of its section or key. ErrClosed after Close.
func (a *App) Model() (llms.Model, error) { return a.lead.get(a.Config()) }

func (l *leadModels) get(c hotreload.Config) (llms.Model, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, ErrClosed
	}
	named := func() string { return c.Identity.Name } // as it is now, also for a turn that runs on
	if l.own != nil {
		return cast.Wrap(l.own, named), nil
	}
	m, key, err := l.configured(c.Model)
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	of := modelKey{section(m), key}
	if l.model == nil || l.of != of {
		l.model, l.of = l.make(m, key), of
	}
	return cast.Wrap(l.model, named), nil
}

// Close ends the connections that are idle; no model is made any more.
func (l *leadModels) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.transport.CloseIdleConnections()
	return nil
}

// section stands for all that m says, the key apart.
func section(m hotreload.Model) string {
	temperature := "unset"
	if m.Temperature != nil {
		temperature = fmt.Sprint(*m.Temperature)
	}
	return fmt.Sprintf("%q %q %q %s %d %s", m.Provider, m.URL, m.Model, temperature, m.MaxTokens, m.Timeout)
}

// configured returns the model's section and its key. The demo's are those of its peers.
func (l *leadModels) configured(m hotreload.Model) (_ hotreload.Model, key string, err error) {
	if m.Provider != "demo" {
		key, err = m.APIKey.Resolve()
		return m, key, err
	}
	peers, err := l.demo.started()
	if err != nil {
		return m, "", err
	}
	return hotreload.Model{Provider: m.Provider, URL: peers.LeadModelURL(), Model: "lead", Timeout: m.Timeout}, peers.Key(), nil
}

func (l *leadModels) make(m hotreload.Model, key string) llms.Model {
	model := &leadModel{m: m, key: key, client: &http.Client{Timeout: m.Timeout, Transport: bounded{l.transport},
		// A redirect would take the conversation, and perhaps the key, somewhere else.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	model.dialect.Store(&completion.Dialect{})
	return model
}

// maxResponse bounds what is read of one answer of the lead's endpoint, in bytes.
const maxResponse = 32 << 20

// bounded bounds what is read of each answer.
type bounded struct{ inner http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.inner.RoundTrip(r)
	if err == nil {
		resp.Body = &boundedBody{resp.Body, maxResponse}
	}
	return resp, err
}

type boundedBody struct {
	io.ReadCloser
	left int64
}

// Read implements io.Reader.
func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("the answer is longer than %d bytes", int64(maxResponse))
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// leadPrompt is the lead's system prompt in the module's own programs.
const leadPrompt = "You are the lead agent of a chat between one person, the operator, and several agents. " +
	"Answer the operator from the conversation. Be brief and say when you do not know."
