package a2aagent

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/textproto"
	"slices"
	"strings"

	"github.com/langrooms/langrooms/delegate"
)

// securityScheme is one way to show a credential, in the shape of either version: 0.3 is
// OpenAPI's, with a type; 1.0 has a field for each type.
type securityScheme struct {
	Type string
	apiKeyScheme
	Scheme string // of type http
	Flows  oauthFlows

	APIKey *apiKeyScheme               `json:"apiKeySecurityScheme"`
	HTTP   *struct{ Scheme string }    `json:"httpAuthSecurityScheme"`
	OAuth2 *struct{ Flows oauthFlows } `json:"oauth2SecurityScheme"`
	OpenID *struct{}                   `json:"openIdConnectSecurityScheme"`
	MTLS   *struct{}                   `json:"mtlsSecurityScheme"`
}

type apiKeyScheme struct{ In, Location, Name string }

type oauthFlows struct {
	ClientCredentials *struct {
		TokenURL string
		Scopes   map[string]string
	}
}

// The kinds of a [need].
const (
	needAPIKey = "apiKey"
	needBearer = "bearer" // a token of whatever origin
	needOAuth2 = "oauth2" // likewise, and client credentials can get one
	needMTLS   = "mutualTLS"
	needOther  = "other"
)

// need is one credential that an agent card asks for.
type need struct {
	kind     string
	in, name string // of an API key
	tokenURL string // of OAuth2 client credentials
	scopes   []string
	shown    string // of another kind
}

// security is what a card says of credentials: each of options is enough, and each needs
// all that it lists. No options means that none is asked for.
type security struct{ options [][]need }

// readSecurity reads the requirements of a card. What it cannot read asks for nothing: the
// peer says at the latest itself what it misses.
func (w *wireCard) readSecurity() security {
	var required []map[string][]string
	for _, r := range w.SecurityRequirements {
		one := make(map[string][]string)
		for name, raw := range r.Schemes {
			var list struct{ List []string }
			var scopes []string
			if loose(raw, &scopes) != nil || scopes == nil {
				_ = loose(raw, &list)
				scopes = list.List
			}
			one[name] = scopes
		}
		required = append(required, one)
	}
	required = append(required, w.Security...)
	var all security
	for _, one := range required {
		var option []need
		for _, name := range slices.Sorted(maps.Keys(one)) {
			if scheme, ok := w.SecuritySchemes[name]; ok {
				option = append(option, scheme.need(one[name]))
			}
		}
		if len(option) == 0 {
			return security{}
		}
		all.options = append(all.options, option)
	}
	return all
}

func (s securityScheme) need(scopes []string) need {
	key := s.apiKeyScheme
	if s.APIKey != nil {
		key = *s.APIKey
	}
	flows, scheme := s.Flows, s.Scheme
	if s.OAuth2 != nil {
		flows = s.OAuth2.Flows
	}
	if s.HTTP != nil {
		scheme = s.HTTP.Scheme
	}
	switch {
	case s.APIKey != nil || s.Type == "apiKey":
		n := need{kind: needAPIKey, in: strings.ToLower(first(key.Location, key.In)), name: key.Name}
		if !n.usable() {
			return need{kind: needOther, shown: "an API key in a place that cannot be used"}
		}
		return n
	case (s.HTTP != nil || s.Type == "http") && strings.EqualFold(scheme, "bearer"):
		return need{kind: needBearer}
	case s.OAuth2 != nil || s.Type == "oauth2":
		n := need{kind: needOAuth2, scopes: scopes}
		if flows.ClientCredentials != nil {
			n.tokenURL = flows.ClientCredentials.TokenURL
		}
		return n
	case s.OpenID != nil || s.Type == "openIdConnect":
		return need{kind: needBearer}
	case s.MTLS != nil || s.Type == "mutualTLS":
		return need{kind: needMTLS}
	}
	return need{kind: needOther, shown: delegate.OneLine("the scheme "+first(scheme, s.Type, "that it does not name"), 60)}
}

// taken are the headers that requests carry anyway, and those that change what a request is.
var taken = []string{"Host", "Accept", "Connection", "Content-Length", "Content-Type", "Transfer-Encoding", "Te",
	"Trailer", "Upgrade", "Cookie", "A2a-Version", "A2a-Extensions"}

