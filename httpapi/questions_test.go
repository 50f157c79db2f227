package httpapi_test

import (
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/consent"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/httpapi"
)

// What a member asks leave for is listed and answered once, by an admin.
func TestQuestions(t *testing.T) {
	s := serve(t, "", "proto")
	told := make(chan langrooms.Event, 4)
	ctx, end := s.desk.InTurn(t.Context(), "t/1", func(e langrooms.Event) { told <- e })
	defer end()
	given := make(chan delegate.PermissionAnswer, 1)
	go func() {
		given <- s.desk.Permission(ctx, delegate.PermissionRequest{Delegate: "proto", Title: "go test", Kind: "execute"})
	}()
	id := (<-told).Question.ID
	const thread = "/api/threads/t%2F1/questions"
	_, v := s.call("GET", thread, "")
	q := v["questions"].([]any)[0].(map[string]any)
	if q["id"] != id || q["member"] != "proto" || q["title"] != "go test" || q["kind"] != "execute" || len(q["choices"].([]any)) != 3 {
		t.Errorf("the question is %v", q)
	}
	if _, v := s.call("GET", "/api/threads/other/questions", ""); len(v["questions"].([]any)) != 0 {
		t.Errorf("another thread has %v", v)
	}
	for _, bad := range []struct {
		path, body string
		status     int
		code       string
	}{
		{thread + "/" + id, `{"answer":"perhaps"}`, 422, "invalid_answer"},
		{thread + "/" + id, `{"answer":1}`, 422, "invalid_request"},
		{thread + "/" + id, `{`, 400, "invalid_json"},
		{thread + "/none", `{"answer":"once"}`, 404, "question_not_found"},
		{"/api/threads/other/questions/" + id, `{"answer":"once"}`, 404, "question_not_found"},
	} {
		if status, v := s.call("POST", bad.path, bad.body); status != bad.status || code(v) != bad.code {
			t.Errorf("%s %s: %d %v, want %d %s", bad.path, bad.body, status, v, bad.status, bad.code)
		}
	}
	s.who = httpapi.Caller{Name: "bob"}
	for _, call := range [][2]string{{"GET", thread}, {"POST", thread + "/" + id}} {
		if status, v := s.call(call[0], call[1], `{"answer":"once"}`); status != 403 || code(v) != "forbidden" {
			t.Errorf("%s of one who is no admin: %d %v", call[0], status, v)
		}
	}
	s.who = httpapi.Caller{Name: "ada", Admin: true}
	if status, v := s.call("POST", thread+"/"+id, `{"answer":"once"}`); status != 200 || v["by"] != "ada" || v["answer"] != string(consent.ChoiceOnce) {
		t.Errorf("an answer: %d %v", status, v)
	}
	if got := <-given; got != delegate.PermissionOnce {
		t.Errorf("the member is told %q", got)
	}
	if status, v := s.call("POST", thread+"/"+id, `{"answer":"no"}`); status != 409 || code(v) != "answered" {
		t.Errorf("a second answer: %d %v", status, v)
	}
}
