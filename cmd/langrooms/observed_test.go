package main

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"

	"github.com/langrooms/langrooms/internal/clitest"
)

// What a server tells of itself names requests, threads, exchanges and delegates, and holds no word
// of what is said, no query, no key and no variable of one.
func TestSeenFromOutside(t *testing.T) {
	t.Parallel()
	f := folder(t, says(t, "hi"), "server: { keys: [ { name: ada, key: planted-ada, admin: true }, { name: planted-name, key: planted-bob } ] }\n"+
		roster("  - { name: proto, type: openai, url: \""+says(t, "planted-reply").URL+"\", model: m, api_key_env: PLANTED_VARIABLE }\n"))
	f.Env = append(f.Env, "PLANTED_VARIABLE=planted-secret")
	log, metrics := seenFromOutside(t, f)
	checkSeen(t, log, metrics)
}

// seenFromOutside has a member asked and returns what the server told of it.
func seenFromOutside(t *testing.T, f *clitest.Folder) (log, metrics string) {
	t.Helper()
	p := f.Start("serve", "--addr", "127.0.0.1:0", "--log", "json")
	s := &served{p, servesOn.FindStringSubmatch(p.Out("\n"))[1]}
	key := []string{"X-Api-Key", "planted-ada"}
	s.ask(t, "POST", "/threads", `{"thread_id":"t7"}`, key...)
	code, body := s.ask(t, "POST", "/threads/t7/runs/wait", `{"assistant_id":"agent","input":{"messages":"@proto planted-words"}}`, key...)
	expect(t, "a run: "+body, 200, code)
	s.ask(t, "GET", "/api/search?q=planted-query", "", key...)
	code, _ = s.ask(t, "GET", "/metrics", "")
	expect(t, "metrics without a key", 401, code)
	code, _ = s.ask(t, "GET", "/metrics", "", "X-Api-Key", "planted-bob")
	expect(t, "metrics for one who is no admin", 403, code)
	code, metrics = s.ask(t, "GET", "/metrics", "", key...)
	expect(t, "metrics", 200, code)
	s.Signal(syscall.SIGTERM)
	return s.Wait().Diag, metrics
}

func checkSeen(t *testing.T, log, metrics string) {
	t.Helper()
	var dispatch struct{ Msg, Request, Thread, Run, Exchange, Delegate, Outcome string }
	for line := range strings.Lines(log) {
		if strings.Contains(line, `"msg":"dispatch"`) {
			if err := json.Unmarshal([]byte(line), &dispatch); err != nil {
				t.Fatal(err)
			}
		}
	}
	if dispatch.Request == "" || dispatch.Run == "" || dispatch.Exchange == "" || dispatch.Thread != "t7" || dispatch.Delegate != "proto" || dispatch.Outcome != "ok" {
		t.Errorf("the log of the dispatch is %+v:\n%s", dispatch, log)
	}
	expectContains(t, "the turn's request is the run's", `"request":"`+dispatch.Request+`","method":"POST","route":"/threads/{thread}/runs/wait"`, log)
	for _, want := range []string{`langrooms_dispatches_total{delegate="proto",outcome="ok"} 1`, `langrooms_turns_total{status="answered"} 1`,
		`langrooms_http_requests_total{method="GET",route="/metrics",status="403"} 1`, "langrooms_roster_delegates 1", "go_goroutines"} {
		expectContains(t, "the metrics", want, metrics)
	}
	if strings.Contains(strings.ToLower(log+metrics), "planted") {
		t.Errorf("what was planted is in the log or the metrics:\n%s%s", log, metrics)
	}
}
