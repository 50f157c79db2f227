package delegatetest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/delegate/delegatetest"
)

// mirror is a small delegate that keeps every rule. Its peer is a function, which is nil
// where there is none; a real delegate has a protocol in between.
type mirror struct {
	peer   func(ctx context.Context, prompt string, say func(piece []byte) error) error
	secret string
	usage  *langrooms.Usage // of each answer
	life   context.Context
	end    context.CancelFunc
	mu     sync.Mutex // guards that no Ask begins while Close waits
	asks   sync.WaitGroup
}

func newMirror() *mirror {
	m := &mirror{}
	m.life, m.end = context.WithCancel(context.Background())
	return m
}

func (m *mirror) Info() delegate.Info { return delegate.Info{Name: "mirror", Type: "function"} }

func (m *mirror) Ask(ctx context.Context, req delegate.Request) (delegate.Reply, error) {
	if !m.begin() {
		return delegate.Reply{}, m.fail(delegate.KindUnreachable, "nobody is there")
	}
	defer m.asks.Done()
	switch {
	case req.Conversation != "":
		return delegate.Reply{}, m.fail(delegate.KindRefused, "it keeps no conversations")
	case req.ResumeTask != "":
		return delegate.Reply{}, m.fail(delegate.KindRefused, "it has no tasks")
	case ctx.Err() != nil:
		return delegate.Reply{}, m.fail(delegate.KindCanceled, "stopped")
	}
	work, stop := context.WithCancel(ctx)
	defer stop()
	if req.Timeout > 0 {
		var expired context.CancelFunc
		work, expired = context.WithTimeout(work, req.Timeout)
		defer expired()
	}
	defer context.AfterFunc(m.life, stop)()
	var said strings.Builder
	err := m.peer(work, req.Prompt, func(piece []byte) error {
		said.Write(piece)
		return work.Err()
	})
	switch {
	case err == nil:
		return delegate.Reply{Text: m.clean(said.String()), Usage: m.usage}, nil
	case m.life.Err() != nil:
		return delegate.Reply{}, m.fail(delegate.KindUnreachable, "closed")
	case ctx.Err() != nil:
		return delegate.Reply{}, m.fail(delegate.KindCanceled, "stopped")
	case work.Err() != nil:
		return delegate.Reply{}, m.fail(delegate.KindTimeout, "no answer in time")
	}
	return delegate.Reply{}, m.fail(delegate.KindFailed, err.Error())
}

func (m *mirror) begin() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.peer == nil || m.life.Err() != nil {
		return false
	}
	m.asks.Add(1)
	return true
}

// clean makes what the peer said fit to be handed out.
func (m *mirror) clean(text string) string {
	if len(m.secret) >= 12 { // a shorter one, such as "test", is a word
		text = strings.ReplaceAll(text, m.secret, "***")
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

func (m *mirror) fail(kind delegate.Kind, words string) error {
	return &delegate.Error{Delegate: "mirror", Kind: kind, Err: errors.New(m.clean(words))}
}

func (m *mirror) Probe(context.Context) (delegate.Health, error) {
	if m.peer == nil || m.life.Err() != nil {
		return delegate.Health{}, m.fail(delegate.KindUnreachable, "nobody is there")
	}
	return delegate.Health{Latency: time.Microsecond}, nil
}

func (m *mirror) Close() error {
	m.mu.Lock()
	m.end()
	m.mu.Unlock()
	m.asks.Wait()
	return nil
}

const (
	noHTTP     = "a function answers without HTTP"
	asksNobody = "a function asks nobody for leave"
)

// harness gives the suite a mirror whose peer plays the script.
var harness = delegatetest.Harness{
	Except: map[string]string{
		"credential-refused": noHTTP, "credential-probed": noHTTP, "busy": noHTTP, "busy-once": noHTTP, "busy-long": noHTTP, "elsewhere": noHTTP,
		"files": "a function is sent text", "files-returned": "a function returns text",
		"preamble":      "a function is told nothing of its part",
		"stopped-words": "a mirror reports nothing",
		"parts":         "a mirror says one message",
		"late-words":    "a function that has returned says no more",
		"leave":         asksNobody, "leave-stopped": asksNobody,
	},
	Start: func(_ testing.TB, script delegatetest.Script) delegate.Delegate {
		m := newMirror()
		m.secret, m.usage = script.Secret, script.Usage
		m.peer = func(ctx context.Context, prompt string, say func(piece []byte) error) error {
			return script.Play(ctx, delegatetest.Message{Prompt: prompt}, say)
		}
		return m
	},
	Absent: func(testing.TB) delegate.Delegate { return newMirror() },
}

// The shortest harness has its peer in the test's process. A delegate's test file needs no
// more than this and
//
//	func TestSuite(t *testing.T) { delegatetest.Run(t, harness) }
func Example() {
	absent := harness.Absent(nil)
	_, err := absent.Ask(context.Background(), delegate.Request{Prompt: "hi"})
	fmt.Println(err)
	fmt.Println("the rules begin with", delegatetest.Rules()[:3])
	// Output:
	// Delegate @mirror failed: nobody is there
	// the rules begin with [info probe answer]
}
