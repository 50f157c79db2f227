package main

import (
	"strings"
	"testing"
)

// What a summary replaced is in the thread's state again once it was put back, also where nothing was said meanwhile.
func TestUncompactedState(t *testing.T) {
	t.Parallel()
	s := serve(t, folder(t, says(t, "hello"), ""))
	s.long(t, 6)
	for _, step := range []struct {
		path, body string
		messages   int
	}{{"compact", `{"keep":2,"summary":"so far"}`, 3}, {"uncompact", "", 6}} {
		code, body := s.ask(t, "POST", "/api/threads/long/"+step.path, step.body)
		expect(t, step.path+": "+body, 200, code)
		_, body = s.ask(t, "GET", "/threads/long/state", "")
		expect(t, "messages after it", step.messages, strings.Count(body, `"content":`))
	}
	s.end(t)
}
