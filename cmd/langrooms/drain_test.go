package main

import (
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A server that is told to end takes no new turns, lets the running one end, and ends.
func TestServedDrain(t *testing.T) {
	t.Parallel()
	slow, asked, letGo := held(t, "at last")
	f := folder(t, says(t, "hi"), roster(openaiEntry("slow", slow), openaiEntry("proto", says(t, "quick"))))
	s := serve(t, f)
	s.ask(t, "POST", "/threads", `{"thread_id":"t"}`)
	s.ask(t, "POST", "/threads", `{"thread_id":"u"}`)
	waiting := make(chan string, 1)
	go func() {
		_, body := s.ask(t, "POST", "/threads/t/runs/wait", `{"assistant_id":"agent","input":{"messages":"@slow well?"}}`)
		waiting <- body
	}()
	<-asked
	s.Signal(syscall.SIGTERM)
	refused := ""
	for range 15 { // the signal takes its time, and turns are not asked for without end
		resp, err := http.Post(s.url+"/threads/u/runs/wait", "application/json", strings.NewReader(`{"assistant_id":"agent","input":{"messages":"@proto and you?"}}`))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode == http.StatusServiceUnavailable {
			refused = resp.Header.Get("Retry-After")
			break
		}
		<-time.After(200 * time.Millisecond)
	}
	expect(t, "when a new turn may come again", "5", refused)
	letGo()
	expectContains(t, "the running turn", "at last", <-waiting)
	r := s.WaitFor(12 * time.Second)
	expect(t, "the server's status, "+r.Diag, 0, r.Status)
	expectContains(t, "the thread afterwards", "at last", f.Run("thread", "show", "-t", "t").Out)
}
