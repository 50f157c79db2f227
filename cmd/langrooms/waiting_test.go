package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// A late answer that is waited for is listed and withdrawn over HTTP; another's is not there.
func TestLateOverHTTP(t *testing.T) {
	t.Parallel()
	f, _, _ := slowFolder(t, says(t, "I am the lead."), "server: { keys: [ { name: ada, key: planted-ada }, { name: bob, key: planted-bob } ] }\n")
	s := serve(t, f)
	call := func(key, method, path, body string) string {
		t.Helper()
		code, answer := s.ask(t, method, path, body, "X-Api-Key", "planted-"+key)
		return fmt.Sprint(code, " ", strings.TrimSpace(answer))
	}
	expectContains(t, "the turn", "200 ", call("ada", "POST", "/threads/mine/runs/wait", `{"assistant_id":"agent","if_not_exists":"create","input":{"messages":"@slow do it"}}`))
	none := `404 {"detail":{"code":"thread_not_found","message":"there is no such thread"}}`
	for _, id := range []string{"mine", "none", "%1Flangrooms%1Fcontrol%2Fx"} {
		key := map[bool]string{true: "bob", false: "ada"}[id == "mine"]
		expect(t, id+" listed", none, call(key, "GET", "/api/threads/"+id+"/late", ""))
		expect(t, id+" withdrawn", none, call(key, "DELETE", "/api/threads/"+id+"/late/slow", ""))
	}
	list := call("ada", "GET", "/api/threads/mine/late", "")
	if !regexp.MustCompile(`^200 {"waiting":\[{"member":"slow","task":"[^"]+","since":"20[^"]+Z"}\]}$`).MatchString(list) {
		t.Errorf("the list: %s", list)
	}
	expectContains(t, "another member", `409 {"detail":{"code":"not_waited"`, call("ada", "DELETE", "/api/threads/mine/late/proto", ""))
	expect(t, "withdrawn", `200 {"withdrawn":"slow"}`, call("ada", "DELETE", "/api/threads/mine/late/slow", ""))
	expect(t, "the list afterwards", `200 {"waiting":[]}`, call("ada", "GET", "/api/threads/mine/late", ""))
	expectContains(t, "again", `409 {"detail":{"code":"not_waited"`, call("ada", "DELETE", "/api/threads/mine/late/slow", ""))
	s.end(t)
}