// usable reports whether an API key can be put where a card wants it.
func (n need) usable() bool {
	if n.name == "" || len(n.name) > 100 || strings.ContainsFunc(n.name, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}&#`, r)
	}) {
		return false
	}
	switch n.in {
	case "header":
		return !slices.Contains(taken, textproto.CanonicalMIMEHeaderKey(n.name))
	case "query", "cookie":
		return true
	}
	return false
}

// String says what is asked for, for people.
func (n need) String() string {
	switch n.kind {
	case needAPIKey:
		return fmt.Sprintf("an API key in the %s %s", n.in, n.name)
	case needBearer:
		return "a bearer token"
	case needOAuth2:
		return "an OAuth2 token"
	case needMTLS:
		return "a client certificate"
	}
	return n.shown
}

func (s security) String() string {
	var options []string
	for _, option := range s.options {
		var all []string
		for _, n := range option {
			all = append(all, n.String())
		}
		options = append(options, strings.Join(all, " and "))
	}
	return strings.Join(options, ", or ")
}

// find returns the first need of one of the kinds.
func (s security) find(kinds ...string) (need, bool) {
	for _, option := range s.options {
		for _, n := range option {
			if slices.Contains(kinds, n.kind) {
				return n, true
			}
		}
	}
	return need{}, false
}

// place is where the credential goes: what the configuration says and, where it leaves that
// open, what the card asks for.
func (s security) place(scheme string) need {
	kinds := []string{needAPIKey, needBearer, needOAuth2}
	switch scheme {
	case SchemeBearer, SchemeOAuth2:
		return need{kind: needBearer}
	case SchemeAPIKey:
		kinds = kinds[:1]
	}
	n, found := s.find(kinds...)
	switch {
	case found && n.kind == needAPIKey:
		return n
	case scheme == SchemeAPIKey:
		return need{kind: needAPIKey, in: "header", name: "X-API-Key"}
	}
	return need{kind: needBearer}
}

// put puts the credential on a request.
func (n need) put(req *http.Request, token string) {
	switch {
	case n.kind != needAPIKey:
		req.Header.Set("Authorization", "Bearer "+token)
	case n.in == "query":
		u := *req.URL
		q := u.Query()
		q.Set(n.name, token)
		u.RawQuery = q.Encode()
		req.URL = &u
	case n.in == "cookie":
		req.AddCookie(&http.Cookie{Name: n.name, Value: token})
	default:
		req.Header.Set(n.name, token)
	}
}

// met returns why what is configured is not what a card asks for; nil when it is.
func (s *session) met(asked security) error {
	if len(asked.options) == 0 {
		return nil
	}
	for _, option := range asked.options {
		if !slices.ContainsFunc(option, func(n need) bool { return !s.has(n, asked) }) {
			return nil
		}
	}
	if s.secret == "" {
		return fmt.Errorf("it asks for %s, and no credential is configured for it; set auth.scheme and auth.credentialsEnv", asked)
	}
	how := "auth.scheme is " + s.cfg.Scheme
	if s.cfg.Scheme == "" {
		how = "what is configured is none of that"
	}
	return fmt.Errorf("it asks for %s, and %s; set auth.scheme as it asks", asked, how)
}

// has reports whether what is configured serves n.
func (s *session) has(n need, asked security) bool {
	token := s.secret != ""
	for name := range s.cfg.HTTP.Headers {
		if n.kind == needAPIKey && n.in == "header" && strings.EqualFold(name, n.name) ||
			n.kind != needAPIKey && n.kind != needMTLS && strings.EqualFold(name, "Authorization") {
			return true
		}
	}
	switch n.kind {
	case needAPIKey:
		at := asked.place(s.cfg.Scheme)
		return token && at.kind == needAPIKey && at.in == n.in && at.name == n.name
	case needBearer, needOAuth2:
		return token && s.cfg.Scheme != SchemeAPIKey
	case needMTLS:
		return s.cfg.HTTP.CertFile != "" || s.cfg.HTTPClient != nil
	}
	return false
}

var errNoTokenURL = errors.New("auth.token_url is not set, and its agent card names none at the origin of url")

// tokenAnswer is what a token endpoint answers (RFC 6749, 5.1 and 5.2).
type tokenAnswer struct {
	AccessToken string      `json:"access_token"`
	TokenType   string      `json:"token_type"`
	ExpiresIn   json.Number `json:"expires_in"`
	Error       string      `json:"error"`
	Description string      `json:"error_description"`
}
