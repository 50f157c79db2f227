package a2aagent

import (
	"time"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/delegate/internal/httpx"
	"github.com/langrooms/langrooms/setting"
)

// Settings are what an entry of the configuration file says of a peer of type a2a.
type Settings struct {
	// URL is the endpoint, the agent's address or its card's.
	URL string
	// CardURL is where the agent card is, and Binding what is spoken: "JSONRPC", "HTTP+JSON"
	// or "", what the card says.
	CardURL, Binding string
	// Auth is what the peer is shown.
	Auth Auth
	HTTP setting.HTTP
	// PollTimeout is the bound without observable progress, by default 300 s.
	PollTimeout time.Duration
}

// Auth is the credential shown to a peer.
type Auth struct {
	// Scheme is empty (the agent card decides), "bearer", "apiKey" or "oauth2".
	Scheme string
	// Credential is the token or key; of oauth2 the client's secret.
	Credential setting.Secret
	// ClientID, TokenURL and Scopes are oauth2's.
	ClientID, TokenURL string
	Scopes             []string
}

// Fields are the keys of such an entry, for setting.Register.
func Fields() []setting.Of[Settings] {
	return append([]setting.Of[Settings]{
		{Field: setting.Field{Key: "url", Kind: setting.Text, Required: true, Check: setting.CheckURL,
			Help: "The endpoint, the agent's address, or its agent card's. The card is looked for below it, then at its origin. `demo:NAME` is a built-in demo peer."}, At: func(s *Settings) any { return &s.URL }},
		{Field: setting.Field{Key: "card_url", Kind: setting.Text, Check: setting.CheckURL,
			Help: "Where the agent card is, when it is not found by itself; it must lie at the origin of `url`."}, At: func(s *Settings) any { return &s.CardURL }},
		{Field: setting.Field{Key: "binding", Kind: setting.Choice, Choices: []string{"", "JSONRPC", "HTTP+JSON"}, Default: "",
			Help: "The binding to speak; empty takes what the agent card offers."}, At: func(s *Settings) any { return &s.Binding }},
		{Field: setting.Field{Key: "auth.scheme", Kind: setting.Choice, Choices: []string{"", SchemeBearer, SchemeAPIKey, SchemeOAuth2}, Default: "",
			Help: "How the credential is sent: `bearer`, `apiKey` in the header, query or cookie that the agent card names (else `X-API-Key`), `oauth2` as client credentials for a token; empty leaves it to the card, else `bearer`."}, At: func(s *Settings) any { return &s.Auth.Scheme }},
		{Field: setting.Field{Key: "auth.token", Kind: setting.SecretText,
			Help: "The credential itself (of `oauth2` the client's secret); better name a variable with `credentialsEnv`."}, At: func(s *Settings) any { return &s.Auth.Credential }},
		{Field: setting.Field{Key: "auth.credentialsEnv", Kind: setting.Variable,
			Help: "The environment variable that holds the credential; read at each use."}, At: func(s *Settings) any { return &s.Auth.Credential }},
		{Field: setting.Field{Key: "auth.client_id", Kind: setting.Text,
			Help: "The client's id (`oauth2`)."}, At: func(s *Settings) any { return &s.Auth.ClientID }},
		{Field: setting.Field{Key: "auth.token_url", Kind: setting.Text, Check: setting.CheckURL,
			Help: "Where tokens are issued (`oauth2`); absent takes the agent card's, when it lies at the origin of `url`."}, At: func(s *Settings) any { return &s.Auth.TokenURL }},
		{Field: setting.Field{Key: "auth.scopes", Kind: setting.List,
			Help: "The scopes to ask for (`oauth2`); absent takes those that the agent card requires."}, At: func(s *Settings) any { return &s.Auth.Scopes }},
		{Field: setting.Field{Key: "poll_timeout_s", Kind: setting.Seconds, Default: DefaultPollTimeout.Seconds(), Least: 0.001, Ceiling: 7 * setting.Day, Unit: "s",
			Help: "How long the peer may work without observable progress."}, At: func(s *Settings) any { return &s.PollTimeout }},
	}, setting.HTTPFields(func(s *Settings) *setting.HTTP { return &s.HTTP })...)
}

// Problems is what is wrong with keys that do not go together.
func (s *Settings) Problems() []setting.Problem {
	var problems []setting.Problem
	wrong := func(text string, warning bool) {
		problems = append(problems, setting.Problem{Key: "auth", Text: text, Warning: warning})
	}
	switch a := s.Auth; {
	case a.Scheme != "" && a.Credential.IsZero():
		wrong("auth.scheme is "+a.Scheme+" and there is no token or credentialsEnv", false)
	case a.Scheme == "" && !a.Credential.IsZero():
		wrong("auth.scheme is empty, so the agent card decides how the credential is sent, else it is a bearer token", true)
	}
	switch a := s.Auth; {
	case a.Scheme == SchemeOAuth2 && a.ClientID == "":
		wrong("auth.scheme is oauth2 and there is no client_id", false)
	case a.Scheme != SchemeOAuth2 && (a.ClientID != "" || a.TokenURL != "" || a.Scopes != nil):
		wrong("auth.client_id, token_url and scopes have no effect without scheme oauth2", true)
	}
	return append(problems, s.HTTP.Problems()...)
}

// Config is the peer that an entry with these settings describes.
func (s Settings) Config(name, description string, remembers delegate.Continuity) Config {
	c := Config{
		Name: name, Description: description, URL: s.URL, Scheme: s.Auth.Scheme,
		CardURL: s.CardURL, Binding: s.Binding, ClientID: s.Auth.ClientID, TokenURL: s.Auth.TokenURL, Scopes: s.Auth.Scopes,
		HTTP: httpx.Options(s.HTTP), PollTimeout: s.PollTimeout, Continuity: remembers,
	}
	if !s.Auth.Credential.IsZero() {
		c.Token = s.Auth.Credential.Resolve
	}
	return c
}
