package main

import (
	"regexp"
	"testing"
)

// What the server keeps beside the threads has no paths, for an admin neither.
func TestInternalThreadsOverHTTP(t *testing.T) {
	t.Parallel()
	f := folder(t, says(t, "hi"), "server: { keys: [ { name: root, key: planted-root, admin: true } ] }\n"+roster(openaiEntry("proto", says(t, "hi"))))
	s := serve(t, f)
	key := []string{"X-Api-Key", "planted-root"}
	code, body := s.ask(t, "POST", "/threads/t/runs/wait", `{"assistant_id":"agent","if_not_exists":"create","input":{"messages":"@proto hi"}}`, key...)
	expect(t, "the turn: "+body, 200, code)
	_, body = s.ask(t, "GET", "/threads/t/runs", "", key...)
	events := "/api/threads/%1Flangrooms%1Fevents%2F" + regexp.MustCompile(`"run_id":"([^"]+)"`).FindStringSubmatch(body)[1]
	for path, method := range map[string]string{"/compact": "POST", "/costs": "GET", "/files": "GET", "/files/m/0": "GET", "/stop": "POST", "/late": "GET"} {
		code, body := s.ask(t, method, events+path, `{"keep":0,"summary":"gone"}`, key...)
		expect(t, path, `{"detail":{"code":"thread_not_found","message":"there is no such thread"}}`+"\n", body)
		expect(t, path, 404, code)
	}
	s.end(t)
}
