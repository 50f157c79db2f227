package a2aagent

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
)

// streamingPeer answers a subscription with events, each data as it stands, and everything
// else as fakePeer does. A look brings the final task once there is a subscription.
type streamingPeer struct {
	fakePeer
	final  reply
	status int
	events []string
	open   bool // the stream stays open after the events

	subscribed atomic.Bool
}

func (s *streamingPeer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		if s.subscribed.Load() {
			s.final.write(w, r)
			return
		}
		s.fakePeer.ServeHTTP(w, r)
		return
	}
	io.Copy(io.Discard, r.Body) // else the server does not notice when the client goes
	s.subscribed.Store(true)
	if s.status != 0 {
		w.WriteHeader(s.status)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range s.events {
		io.WriteString(w, e)
		w.(http.Flusher).Flush()
	}
	if s.open {
		<-r.Context().Done()
	}
}

func event(result string) string {
	return "id: 1\ndata: {\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":" + result + "}\n\n"
}

// TestSubscription shows that a subscription reports progress, wakes the next look, and
// decides nothing.
func TestSubscription(t *testing.T) {
	streaming := strings.Replace(cardV1, `"streaming":false`, `"streaming":true`, 1)
	legacy := strings.Replace(cardV03, `"capabilities":{}`, `"capabilities":{"streaming":true}`, 1)
	working := result(inTask(taskV1("WORKING", "")))
	status := func(state, text string) string {
		return event(`{"statusUpdate":{"taskId":"task-1","contextId":"ctx-1","status":{"state":"TASK_STATE_` + state + `","message":{"parts":[{"text":"` + text + `"}]}}}}`)
	}
	artifact := func(id, text, more string) string {
		return event(`{"artifactUpdate":{"taskId":"task-1","append":` + more + `,"artifact":{"artifactId":"` + id + `","parts":[{"text":"` + text + `"}]}}}`)
	}
	snapshot := event(inTask(taskV1("WORKING", "", "It is")))
	for _, c := range []struct {
		name     string
		card     string
		status   int
		events   []string
		open     bool
		text     string // reported of the answer
		statuses string
		thought  string
		soon     bool // the look is brought forward
	}{
		{name: "status and text", card: streaming, events: []string{snapshot, status("WORKING", "reading"), artifact("a0", " auth", "true"), status("COMPLETED", "")},
			open: true, text: "It is auth", statuses: "reading", soon: true},
		{name: "0.3", card: legacy, events: []string{
			event(`{"kind":"task","id":"task-1","status":{"state":"working"}}`),
			event(`{"kind":"artifact-update","taskId":"task-1","artifact":{"artifactId":"a","parts":[{"kind":"text","text":"It is"}]}}`),
			event(`{"kind":"status-update","taskId":"task-1","final":true,"status":{"state":"completed"}}`)}, open: true, text: "It is", soon: true},
		{name: "an artifact sent whole again", card: streaming, events: []string{snapshot, artifact("a0", " auth", "true"), artifact("a0", "It is auth", "false")},
			text: "It is auth", soon: true},
		{name: "an artifact that is replaced by a longer one", card: streaming, events: []string{snapshot, artifact("a0", "It is auth", "false")}, text: "It is auth", soon: true},
		{name: "an artifact that is rewritten", card: streaming, events: []string{snapshot, artifact("a0", "No:", "false"), artifact("a0", " auth", "true")}, text: "It is", soon: true},
		{name: "the middle of an answer", card: streaming, events: []string{artifact("a0", " auth", "true")}, text: "", soon: true},
		{name: "two artifacts", card: streaming, events: []string{snapshot, artifact("b", " auth", "false"), artifact("a0", "It is", "false")}, text: "It is\n\n auth", soon: true},
		{name: "a blank artifact, and one that begins blank", card: streaming, events: []string{artifact("a", " ", "false"), artifact("b", "It is", "false"),
			artifact("c", " ", "false"), artifact("c", "auth", "true"), artifact("c", ".", "true")}, text: "It is\n\n auth.", soon: true},
		{name: "thoughts", card: streaming, events: []string{event(`{"artifactUpdate":{"taskId":"task-1","artifact":{"artifactId":"a","parts":[{"text":"hm ","metadata":{"adk_thought":true}},{"text":"It is"}]}}}`),
			event(`{"statusUpdate":{"taskId":"task-1","status":{"state":"TASK_STATE_WORKING","message":{"parts":[{"text":"hm","metadata":{"adk_thought":true}}]}}}}`)},
			text: "It is", thought: "hm hm", soon: true},
		{name: "an empty stream", card: streaming, soon: true},
		{name: "a refused stream", card: streaming, status: 500, soon: true},
		{name: "an error in the stream", card: streaming, events: []string{snapshot, "data: {\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32603}}\n\n"}, text: "It is", soon: true},
		{name: "no JSON in the stream", card: streaming, events: []string{snapshot, "data: nonsense\n\n"}, text: "It is", soon: true},
		{name: "null where an update belongs", card: streaming, events: []string{event(`{"artifactUpdate":null}`), event(`{"artifactUpdate":{"artifact":null}}`), event(`{"statusUpdate":{"status":null}}`)}, soon: true},
		{name: "comments and split data", card: streaming, events: []string{": keep-alive\n\n", "event: x\r\ndata:{\"result\":\r\ndata: " + inTask(taskV1("WORKING", "", "It")) + "}\r\n\r\n"}, text: "It", soon: true},
		{name: "the credential in two pieces", card: streaming, events: []string{event(inTask(taskV1("WORKING", "", "key "+secretToken[:9]))), artifact("a0", secretToken[9:]+"!", "true")},
			text: "key [redacted]!", soon: true},
		{name: "a stream that says nothing", card: streaming, open: true},
		{name: "a card that offers no streaming", card: cardV1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &streamingPeer{fakePeer: fakePeer{card: c.card, replies: []reply{working}}, final: result(taskV1("COMPLETED", "", "the answer")),
				status: c.status, events: c.events, open: c.open}
			if c.card == cardV1 {
				s.replies = []reply{working, s.final}
			}
			askWatched(t, s, []string{c.text, c.statuses, c.thought}, c.soon)
		})
	}
}

// askWatched asks s and compares what was reported: text, statuses and thoughts.
func askWatched(t *testing.T, s *streamingPeer, want []string, soon bool) {
	change := func(c *Config) { c.Token = func() (string, error) { return secretToken, nil } }
	inBubble(t, s, change, func(t *testing.T, a *Agent) {
		told := make([]string, 3)
		began := time.Now()
		got, err := a.Ask(t.Context(), delegate.Request{Prompt: "hi", Progress: func(p langrooms.Progress) {
			told[slices.Index([]langrooms.ProgressKind{langrooms.ProgressText, langrooms.ProgressStatus, langrooms.ProgressThought}, p.Kind)] += p.Text
		}})
		if err != nil || got.Text != "the answer" {
			t.Fatalf("Ask = %q, %v", got.Text, err)
		}
		if !slices.Equal(told, want) {
			t.Errorf("reported %q, want %q", told, want)
		}
		if took := time.Since(began); soon && took > 0 || !soon && took != time.Second {
			t.Errorf("the answer took %v; want it at once: %v", took, soon)
		}
	})
}
