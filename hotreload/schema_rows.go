package hotreload

// The schema. Groups are the headings of a settings form; help texts are sentences of the
// reference page.

const (
	groupIdentity = "Identity"
	groupModel    = "Model"
	groupStore    = "Storage"
	groupRoom     = "Room"
	groupRoster   = "Delegates"
	groupServer   = "Server"
	groupSessions = "Shared sessions"

	day = 24 * 60 * 60
)

var configRows = []row[Config]{
	{Field{Key: "identity.name", Kind: KindText, Group: groupIdentity, Live: true, check: checkLeadName,
		Help: "The lead's name, as it stands in a catch-up window; absent, or the name of a delegate, means `assistant`."}, func(c *Config) any { return &c.Identity.Name }},

	{Field{Key: "model.provider", Kind: KindChoice, Choices: []string{"demo", "openai"}, Default: "demo", Group: groupModel, Live: true,
		Help: "`demo` is offline and needs no key; `openai` is any endpoint that speaks the OpenAI chat protocol."}, func(c *Config) any { return &c.Model.Provider }},
	{Field{Key: "model.url", Kind: KindText, Group: groupModel, Live: true, check: checkBaseURL,
		Help: "The endpoint's base; absent means the provider's own."}, func(c *Config) any { return &c.Model.URL }},
	{Field{Key: "model.model", Kind: KindText, Group: groupModel, Live: true,
		Help: "The model's name at the endpoint; needed with provider `openai`."}, func(c *Config) any { return &c.Model.Model }},
	{Field{Key: "model.api_key", Kind: KindSecret, Group: groupModel, Live: true,
		Help: "The API key itself; better name a variable with `api_key_env`."}, func(c *Config) any { return &c.Model.APIKey }},
	{Field{Key: "model.api_key_env", Kind: KindVariable, Group: groupModel, Live: true,
		Help: "The environment variable that holds the API key; read at each use."}, func(c *Config) any { return &c.Model.APIKey }},
	{Field{Key: "model.temperature", Kind: KindNumber, Ceiling: 2, Group: groupModel, Live: true,
		Help: "Absent leaves it to the provider."}, func(c *Config) any { return &c.Model.Temperature }},
	{Field{Key: "model.max_tokens", Kind: KindWhole, Least: 1, Ceiling: 1_000_000, Unit: "tokens", Group: groupModel, Live: true,
		Help: "The bound on one reply; absent leaves it to the provider."}, func(c *Config) any { return &c.Model.MaxTokens }},
	{Field{Key: "model.timeout_s", Kind: KindSeconds, Default: 120.0, Least: 0.001, Ceiling: day, Unit: "s", Group: groupModel, Live: true,
		Help: "The bound on one call."}, func(c *Config) any { return &c.Model.Timeout }},

	{Field{Key: "checkpointer.url", Kind: KindText, Default: "sqlite:langrooms.db", Group: groupStore, check: checkStoreURL,
		Help: "Where threads are kept: `memory:`, `sqlite:PATH`, `redis://…`, `rediss://…`, `redis+sentinel://…`, `redis+cluster://…`."}, func(c *Config) any { return &c.Checkpointer.URL }},
	{Field{Key: "continuity", Kind: KindChoice, Choices: []string{"memory", "durable"}, Default: "memory", Group: groupStore, Live: true,
		Help: "Where the peers' conversation ids and running tasks are kept: in the process, or with the thread, so that a restart carries on."}, func(c *Config) any { return &c.Continuity }},

	{Field{Key: "room.catchup_max_messages", Kind: KindWhole, Default: 40, Ceiling: 500, Knob: true, Unit: "messages", Group: groupRoom, Live: true,
		Help: "How many messages an addressed participant is shown."}, func(c *Config) any { return &c.Room.CatchupMaxMessages }},
	{Field{Key: "room.catchup_max_chars", Kind: KindWhole, Default: 8000, Ceiling: 200_000, Knob: true, Unit: "characters", Group: groupRoom, Live: true,
		Help: "The size of what it is shown, in Unicode code points."}, func(c *Config) any { return &c.Room.CatchupMaxChars }},
	{Field{Key: "room.max_rounds", Kind: KindWhole, Default: 3, Ceiling: 10, Knob: true, Unit: "rounds", Group: groupRoom, Live: true,
		Help: "How often the addressed members may speak in turn; 1 means that each answers once."}, func(c *Config) any { return &c.Room.MaxRounds }},

	{Field{Key: "delegates", Kind: KindEntries, Group: groupRoster, Live: true,
		Help: "The roster: who can be addressed with `@name`, in this order."}, func(c *Config) any { return &c.Delegates }},

	{Field{Key: "server.addr", Kind: KindText, Default: "127.0.0.1:8080", Group: groupServer, check: checkAddr,
		Help: "The address to listen on, HOST:PORT, of `langrooms serve`."}, func(c *Config) any { return &c.Server.Addr }},
	{Field{Key: "server.cors_origins", Kind: KindList, Group: groupServer, Live: true,
		Help: "The web origins whose pages may call, beside those on loopback: `https://chat.example.com`. `*` is all of them, and counts only together with keys."}, func(c *Config) any { return &c.Server.CORSOrigins }},
	{Field{Key: "server.keys", Kind: KindEntries, Group: groupServer, Live: true,
		Help: "Who may call the server, and with which key."}, func(c *Config) any { return &c.Server.Keys }},

	{Field{Key: "shared_sessions.enabled", Kind: KindBool, Default: true, Group: groupSessions, Live: true,
		Help: "Whether there are shared sessions on `langrooms serve` and `langrooms mcp`."}, func(c *Config) any { return &c.SharedSessions.Enabled }},
	{Field{Key: "shared_sessions.defaults.max_messages", Kind: KindWhole, Default: 60, Least: 1, Ceiling: 500, Unit: "messages", Group: groupSessions, Live: true,
		Help: "A session closes when it holds this many messages."}, func(c *Config) any { return &c.SharedSessions.Defaults.MaxMessages }},
	{Field{Key: "shared_sessions.defaults.max_cost_usd", Kind: KindNumber, Default: 0.0, Ceiling: 1_000_000, Unit: "US dollars", Group: groupSessions, Live: true,
		Help: "A session closes when its turns have cost this much; 0 means no bound."}, func(c *Config) any { return &c.SharedSessions.Defaults.MaxCostUSD }},
	{Field{Key: "shared_sessions.defaults.ttl_hours", Kind: KindWhole, Default: 24, Ceiling: 168, Unit: "hours", Group: groupSessions, Live: true,
		Help: "A session closes this long after it was opened; 0 means never."}, func(c *Config) any { return &c.SharedSessions.Defaults.TTLHours }},
}
