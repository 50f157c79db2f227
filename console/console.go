package console

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"time"
)

//go:embed dist
var built embed.FS

// policy lets the page load from its own server alone, and nothing inline.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Visitor is who looks at the page, as its cookie says.
type Visitor struct {
	// Name is empty for somebody who has not signed in.
	Name  string
	Admin bool
}

// Config wires a [Server].
type Config struct {
	// Cookie is the name of the cookie in which a key is kept. Required.
	Cookie string
	// NeedsKey reports whether the server knows keys at this moment. Required.
	NeedsKey func() bool
	// Knows reports whether a key is somebody's. Required.
	Knows func(key string) bool
	// Who says who sent a request. Required.
	Who func(*http.Request) Visitor
}

// Server serves the page. Make one with [New].
type Server struct {
	cfg   Config
	mux   *http.ServeMux
	files fs.FS
}

// New returns a server. It does no I/O.
func New(cfg Config) (*Server, error) {
	if cfg.Cookie == "" || cfg.NeedsKey == nil || cfg.Knows == nil || cfg.Who == nil {
		return nil, errors.New("console: every field of Config is required")
	}
	files, err := fs.Sub(built, "dist")
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, mux: http.NewServeMux(), files: files}
	for pattern, h := range s.routes() {
		s.mux.HandleFunc(pattern, h)
	}
	return s, nil
}

func (s *Server) routes() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"GET /{$}":              s.page,
		"GET /assets/{file...}": s.asset,
		"GET /favicon.ico": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/assets/icon.svg", http.StatusFound)
		},
		"GET /sessions":      s.session,
		"GET /sessions/{id}": s.session,
		"GET /signin":        s.visitor,
		"POST /signin":       s.signIn,
		"POST /signout":      s.signOut,
	}
}

// Patterns are the patterns under which the server is to be mounted.
func (s *Server) Patterns() []string {
	var all []string
	for pattern := range s.routes() {
		all = append(all, pattern)
	}
	return all
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	s.mux.ServeHTTP(w, r)
}

func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-cache")
	s.file(w, r, "index.html")
}

// asset serves a file of the page. Its name changes with its content, but for the icon's.
func (s *Server) asset(w http.ResponseWriter, r *http.Request) {
	name := "assets/" + r.PathValue("file") // a name with .. in it is none to embed
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	if strings.HasSuffix(name, ".svg") {
		w.Header().Set("Cache-Control", "public, max-age=3600")
	}
	s.file(w, r, name)
}

func (s *Server) file(w http.ResponseWriter, r *http.Request, name string) {
	data, err := fs.ReadFile(s.files, name)
	if err != nil {
		w.Header().Del("Cache-Control")
		http.NotFound(w, r)
		return
	}
	if strings.HasSuffix(name, ".js") || strings.HasSuffix(name, ".css") || strings.HasSuffix(name, ".html") {
		w.Header().Set("Vary", "Accept-Encoding")
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			w.Header().Set("Content-Encoding", "gzip")
			data = zipped(name, data)
		}
	}
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(data))
}

// session leads an address of a shared session into the page.
func (s *Server) session(w http.ResponseWriter, r *http.Request) {
	to := "/"
	if id := r.PathValue("id"); id != "" {
		to = "/#/room/" + url.PathEscape(id)
	}
	http.Redirect(w, r, to, http.StatusFound)
}

// visitor says whether a key is needed, and whose came with the request.
func (s *Server) visitor(w http.ResponseWriter, r *http.Request) {
	who := s.cfg.Who(r)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(map[string]any{"needed": s.cfg.NeedsKey(), "name": who.Name, "admin": who.Admin}) // who asked may have gone
}

// maxKey bounds the body of a sign-in in bytes.
const maxKey = 8 << 10

// signIn keeps a key in a cookie that no script reads and no other site's page sends along.
func (s *Server) signIn(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Key string `json:"key"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxKey)).Decode(&q); err != nil {
		http.Error(w, "the body cannot be read as JSON", http.StatusBadRequest)
		return
	}
	if !s.cfg.Knows(q.Key) {
		http.Error(w, "this key is not known", http.StatusUnauthorized)
		return
	}
	c := s.cookie(r)
	c.Value, c.MaxAge = q.Key, int((30 * 24 * time.Hour).Seconds())
	if c.Valid() != nil {
		http.Error(w, "this key cannot be kept in a cookie", http.StatusUnprocessableEntity)
		return
	}
	http.SetCookie(w, c)
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) signOut(w http.ResponseWriter, r *http.Request) {
	c := s.cookie(r)
	c.MaxAge = -1
	http.SetCookie(w, c)
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) cookie(r *http.Request) *http.Cookie {
	return &http.Cookie{Name: s.cfg.Cookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil}
}
