package a2aagent

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/delegate/delegatetest"
)

// TestConformance runs the port's suite over each wire, with the SDK's server as peer.
func TestConformance(t *testing.T) {
	for _, w := range wires {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			delegatetest.Run(t, delegatetest.Harness{
				Except: w.except(),
				Start: func(t testing.TB, script delegatetest.Script) delegate.Delegate {
					return startScripted(t, w, script)
				},
				Absent: func(t testing.TB) delegate.Delegate {
					gone := httptest.NewServer(http.NotFoundHandler())
					gone.Close()
					return newAgent(t, Config{Name: "proto", URL: gone.URL, Scheme: SchemeBearer,
						Token: func() (string, error) { return secretToken, nil }})
				},
			})
		})
	}
}

// wire is one way to serve an agent.
type wire struct {
	name    string
	version a2a.ProtocolVersion
	binding a2a.TransportProtocol
	streams bool
}

var wires = []wire{
	{"1.0-JSONRPC", a2a.Version, a2a.TransportProtocolJSONRPC, true},
	{"1.0-JSONRPC-polled", a2a.Version, a2a.TransportProtocolJSONRPC, false},
	{"1.0-REST", a2a.Version, a2a.TransportProtocolHTTPJSON, true},
	{"0.3-JSONRPC", a2av0.Version, a2a.TransportProtocolJSONRPC, true},
	{"0.3-REST", a2av0.Version, a2a.TransportProtocolHTTPJSON, true},
}

// except leaves the large answer to one wire: the SDK's server copies and encodes it many
// times over, and how an answer is read does not depend on the wire.
func (w wire) except() map[string]string {
	not := map[string]string{
		"late-words": "nothing is said of a task after its end",
		"leave":      asksNobody, "leave-stopped": asksNobody,
	}
	if w != wires[1] {
		not["answer-large"] = "shown over " + wires[1].name
	}
	return not
}

const asksNobody = "the protocol knows no tool calls that are asked for"

// serve mounts an executor as the wire says.
func (w wire) serve(t testing.TB, executor a2asrv.AgentExecutor, accepts ...string) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	server := httptest.NewServer(refusing(executor, mux))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	card := &a2a.AgentCard{Name: "scripted", Version: "3.2", Capabilities: a2a.AgentCapabilities{Streaming: w.streams}, DefaultInputModes: append([]string{"text/plain"}, accepts...),
		SupportedInterfaces: []*a2a.AgentInterface{{URL: server.URL + "/a2a", ProtocolBinding: w.binding, ProtocolVersion: w.version}}}
	handler := a2asrv.NewHandler(executor, a2asrv.WithLogger(slog.New(slog.DiscardHandler)))
	switch {
	case w.version == a2av0.Version:
		mux.Handle("/a2a", a2av0.NewJSONRPCHandler(handler))
		mux.Handle("/a2a/", http.StripPrefix("/a2a", a2av0.NewRESTHandler(handler)))
		mux.Handle(cardPath, a2asrv.NewAgentCardHandler(a2av0.NewStaticAgentCardProducer(card)))
		return server
	case w.binding == a2a.TransportProtocolHTTPJSON:
		mux.Handle("/a2a/", http.StripPrefix("/a2a", a2asrv.NewRESTHandler(handler)))
	default:
		mux.Handle("/a2a", a2asrv.NewJSONRPCHandler(handler))
	}
	mux.Handle(cardPath, a2asrv.NewStaticAgentCardHandler(card))
	return server
}

