package a2aagent

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/langrooms/langrooms/delegate"
)

// secretToken is planted as the credential of every fake peer's agent.
const secretToken = "planted-token-5e1f77"

// reply is what a fake peer answers to one POST.
type reply struct {
	status    int // 0 means 200
	mediaType string
	body      string
	location  string
	after     string        // Retry-After
	arrived   chan struct{} // closed when the request is there
	hold      chan struct{} // answered when it is closed
	never     bool          // not answered
	hangUp    bool          // the connection ends without an answer
	endless   bool          // the answer begins and does not end
}

// received is one request as it reached a fake peer.
type received struct {
	path   string
	header http.Header
	method string // of the JSON-RPC request
	params map[string]any
}

// fakePeer is an HTTP server that answers the POSTs it gets with replies, in order; the
// last one repeats. It serves a card when it has one.
type fakePeer struct {
	card    string // "" means 404
	replies []reply

	mu  sync.Mutex
	got []received
	url string
}

func (f *fakePeer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var rpc struct {
		Method string
		Params map[string]any
	}
	json.Unmarshal(body, &rpc)
	got := received{path: r.URL.RequestURI(), header: r.Header.Clone(), method: rpc.Method, params: rpc.Params}
	if r.Method == http.MethodGet && isCard(r.URL) {
		f.note(got)
		if f.card == "" || !strings.HasSuffix(r.URL.Path, cardPath) {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, f.card)
		return
	}
	f.next(f.note(got)).write(w, r)
}

// note remembers a request and returns how many messages and looks came before it.
func (f *fakePeer) note(r received) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, before := range f.got {
		if !strings.HasSuffix(before.path, ".json") {
			n++
		}
	}
	f.got = append(f.got, r)
	return n
}

// answer sets what the peer answers from now on.
func (f *fakePeer) answer(replies ...reply) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.replies = replies
}

func (f *fakePeer) next(i int) reply {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.replies[min(i, len(f.replies)-1)]
}

func (r reply) write(w http.ResponseWriter, req *http.Request) {
	if r.arrived != nil {
		close(r.arrived)
	}
	if r.hold != nil {
		select {
		case <-r.hold:
		case <-req.Context().Done():
			return
		}
	}
	if r.never {
		<-req.Context().Done()
		return
	}
	if r.hangUp {
		panic(http.ErrAbortHandler)
	}
	if r.mediaType == "" {
		r.mediaType = "application/json"
	}
	w.Header().Set("Content-Type", r.mediaType)
	if r.location != "" {
		w.Header().Set("Location", r.location)
	}
	if r.after != "" {
		w.Header().Set("Retry-After", r.after)
	}
	if r.status != 0 {
		w.WriteHeader(r.status)
	}
	io.WriteString(w, r.body)
	if r.endless {
		http.NewResponseController(w).Flush()
		<-req.Context().Done()
	}
}

// requests returns what the peer got, card fetches left out.
func (f *fakePeer) requests() []received {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []received
	for _, r := range f.got {
		if !strings.HasSuffix(r.path, ".json") {
			all = append(all, r)
		}
	}
	return all
}

func (f *fakePeer) methods() string {
	var all []string
	for _, r := range f.requests() {
		all = append(all, r.method)
	}
	return strings.Join(all, " ")
}

// serve starts f and returns an agent for it, with the schedule's unit at a millisecond.
func (f *fakePeer) serve(t testing.TB, change func(*Config)) *Agent {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	f.url = server.URL
	f.card = strings.ReplaceAll(f.card, "$URL", server.URL)
	cfg := Config{Name: "proto", URL: server.URL + "/a2a", Scheme: SchemeBearer,
		Token: func() (string, error) { return secretToken, nil }}
	if change != nil {
		change(&cfg)
	}
	a := newAgent(t, cfg)
	a.pace = time.Millisecond
	return a
}

func newAgent(t testing.TB, cfg Config) *Agent {
	t.Helper()
	a, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// The cards of the two versions.
const (
	cardV1 = `{"name":"peer","version":"7.1","capabilities":{"streaming":false},
		"supportedInterfaces":[{"url":"$URL/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`
	cardV03 = `{"name":"peer","version":"7.1","protocolVersion":"0.3.0","url":"$URL/a2a","preferredTransport":"JSONRPC","capabilities":{}}`
)

func result(body string) reply {
	return reply{body: `{"jsonrpc":"2.0","id":"1","result":` + body + `}`}
}

func rpcFailure(code int, message, data string) reply {
	if data != "" {
		data = `,"data":` + data
	}
	return reply{body: fmt.Sprintf(`{"jsonrpc":"2.0","id":"1","error":{"code":%d,"message":%q%s}}`, code, message, data)}
}

// taskV1 and taskV03 are a task in the two versions. Empty texts are left out.
func taskV1(state, status string, artifacts ...string) string {
	return taskJSON("", "TASK_STATE_"+state, status, artifacts)
}

func taskV03(state, status string, artifacts ...string) string {
	return taskJSON(`"kind":"task",`, strings.ToLower(strings.ReplaceAll(state, "_", "-")), status, artifacts)
}

func taskJSON(kind, state, status string, artifacts []string) string {
	part := `{"text":%q}`
	if kind != "" {
		part = `{"kind":"text","text":%q}`
	}
	message := ""
	if status != "" {
		message = fmt.Sprintf(`,"message":{"messageId":"m","role":"ROLE_AGENT","parts":[`+part+`]}`, status)
	}
	var all []string
	for i, text := range artifacts {
		all = append(all, fmt.Sprintf(`{"artifactId":"a%d","parts":[`+part+`]}`, i, text))
	}
	return fmt.Sprintf(`{%s"id":"task-1","contextId":"ctx-1","status":{"state":%q,"timestamp":%q%s},"artifacts":[%s]}`,
		kind, state, time.Now().Format(time.RFC3339Nano), message, strings.Join(all, ","))
}

func inTask(task string) string { return `{"task":` + task + `}` }

// kindOf returns the kind of a delegate's error, "" of none.
func kindOf(err error) delegate.Kind {
	if err == nil {
		return ""
	}
	return delegate.AsError("", err).Kind
}
