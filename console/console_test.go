package console_test

import (
	"bytes"
	"compress/gzip"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/langrooms/langrooms/console"
)

func newPage(t testing.TB) *console.Server {
	t.Helper()
	page, err := console.New(console.Config{Cookie: "key", NeedsKey: func() bool { return true },
		Knows: func(key string) bool { return key == "sesame" || key == "a;b" },
		Who:   func(*http.Request) console.Visitor { return console.Visitor{} }})
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func ask(page http.Handler, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	page.ServeHTTP(w, r)
	return w
}

// What the page loads first is there, is small, and has nothing inline and nothing of others.
func TestFirstLoad(t *testing.T) {
	page := newPage(t)
	w := ask(page, "GET", "/", "")
	html := w.Body.String()
	if csp := w.Header().Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
		t.Errorf("the policy is %q", csp)
	}
	for _, inline := range []string{"<style", "<script>", " style=", " onload=", "http://", "https://"} {
		if strings.Contains(html, inline) {
			t.Errorf("the page has %q in it", inline)
		}
	}
	total := 0
	refs := regexp.MustCompile(`(?:src|href)="(/[^"]+\.(?:js|css|svg))"`).FindAllStringSubmatch(html, -1)
	for _, ref := range refs {
		w := ask(page, "GET", ref[1], "", "Accept-Encoding", "gzip")
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d", ref[1], w.Code)
		}
		if w.Header().Get("Content-Encoding") == "gzip" {
			if _, err := gzip.NewReader(bytes.NewReader(w.Body.Bytes())); err != nil {
				t.Errorf("%s: %v", ref[1], err)
			}
		}
		total += w.Body.Len()
	}
	if len(refs) < 3 || total > 120_000 {
		t.Errorf("%d files of %d bytes are loaded first, at most 120000 are wanted", len(refs), total)
	}
}

// Only the page's own files are served.
func TestPaths(t *testing.T) {
	page := newPage(t)
	for path, want := range map[string]int{
		"/": 200, "/assets/icon.svg": 200, "/favicon.ico": 302, "/sessions": 302,
		"/assets/none.js": 404, "/assets/": 404, "/assets/%2e%2e/%2e%2e/console.go": 404, "/assets/..%2findex.html": 404, "/nothing": 404,
	} {
		if got := ask(page, "GET", path, "").Code; got != want && !(want == 404 && got == 307) {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
	if to := ask(page, "GET", "/sessions/room_01", "").Header().Get("Location"); to != "/#/room/room_01" {
		t.Errorf("a session's address leads to %q", to)
	}
	if to := ask(page, "GET", "/sessions/%2F%2Fevil.example", "").Header().Get("Location"); !strings.HasPrefix(to, "/#/room/") {
		t.Errorf("a made-up address leads to %q", to)
	}
}

// A key is kept where no script and no other site can use it.
func TestSignIn(t *testing.T) {
	page := newPage(t)
	w := ask(page, "POST", "/signin", `{"key":"sesame"}`)
	if w.Code != http.StatusNoContent {
		t.Fatalf("signing in: %d %s", w.Code, w.Body)
	}
	c := w.Result().Cookies()[0]
	if c.Name != "key" || c.Value != "sesame" || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" {
		t.Errorf("the cookie is %v", c)
	}
	for body, want := range map[string]int{`{"key":"wrong"}`: 401, `{"key":""}`: 401, `{`: 400, `{"key":"a;b"}`: 422} {
		w := ask(page, "POST", "/signin", body)
		if w.Code != want || len(w.Result().Cookies()) != 0 {
			t.Errorf("%s: %d %v, want %d and no cookie", body, w.Code, w.Result().Cookies(), want)
		}
	}
	w = ask(page, "POST", "/signout", "")
	if c := w.Result().Cookies(); len(c) != 1 || c[0].MaxAge >= 0 {
		t.Errorf("signing out sets %v", c)
	}
}

// A field of the configuration that is missing is said.
func TestConfig(t *testing.T) {
	if _, err := console.New(console.Config{}); err == nil {
		t.Error("an empty configuration was taken")
	}
}

// No file of the page's source asks for something of another server.
func TestNoThirdParty(t *testing.T) {
	err := fs.WalkDir(os.DirFS("web/src"), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile("web/src/" + path)
		if m := regexp.MustCompile(`["'(](https?:)?//[a-z]`).Find(data); m != nil {
			t.Errorf("%s: %s", path, m)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
