package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/httpapi"
	"github.com/langrooms/langrooms/thread"
)

// Files are listed and given out to who may use the thread, to be saved and not to be run.
func TestFiles(t *testing.T) {
	var fails error
	var asked string
	file := langrooms.Part{Kind: langrooms.PartBinary, Name: "../\"é\".html", MIMEType: "text/html", Data: []byte("<script>")}
	s := serveWith(t, func(c *httpapi.Config) {
		c.Files = func(_ context.Context, who httpapi.Caller, id string) ([]httpapi.File, error) {
			asked = who.Name + " " + id
			return []httpapi.File{{Message: "m", N: 1, Name: "a.png", Type: "image/png", Bytes: 3, From: "proto"}}, fails
		}
		c.OpenFile = func(_ context.Context, who httpapi.Caller, id, message string, n int) (langrooms.Part, bool, error) {
			asked = fmt.Sprint(who.Name, " ", id, " ", message, " ", n)
			return file, n == 1, fails
		}
	})
	s.who = httpapi.Caller{Name: "bob"}
	status, v := s.call("GET", "/api/threads/t%2F1/files", "")
	if f := v["files"].([]any)[0].(map[string]any); status != 200 || asked != "bob t/1" || f["name"] != "a.png" || f["message"] != "m" || f["n"] != 1.0 || f["bytes"] != 3.0 {
		t.Errorf("%d %v, asked %q", status, v, asked)
	}
	w := httptest.NewRecorder()
	s.api.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/threads/t/files/m/1", nil))
	h := w.Header()
	if w.Code != 200 || asked != "bob t m 1" || w.Body.String() != "<script>" || h.Get("X-Content-Type-Options") != "nosniff" ||
		h.Get("Content-Security-Policy") != "default-src 'none'; sandbox" || h.Get("Content-Disposition") != "attachment; filename*=utf-8''_%C3%A9_.html" {
		t.Errorf("%d %q %v, asked %q", w.Code, w.Body, h, asked)
	}
	for _, path := range []string{"m/0", "m/-1", "m/x", "m/99999999999999999999"} {
		if status, v := s.call("GET", "/api/threads/t/files/"+path, ""); status != 404 || code(v) != "file_not_found" {
			t.Errorf("%s: %d %v", path, status, v)
		}
	}
	for err, want := range map[error]string{thread.ErrNone: "404 thread_not_found", errors.New("planted"): "500 internal"} {
		fails = fmt.Errorf("somewhere: %w", err)
		for _, path := range []string{"files", "files/m/1"} {
			status, v := s.call("GET", "/api/threads/t/"+path, "")
			if got := fmt.Sprint(status, " ", code(v)); got != want {
				t.Errorf("%s, %v: %s, want %s", path, err, got, want)
			}
		}
	}
	for _, path := range []string{"files", "files/m/1"} {
		if status, v := serve(t, "").call("GET", "/api/threads/t/"+path, ""); status != 404 || code(v) != "thread_not_found" {
			t.Errorf("%s without threads: %d %v", path, status, v)
		}
	}
}
