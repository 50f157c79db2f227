package main

import (
	"fmt"
	"strings"
	"testing"
)

// A thread is exported, rewound and, by an admin, imported over HTTP; another's is not there.
func TestWholeThreadsOverHTTP(t *testing.T) {
	t.Parallel()
	f := folder(t, says(t, "I am the lead."), `server:
  keys:
    - { name: ada, key: planted-ada }
    - { name: bob, key: planted-bob }
    - { name: root, key: planted-root, admin: true }
`+roster(openaiEntry("proto", says(t, "The cache.\x1b[31m"))))
	s := serve(t, f)
	call := func(key, method, path, body string) string {
		t.Helper()
		code, answer := s.ask(t, method, path, body, "X-Api-Key", "planted-"+key)
		return fmt.Sprint(code, " ", strings.TrimSpace(answer))
	}
	none := `404 {"detail":{"code":"thread_not_found","message":"there is no such thread"}}`
	run := `{"assistant_id":"agent","if_not_exists":"create","input":{"messages":[{"type":"human","id":"m%d","content":"@proto what broke?"}]}}`
	for i := range 2 {
		expectContains(t, "a turn", "200 ", call("ada", "POST", "/threads/mine/runs/wait", fmt.Sprintf(run, i)))
	}
	for _, path := range []string{"GET /api/threads/mine/export", "POST /api/threads/mine/rewind", "POST /api/threads/mine/uncompact", "GET /api/threads/none/export", "GET /api/threads/%1Flangrooms%1Fcontrol%2Fx/export"} {
		method, path, _ := strings.Cut(path, " ")
		key := map[bool]string{true: "bob", false: "root"}[strings.Contains(path, "mine")]
		expect(t, path, none, call(key, method, path, `{"message":"m0"}`))
	}
	exported := call("ada", "GET", "/api/threads/mine/export", "")
	expectContains(t, "the export", "The cache.", exported)
	markdown := call("ada", "GET", "/api/threads/mine/export?format=md", "")
	expectContains(t, "as Markdown", "The cache.", markdown)
	if strings.Contains(exported+markdown, "\x1b") {
		t.Errorf("an export rings:\n%q\n%q", exported, markdown)
	}
	expectContains(t, "no format", `422 {"detail":{"code":"invalid_request"`, call("ada", "GET", "/api/threads/mine/export?format=pdf", ""))

	expectContains(t, "no message", `404 {"detail":{"code":"message_not_found"`, call("ada", "POST", "/api/threads/mine/rewind", `{"message":"m7"}`))
	expect(t, "the rewind", `200 {"removed":3}`, call("ada", "POST", "/api/threads/mine/rewind", `{"message":"m0"}`))
	expect(t, "without a summary", `200 {"restored":0}`, call("ada", "POST", "/api/threads/mine/uncompact", ""))

	document := strings.TrimPrefix(exported, "200 ")
	expectContains(t, "by who is no admin", "403 ", call("ada", "POST", "/api/threads/copy/import", document))
	expectContains(t, "no export", `422 {"detail":{"code":"not_an_export"`, call("root", "POST", "/api/threads/copy/import", `{}`))
	expect(t, "nothing of it stays", none, call("root", "GET", "/api/threads/copy/export", ""))
	expect(t, "the import", `200 {"messages":4}`, call("root", "POST", "/api/threads/copy/import", document))
	expectContains(t, "again", `409 {"detail":{"code":"conflict"`, call("root", "POST", "/api/threads/copy/import", document))
	expectContains(t, "over ada's", `409 {"detail":{"code":"conflict"`, call("root", "POST", "/api/threads/mine/import", document))
	expect(t, "the copy is the admin's", none, call("ada", "GET", "/api/threads/copy/export", ""))
	expectContains(t, "the copy", "The cache.", call("root", "GET", "/api/threads/copy/export", ""))
	s.end(t)
}
