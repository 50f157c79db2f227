package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// dial opens a bare connection to a server; what it reads comes within a minute.
func (s *served) dial(t testing.TB) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	return conn
}

// pieces is a body without an end that is known, of so many pieces of a mebibyte.
type pieces struct {
	left int
	rest *bytes.Reader
	sent atomic.Int64 // the connection may still be read from when the answer is there
}

func (p *pieces) Read(data []byte) (int, error) {
	if p.rest == nil || p.rest.Len() == 0 {
		if p.left == 0 {
			return 0, io.EOF
		}
		p.left--
		p.rest = bytes.NewReader(bytes.Repeat([]byte(" "), 1<<20))
	}
	n, err := p.rest.Read(data)
	p.sent.Add(int64(n))
	return n, err
}

// Clients that send too slowly, too much or the same at once are turned away, and cost the others
// nothing.
func TestServedHardClients(t *testing.T) {
	t.Parallel()
	s := serve(t, folder(t, says(t, "hi"), roster(openaiEntry("proto", says(t, "quick")))))
	slow := make([]net.Conn, 100)
	began := time.Now()
	for i := range slow {
		slow[i] = s.dial(t)
		fmt.Fprintf(slow[i], "POST /threads HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
	}

	head := s.dial(t)
	go fmt.Fprintf(head, "GET /ok HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: %s\r\n\r\n", strings.Repeat("x", 100_000))
	answer, err := http.ReadResponse(bufio.NewReader(head), nil)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "100,000 bytes of a header", http.StatusRequestHeaderFieldsTooLarge, answer.StatusCode)

	body := &pieces{left: 100}
	resp, err := http.Post(s.url+"/threads", "application/json", body)
	if err == nil {
		resp.Body.Close()
		expect(t, "100 MB that nobody announced", http.StatusRequestEntityTooLarge, resp.StatusCode)
	}
	if sent := body.sent.Load(); sent > 32<<20 {
		t.Errorf("%d bytes of a body that is too large were taken", sent)
	}
	resp, err = http.Post(s.url+"/a2a", "application/json", &pieces{left: 20})
	if err == nil {
		resp.Body.Close()
		expect(t, "20 MB for /a2a", http.StatusRequestEntityTooLarge, resp.StatusCode)
	}

	code, out := s.ask(t, "GET", "/threads/x", "", "Host", "evil.example") // a header, which is not the name that is asked for
	expect(t, "no thread: "+out, 404, code)
	req, err := http.NewRequestWithContext(t.Context(), "GET", s.url+"/threads/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "evil.example"
	if resp, err = http.DefaultClient.Do(req); err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	expect(t, "a stranger's name", http.StatusMisdirectedRequest, resp.StatusCode)
	s.sameAtOnce(t)
	for _, conn := range slow {
		_, err := io.Copy(io.Discard, conn) // ends when the server has closed it
		if late := net.Error(nil); errors.As(err, &late) && late.Timeout() {
			t.Fatalf("a head that does not end is still waited for after %v", time.Since(began))
		}
	}
	if d := time.Since(began); d > headBound+10*time.Second {
		t.Errorf("heads that do not end were waited for for %v", d)
	}
	s.end(t)
}

// sameAtOnce sends one request with one key twenty times at once.
func (s *served) sameAtOnce(t testing.TB) {
	t.Helper()
	s.ask(t, "POST", "/threads", `{"thread_id":"same"}`)
	ids := make([]string, 20)
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() {
			_, body := s.ask(t, "POST", "/threads/same/runs", `{"assistant_id":"agent","input":{"messages":"@proto once"}}`, "Idempotency-Key", "k")
			if m := regexp.MustCompile(`"run_id":"([^"]*)"`).FindStringSubmatch(body); m != nil {
				ids[i] = m[1]
			}
		})
	}
	all.Wait()
	for _, id := range ids {
		expect(t, "the run of a duplicate", ids[0], id)
	}
	s.ask(t, "GET", "/threads/same/runs/"+ids[0]+"/join", "")
	_, body := s.ask(t, "GET", "/threads/same/state", "")
	expect(t, "how often it was said", 1, strings.Count(body, `"content":"@proto once"`))
}
