package langgraphapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/runs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

// events splits a stream into "event data" lines, the ids checked.
func events(t *testing.T, body string) (names []string, data []string) {
	t.Helper()
	for i, block := range strings.Split(strings.TrimSpace(body), "\n\n") {
		m := regexp.MustCompile(`^event: (\S+)\ndata: (.*)\nid: (\d+)$`).FindStringSubmatch(block)
		if m == nil || m[3] != fmt.Sprint(i) {
			t.Fatalf("event %d is %q", i, block)
		}
		names, data = append(names, m[1]), append(data, m[2])
	}
	return names, data
}

// One reply has one id in its pieces and its message, and the last values are the state.
func TestStream(t *testing.T) {
	s, _ := stand(t)
	ask(t, s, "POST", "/threads", `{"thread_id":"t"}`)
	code, body := ask(t, s, "POST", "/threads/t/runs/stream", `{"assistant_id":"agent","stream_mode":["values","messages-tuple","updates"],
		"input":{"messages":[{"type":"human","id":"h-1","content":"@proto hi"}]}}`)
	names, data := events(t, body)
	want := "metadata values messages messages messages updates values values"
	if got := strings.Join(names, " "); code != 200 || got != want {
		t.Fatalf("%d %s, want %s\n%s", code, got, want, body)
	}
	_, state := ask(t, s, "GET", "/threads/t/state", "")
	var st struct{ Values json.RawMessage }
	if err := json.Unmarshal([]byte(state), &st); err != nil || string(st.Values) != data[len(data)-1] {
		t.Errorf("the last values are %s, the state %s", data[len(data)-1], st.Values)
	}
	ids := regexp.MustCompile(`"id":"([^"]*)"`)
	reply := ids.FindStringSubmatch(data[5])[1]
	for _, piece := range data[2:5] {
		if ids.FindStringSubmatch(piece)[1] != reply {
			t.Errorf("a piece of another id than %s: %s", reply, piece)
		}
	}
	var run string
	if _, list := ask(t, s, "GET", "/threads/t/runs", ""); true {
		run = regexp.MustCompile(`"run_id":"([^"]*)"`).FindStringSubmatch(list)[1]
	}
	_, again := ask(t, s, "GET", "/threads/t/runs/"+run+"/stream", "")
	if again != "" {
		t.Errorf("who joins after the end without an id gets %q", again)
	}
}

// An id that the thread holds adds nothing: some clients send the whole transcript each time.
func TestWholeTranscript(t *testing.T) {
	s, _ := stand(t)
	ask(t, s, "POST", "/threads", `{"thread_id":"t"}`)
	ask(t, s, "POST", "/threads/t/runs/wait", `{"assistant_id":"agent","input":{"messages":[{"type":"human","id":"1","content":"one"}]}}`)
	_, body := ask(t, s, "POST", "/threads/t/runs/wait", `{"assistant_id":"agent","input":{"messages":[
		{"type":"human","id":"1","content":"one"},{"type":"tool","id":"do-not-render-x","content":"","tool_call_id":"c"},{"type":"human","id":"2","content":"two"}]}}`)
	var v struct{ Messages []struct{ ID, Type string } }
	if err := json.Unmarshal([]byte(body), &v); err != nil || len(v.Messages) != 4 || v.Messages[2].ID != "2" {
		t.Errorf("%s, %v", body, err)
	}
	_, same := ask(t, s, "POST", "/threads/t/runs/wait", `{"assistant_id":"agent","input":{"messages":[{"type":"human","id":"2","content":"two"}]}}`)
	if same != body {
		t.Errorf("nothing new was said, and the state is %s", same)
	}
}

func TestRefusals(t *testing.T) {
	s, _ := stand(t)
	ask(t, s, "POST", "/threads", `{"thread_id":"t"}`)
	for _, tt := range []struct {
		name, method, path, body string
		want                     int
		says                     string
	}{
		{"an unknown thread", "GET", "/threads/none/state", "", 404, "none"},
		{"a run on one", "POST", "/threads/none/runs", `{"assistant_id":"agent"}`, 404, "none"},
		{"a taken id", "POST", "/threads", `{"thread_id":"t"}`, 409, "exists"},
		{"supersteps", "POST", "/threads", `{"supersteps":[{}]}`, 422, "supersteps"},
		{"an unknown checkpoint", "POST", "/threads/t/runs", `{"assistant_id":"agent","input":null,"checkpoint_id":"x"}`, 404, "checkpoint"},
		{"interrupts", "POST", "/threads/t/runs", `{"assistant_id":"agent","interrupt_before":"*"}`, 422, "interrupt_before"},
		{"a webhook", "POST", "/threads/t/runs", `{"assistant_id":"agent","webhook":"http://h"}`, 422, "webhook"},
		{"a command", "POST", "/threads/t/runs", `{"assistant_id":"agent","command":{"resume":1}}`, 422, "command"},
		{"a strategy", "POST", "/threads/t/runs", `{"assistant_id":"agent","multitask_strategy":"x"}`, 422, "multitask_strategy"},
		{"null fields are absent", "POST", "/threads/t/runs", `{"assistant_id":"agent","interrupt_before":null,"webhook":null,"command":null,"input":null}`, 200, "run_id"},
		{"an unknown run", "GET", "/threads/t/runs/x", "", 404, "x"},
		{"an unknown action", "POST", "/threads/t/runs/x/cancel?action=x", "", 422, "action"},
		{"a bad status", "POST", "/threads/search", `{"status":"x"}`, 422, "status"},
		{"a bad Last-Event-ID", "GET", "/threads/t/runs/x/stream", "", 404, "x"},
	} {
		code, body := ask(t, s, tt.method, tt.path, tt.body)
		if code != tt.want || !strings.Contains(body, tt.says) {
			t.Errorf("%s: %d %s, want %d %s", tt.name, code, body, tt.want, tt.says)
		}
	}
}

// An error of the server's own is told to the operator, and not to the client.
func TestFailuresKeepTheirWords(t *testing.T) {
	s, _ := stand(t)
	var told []error
	s.cfg.Failed = func(err error) { told = append(told, err) }
	for words, err := range map[string]error{
		"the server failed":           errors.New("dial tcp 10.0.0.7: no route"),
		"the store cannot be reached": fmt.Errorf("%w: dial tcp 10.0.0.7", checkpointer.ErrUnavailable),
	} {
		w := httptest.NewRecorder()
		s.fail(w, err)
		if body := w.Body.String(); w.Code < 500 || !strings.Contains(body, words) || strings.Contains(body, "10.0.0.7") {
			t.Errorf("%v: %d %s", err, w.Code, body)
		}
	}
	if len(told) != 2 {
		t.Errorf("told of %v", told)
	}
	w := httptest.NewRecorder()
	if s.fail(w, runs.ErrBusy); w.Code != http.StatusConflict || len(told) != 2 {
		t.Errorf("a refusal: %d, told of %v", w.Code, told)
	}
}
