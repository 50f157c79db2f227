package openaiagent

import (
	"time"

	"github.com/langrooms/langrooms/delegate/internal/httpx"
	"github.com/langrooms/langrooms/setting"
)

// Settings are what an entry of the configuration file says of an endpoint of type openai.
type Settings struct {
	// URL is the endpoint's base, Model the model's name there.
	URL, Model   string
	APIKey       setting.Secret
	SystemPrompt string
	// MaxTokens bounds one reply, by default 1024.
	MaxTokens int
	// Temperature is sent when it is set.
	Temperature *float64
	// Timeout bounds the silence, by default 60 s, and TotalTimeout one call, 600 s.
	Timeout, TotalTimeout time.Duration
	// Stream is nil, which means true, or what was asked for.
	Stream *bool
	// Params are further fields of each request. They may hold secrets.
	Params map[string]any
	// OwnReplies shows the member its own replies too.
	OwnReplies            bool
	KeyHeader, APIVersion string
	HTTP                  setting.HTTP
}

// Fields are the keys of such an entry, for setting.Register.
func Fields() []setting.Of[Settings] {
	return append([]setting.Of[Settings]{
		{Field: setting.Field{Key: "url", Kind: setting.Text, Required: true, Check: setting.CheckBaseURL,
			Help: "The endpoint's base. `demo:NAME` is a built-in demo peer."}, At: func(s *Settings) any { return &s.URL }},
		{Field: setting.Field{Key: "model", Kind: setting.Text, Required: true,
			Help: "The model's name at the endpoint."}, At: func(s *Settings) any { return &s.Model }},
		{Field: setting.Field{Key: "api_key", Kind: setting.SecretText,
			Help: "The API key itself; better name a variable with `api_key_env`."}, At: func(s *Settings) any { return &s.APIKey }},
		{Field: setting.Field{Key: "api_key_env", Kind: setting.Variable,
			Help: "The environment variable that holds the API key; read at each use."}, At: func(s *Settings) any { return &s.APIKey }},
		{Field: setting.Field{Key: "system_prompt", Kind: setting.Text,
			Help: "What the model is told before the room's message."}, At: func(s *Settings) any { return &s.SystemPrompt }},
		{Field: setting.Field{Key: "max_tokens", Kind: setting.Whole, Default: DefaultMaxTokens, Least: 1, Ceiling: 1_000_000, Unit: "tokens",
			Help: "The bound on one reply."}, At: func(s *Settings) any { return &s.MaxTokens }},
		{Field: setting.Field{Key: "temperature", Kind: setting.Number, Ceiling: 2,
			Help: "Absent sends none; 0 is sent as 0."}, At: func(s *Settings) any { return &s.Temperature }},
		{Field: setting.Field{Key: "timeout_s", Kind: setting.Seconds, Default: DefaultTimeout.Seconds(), Least: 0.001, Ceiling: setting.Day, Unit: "s",
			Help: "The longest silence: from the request to the first sign of life, and between two of them."}, At: func(s *Settings) any { return &s.Timeout }},
		{Field: setting.Field{Key: "total_timeout_s", Kind: setting.Seconds, Default: DefaultTotalTimeout.Seconds(), Least: 0.001, Ceiling: setting.Day, Unit: "s",
			Help: "The bound on one call, from its start to the end of the answer. What came by then is kept, marked as incomplete."}, At: func(s *Settings) any { return &s.TotalTimeout }},
		{Field: setting.Field{Key: "stream", Kind: setting.Bool,
			Help: "`false` asks for answers in one piece; `timeout_s` then bounds the whole answer."}, At: func(s *Settings) any { return &s.Stream }},
		{Field: setting.Field{Key: "params", Kind: setting.Values,
			Help: "Further fields of each request, by their names at the endpoint, such as `{top_p: 0.9, reasoning_effort: low}`; one that the endpoint refuses by name is left out."}, At: func(s *Settings) any { return &s.Params }},
		{Field: setting.Field{Key: "own_replies", Kind: setting.Bool,
			Help: "Shows the member its own replies too, as `[NAME (you)]`, from its newest on and within the same bounds; recommended for plain models, which remember nothing."}, At: func(s *Settings) any { return &s.OwnReplies }},
		{Field: setting.Field{Key: "key_header", Kind: setting.Text,
			Help: "The header that carries the API key as it is, such as `api-key`; absent means `Authorization: Bearer`."}, At: func(s *Settings) any { return &s.KeyHeader }},
		{Field: setting.Field{Key: "api_version", Kind: setting.Text,
			Help: "Sent as the query parameter `api-version`, which Azure's classic URLs (`…/openai/deployments/NAME`) want."}, At: func(s *Settings) any { return &s.APIVersion }},
	}, setting.HTTPFields(func(s *Settings) *setting.HTTP { return &s.HTTP })...)
}

// Problems is what is wrong with keys that do not go together.
func (s *Settings) Problems() []setting.Problem { return s.HTTP.Problems() }

// Config is the endpoint that an entry with these settings describes.
func (s Settings) Config(name, description string) Config {
	return Config{
		Name: name, Description: description, URL: s.URL, Model: s.Model, APIKey: s.APIKey.Resolve,
		SystemPrompt: s.SystemPrompt, MaxTokens: s.MaxTokens, Temperature: s.Temperature, Timeout: s.Timeout,
		TotalTimeout: s.TotalTimeout, Params: s.Params, Whole: s.Stream != nil && !*s.Stream, KeyHeader: s.KeyHeader,
		APIVersion: s.APIVersion, OwnReplies: s.OwnReplies, HTTP: httpx.Options(s.HTTP),
	}
}
