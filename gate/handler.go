package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/langrooms/langrooms"
)

// open are the paths that need no key.
var open = []string{"/ok", "/info", "/healthz", "/readyz", "/.well-known/agent-card.json", "/.well-known/agent.json", "/signin", "/", "/favicon.ico", "/sessions"}

// openFolders hold what needs no key: the console's own files.
var openFolders = []string{"/assets/", "/sessions/"}

func isOpen(path string) bool {
	if slices.Contains(open, path) {
		return true
	}
	return slices.ContainsFunc(openFolders, func(p string) bool { return strings.HasPrefix(path, p) })
}

// exposed are the headers that scripts of other origins may read.
const exposed = "Content-Location, Location, X-Pagination-Total, X-Pagination-Next, X-Request-Id, Retry-After, Idempotency-Replayed"

// RequestID is the header that names a request in answers and logs.
const RequestID = "X-Request-Id"

// Handler lets through to next what may pass, with the identity in the request's context.
func (g *Gate) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := langrooms.NewID()
		w.Header().Set(RequestID, id)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		r = r.WithContext(context.WithValue(r.Context(), requestKey{}, id))
		if !g.hostAllowed(r.Host) {
			Refuse(w, r, http.StatusMisdirectedRequest, "wrong_host", fmt.Sprintf("this server is not %q", clip(r.Host)))
			return
		}
		origin := r.Header.Get("Origin")
		allowed := origin == "" || g.originAllowed(origin, r.Host)
		if allowed && origin != "" {
			g.allow(w, r, origin)
		}
		if r.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		if !allowed {
			Refuse(w, r, http.StatusForbidden, "forbidden_origin", fmt.Sprintf("pages of %s may not call this server; see server.cors_origins", clip(origin)))
			return
		}
		if r.ContentLength > g.cfg.MaxBody {
			Refuse(w, r, http.StatusRequestEntityTooLarge, "body_too_large", fmt.Sprintf("the body is larger than %d bytes", g.cfg.MaxBody))
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, g.cfg.MaxBody)
		g.identified(w, r, next)
	})
}

// identified goes on with who asks.
func (g *Gate) identified(w http.ResponseWriter, r *http.Request, next http.Handler) {
	who, known := g.who(r)
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	free := isOpen(r.URL.Path) && reads
	if !known {
		who = stranger(r)
	}
	if known || !free {
		if wait := g.limits.wait(who, reads); wait > 0 {
			w.Header().Set("Retry-After", fmt.Sprint(int(wait.Seconds())+1))
			Refuse(w, r, http.StatusTooManyRequests, "too_many_requests", "too many requests; see Retry-After")
			return
		}
	}
	switch {
	case known:
		r = r.WithContext(WithIdentity(r.Context(), who))
	case !isOpen(r.URL.Path):
		w.Header().Set("WWW-Authenticate", `Bearer realm="langrooms"`)
		Refuse(w, r, http.StatusUnauthorized, "unauthorized", "a key is needed: send it as Authorization: Bearer KEY or X-Api-Key: KEY")
		return
	}
	next.ServeHTTP(w, r)
}

// stranger stands for all who ask from one address without a key or with a wrong one: who tries
// keys out is slowed down like everybody else.
func stranger(r *http.Request) Identity {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	return Identity{Name: host}
}

// who says whose request it is. Where there are no keys, it is the operator's unless it brings
// one of the program's own.
func (g *Gate) who(r *http.Request) (Identity, bool) {
	key, cookie := credential(r)
	if len(g.cfg.Keys()) == 0 {
		if who, ok := g.Identify(key); ok {
			return who, true
		}
		return Operator, true
	}
	if cookie && r.Method != http.MethodGet && r.Method != http.MethodHead && !sameOrigin(r) {
		return Identity{}, false // another site's page sends our cookie along
	}
	return g.Identify(key)
}

// sameOrigin reports whether a request comes from this server's own page.
func sameOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin"
	}
	u, err := url.Parse(r.Header.Get("Origin"))
	return err == nil && u.Host == r.Host
}

// hostAllowed guards a server on loopback against names that a stranger's page points at it.
func (g *Gate) hostAllowed(host string) bool {
	if !loopback(g.cfg.Addr) {
		return true
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return loopback(host)
}

// originAllowed reports whether pages of an origin may call: the server's own, those on
// loopback, and those that are configured.
func (g *Gate) originAllowed(origin, host string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return false
	}
	if u.Host == host || loopback(u.Host) {
		return true
	}
	origins := g.cfg.Origins()
	return slices.Contains(origins, origin) || slices.Contains(origins, "*") && len(g.cfg.Keys()) > 0
}

// allow answers what a browser asks before and after a call of another origin.
func (g *Gate) allow(w http.ResponseWriter, r *http.Request, origin string) {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Expose-Headers", exposed)
	if r.Method != http.MethodOptions {
		return
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE")
	if asked := r.Header.Get("Access-Control-Request-Headers"); asked != "" {
		h.Set("Access-Control-Allow-Headers", asked)
	}
	if r.Header.Get("Access-Control-Request-Private-Network") == "true" {
		h.Set("Access-Control-Allow-Private-Network", "true")
	}
	h.Set("Access-Control-Max-Age", "600")
}

// Refuse answers with an error: under /api and /mcp with a code and words, elsewhere in the
// shape of LangGraph's server.
func Refuse(w http.ResponseWriter, r *http.Request, status int, code, words string) {
	var body any = map[string]string{"detail": words}
	if strings.HasPrefix(r.URL.Path, "/api/") || r.URL.Path == "/mcp" {
		body = map[string]any{"detail": map[string]string{"code": code, "message": words}}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // who asked may have gone
}

type requestKey struct{}

// RequestIDOf returns the id of the request that ctx belongs to, or "".
func RequestIDOf(ctx context.Context) string {
	id, _ := ctx.Value(requestKey{}).(string)
	return id
}

// clip bounds what a stranger sent before it is shown to it again.
func clip(text string) string {
	if len(text) > 100 {
		text = text[:100] + "…"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