// refusing refuses what the script of a scripted executor says, but for the agent card.
func refusing(executor a2asrv.AgentExecutor, next http.Handler) http.Handler {
	x, ok := executor.(*scripted)
	if !ok {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != cardPath {
			if refusal, err := x.script.Refusal(r.Context()); err != nil {
				panic(http.ErrAbortHandler)
			} else if refusal != nil {
				refusal.Write(w)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

func startScripted(t testing.TB, w wire, script delegatetest.Script) delegate.Delegate {
	x := &scripted{script: script, nth: make(map[string]int)}
	server := w.serve(t, x, script.Accepts...)
	x.die = func() {
		server.Listener.Close()
		server.CloseClientConnections()
	}
	life, end := context.WithCancel(context.Background())
	x.life = life
	t.Cleanup(func() { end(); x.working.Wait() })
	a := newAgent(t, Config{Name: "proto", URL: server.URL + "/a2a", Scheme: SchemeBearer, HTTP: delegate.HTTP{Retries: 1}, Preamble: script.Preamble,
		Token: func() (string, error) { return script.Secret, nil }, Continuity: delegate.NewMemoryContinuity()})
	a.pace = 100 * time.Millisecond
	return a
}

// scripted is an executor that plays a script.
type scripted struct {
	script  delegatetest.Script
	die     func()
	life    context.Context // of the peer; what it still works on ends with it
	working sync.WaitGroup

	mu  sync.Mutex
	nth map[string]int
}

func (x *scripted) Execute(ctx context.Context, ec *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		x.working.Add(1)
		defer x.working.Done()
		if x.script.Forget && x.known(ec.ContextID) {
			yield(nil, a2a.ErrInvalidParams)
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(x.life, cancel)()
		if !yield(a2a.NewSubmittedTask(ec, ec.Message), nil) || !yield(a2a.NewStatusUpdateEvent(ec, a2a.TaskStateWorking, nil), nil) {
			return
		}
		out := &artifactWriter{ec: ec, yield: yield, apart: x.script.Apart}
		if x.script.Thought != "" && !yield(a2a.NewStatusUpdateEvent(ec, a2a.TaskStateWorking, a2a.NewMessage(a2a.MessageRoleAgent, thought(x.script.Thought))), nil) {
			return
		}
		m := delegatetest.Message{Prompt: ec.Message.Parts[0].Text(), Nth: x.count(ec.ContextID)}
		for _, p := range ec.Message.Parts[1:] {
			m.Files = append(m.Files, delegate.File{Name: p.Filename, MIMEType: p.MediaType, Data: p.Raw()})
		}
		err := x.script.Play(ctx, m, out.say)
		var failure *delegatetest.Failure
		var question *delegatetest.Question
		switch {
		case errors.As(err, &question):
			if out.flush() {
				yield(a2a.NewStatusUpdateEvent(ec, a2a.TaskStateInputRequired, asks(question.Words)), nil)
			}
		case errors.As(err, &failure):
			yield(a2a.NewStatusUpdateEvent(ec, a2a.TaskStateFailed, a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewTextPart(failure.Words))), nil)
		case errors.Is(err, delegatetest.ErrDie):
			x.die()
			yield(nil, err) // the server keeps its goroutines until the work has an end
		case err == nil && out.flush():
			if f := x.script.Returns; f != nil {
				part := a2a.NewRawPart(f.Data)
				part.Filename, part.MediaType = f.Name, f.MIMEType
				if !yield(a2a.NewArtifactEvent(ec, part), nil) {
					return
				}
			}
			done := a2a.NewStatusUpdateEvent(ec, a2a.TaskStateCompleted, nil)
			if u := x.script.Usage; u != nil { // as Google's ADK tells it
				done.SetMeta("adk_usage_metadata", map[string]any{"promptTokenCount": u.InputTokens, "candidatesTokenCount": u.OutputTokens})
			}
			yield(done, nil)
		case err != nil:
			yield(nil, err)
		}
	}
}

func (x *scripted) Cancel(_ context.Context, ec *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		yield(a2a.NewStatusUpdateEvent(ec, a2a.TaskStateCanceled, nil), nil)
	}
}

// asks is the message of a question, or none.
func asks(words string) *a2a.Message {
	if words == "" {
		return nil
	}
	return a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewTextPart(words))
}

// known reports whether a message came in the conversation before.
func (x *scripted) known(conversation string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.nth[conversation] > 0
}

func (x *scripted) count(conversation string) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.nth[conversation]++
	return x.nth[conversation]
}

// thought is reasoning, marked as Google's ADK marks it.
func thought(text string) *a2a.Part {
	part := a2a.NewTextPart(text)
	part.SetMeta("thought", true)
	return part
}

// artifactWriter sends pieces as one artifact that grows. JSON cannot carry half a
// character, so what follows the last whole one waits for the next piece.
type artifactWriter struct {
	ec    *a2asrv.ExecutorContext
	yield func(a2a.Event, error) bool
	id    a2a.ArtifactID
	rest  []byte
	ready []byte
	apart bool // each piece is an artifact of its own
}

// largePiece marks pieces that are sent together at the end: the server copies the whole
// task for every event.
const largePiece = 10_000

func (w *artifactWriter) say(piece []byte) error {
	w.rest = append(w.rest, piece...)
	whole := len(w.rest)
	for i := max(0, whole-utf8.UTFMax); i < whole; i++ {
		if !utf8.FullRune(w.rest[i:]) {
			whole = i
		}
	}
	w.ready, w.rest = append(w.ready, w.rest[:whole]...), append([]byte(nil), w.rest[whole:]...)
	if len(piece) > largePiece {
		return nil
	}
	if !w.send() {
		return context.Canceled
	}
	return nil
}

func (w *artifactWriter) flush() bool {
	w.ready, w.rest = append(w.ready, w.rest...), nil
	return w.send()
}

func (w *artifactWriter) send() bool {
	if len(w.ready) == 0 {
		return true
	}
	part := a2a.NewTextPart(string(w.ready))
	w.ready = nil
	if w.id != "" && !w.apart {
		return w.yield(a2a.NewArtifactUpdateEvent(w.ec, w.id, part), nil)
	}
	event := a2a.NewArtifactEvent(w.ec, part)
	w.id = event.Artifact.ID
	return w.yield(event, nil)
}
