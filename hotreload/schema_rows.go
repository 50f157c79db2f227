package hotreload

import (
	"github.com/langrooms/langrooms/setting"

	"github.com/langrooms/langrooms/room"
)

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
)

var configRows = []row[Config]{
	{setting.Field{Key: "identity.name", Kind: setting.Text, Group: groupIdentity, Live: true, Check: checkLeadName,
		Help: "The lead's name, as it stands in a catch-up window; absent, or the name of a delegate, means `assistant`."}, func(c *Config) any { return &c.Identity.Name }},

	{setting.Field{Key: "lead.instructions", Kind: setting.Text, Group: groupIdentity, Live: true,
		Help: "What the lead is told about its part beside its task in the room; absent tells it nothing more. The demo's lead does not follow it."}, func(c *Config) any { return &c.Lead.Instructions }},
	{setting.Field{Key: "lead.history_max_tokens", Kind: setting.Whole, Default: room.DefaultHistoryTokens, Least: room.LeastHistoryTokens, Ceiling: room.MaxHistoryTokens, Knob: true, Unit: "tokens", Group: groupIdentity, Live: true,
		Help: "How much of a thread the lead's model is sent, estimated at a token for three bytes; at least 1000, and less means that. Older messages are summarized, or left out."}, func(c *Config) any { return &c.Lead.HistoryMaxTokens }},
	{setting.Field{Key: "lead.compact", Kind: setting.Choice, Choices: []string{CompactAuto, CompactOff}, Default: CompactAuto, Group: groupIdentity, Live: true,
		Help: "`auto` has the lead's model summarize the older messages of a thread that is near that bound, beside the turns; `off` only leaves them out. The demo's lead summarizes nothing."}, func(c *Config) any { return &c.Lead.Compact }},

	{setting.Field{Key: "model.provider", Kind: setting.Choice, Choices: []string{"demo", "openai"}, Default: "demo", Group: groupModel, Live: true,
		Help: "`demo` is offline and needs no key; `openai` is any endpoint that speaks the OpenAI chat protocol."}, func(c *Config) any { return &c.Model.Provider }},
	{setting.Field{Key: "model.url", Kind: setting.Text, Group: groupModel, Live: true, Check: setting.CheckBaseURL,
		Help: "The endpoint's base; absent means the provider's own."}, func(c *Config) any { return &c.Model.URL }},
	{setting.Field{Key: "model.model", Kind: setting.Text, Group: groupModel, Live: true,
		Help: "The model's name at the endpoint; needed with provider `openai`."}, func(c *Config) any { return &c.Model.Model }},
	{setting.Field{Key: "model.api_key", Kind: setting.SecretText, Group: groupModel, Live: true,
		Help: "The API key itself; better name a variable with `api_key_env`."}, func(c *Config) any { return &c.Model.APIKey }},
	{setting.Field{Key: "model.api_key_env", Kind: setting.Variable, Group: groupModel, Live: true,
		Help: "The environment variable that holds the API key; read at each use."}, func(c *Config) any { return &c.Model.APIKey }},
	{setting.Field{Key: "model.temperature", Kind: setting.Number, Ceiling: 2, Group: groupModel, Live: true,
		Help: "Absent leaves it to the provider."}, func(c *Config) any { return &c.Model.Temperature }},
	{setting.Field{Key: "model.max_tokens", Kind: setting.Whole, Least: 1, Ceiling: 1_000_000, Unit: "tokens", Group: groupModel, Live: true,
		Help: "The bound on one reply; absent leaves it to the provider."}, func(c *Config) any { return &c.Model.MaxTokens }},
	{setting.Field{Key: "model.timeout_s", Kind: setting.Seconds, Default: 120.0, Least: 0.001, Ceiling: setting.Day, Unit: "s", Group: groupModel, Live: true,
		Help: "The bound on one call."}, func(c *Config) any { return &c.Model.Timeout }},
	{setting.Field{Key: "model.cost.input_per_mtok", Kind: setting.Number, Ceiling: 1_000_000, Unit: "US dollars", Group: groupModel, Live: true,
		Help: "What a million tokens of a prompt cost at the endpoint; absent is unknown, and then the lead's answers have no cost."}, func(c *Config) any { return &c.Model.Cost.InputPerMTok }},
	{setting.Field{Key: "model.cost.output_per_mtok", Kind: setting.Number, Ceiling: 1_000_000, Unit: "US dollars", Group: groupModel, Live: true,
		Help: "What a million tokens of an answer cost."}, func(c *Config) any { return &c.Model.Cost.OutputPerMTok }},

	{setting.Field{Key: "checkpointer.url", Kind: setting.Text, Default: "sqlite:langrooms.db", Group: groupStore, Check: checkStoreURL,
		Help: "Where threads are kept: `memory:`, `sqlite:PATH`, `redis://…`, `rediss://…`, `redis+sentinel://…`, `redis+cluster://…`."}, func(c *Config) any { return &c.Checkpointer.URL }},
	{setting.Field{Key: "continuity", Kind: setting.Choice, Choices: []string{"memory", "durable"}, Default: "memory", Group: groupStore, Live: true,
		Help: "Where the peers' conversation ids and running tasks are kept: in the process, or with the thread, so that a restart carries on."}, func(c *Config) any { return &c.Continuity }},

	{setting.Field{Key: "room.catchup_max_messages", Kind: setting.Whole, Default: room.DefaultCatchupMessages, Ceiling: room.MaxCatchupMessages, Knob: true, Unit: "messages", Group: groupRoom, Live: true,
		Help: "How many messages an addressed participant is shown."}, func(c *Config) any { return &c.Room.CatchupMaxMessages }},
	{setting.Field{Key: "room.catchup_max_chars", Kind: setting.Whole, Default: room.DefaultCatchupChars, Ceiling: room.MaxCatchupChars, Knob: true, Unit: "characters", Group: groupRoom, Live: true,
		Help: "The size of what it is shown, in Unicode code points."}, func(c *Config) any { return &c.Room.CatchupMaxChars }},
	{setting.Field{Key: "room.max_rounds", Kind: setting.Whole, Default: room.DefaultRounds, Ceiling: room.MaxRounds, Knob: true, Unit: "rounds", Group: groupRoom, Live: true,
		Help: "How often the addressed members may speak in turn; 1 means that each answers once."}, func(c *Config) any { return &c.Room.MaxRounds }},
	{setting.Field{Key: "room.parallel", Kind: setting.Choice, Choices: []string{ParallelOff, ParallelFirst}, Default: ParallelOff, Group: groupRoom, Live: true,
		Help: "`first` asks the addressed members of the first round side by side, each without the others' answers; `off` asks one after the other."}, func(c *Config) any { return &c.Room.Parallel }},
	{setting.Field{Key: "room.max_cost_usd", Kind: setting.Number, Default: 0.0, Ceiling: 1_000_000, Unit: "US dollars", Group: groupRoom, Live: true,
		Help: "What one message of the operator's may cost: once its answers, the lead's too, have cost this much as far as that is known, no further member is asked. 0 means no bound."}, func(c *Config) any { return &c.Room.MaxCostUSD }},

	{setting.Field{Key: "delegates", Kind: setting.Entries, Group: groupRoster, Live: true,
		Help: "The roster: who can be addressed with `@name`, in this order."}, func(c *Config) any { return &c.Delegates }},

	{setting.Field{Key: "server.addr", Kind: setting.Text, Default: "127.0.0.1:8080", Group: groupServer, Check: checkAddr,
		Help: "The address to listen on, HOST:PORT, of `langrooms serve`."}, func(c *Config) any { return &c.Server.Addr }},
	{setting.Field{Key: "server.cors_origins", Kind: setting.List, Group: groupServer, Live: true,
		Help: "The web origins whose pages may call, beside those on loopback: `https://chat.example.com`. `*` is all of them, and counts only together with keys."}, func(c *Config) any { return &c.Server.CORSOrigins }},
	{setting.Field{Key: "server.keys", Kind: setting.Entries, Group: groupServer, Live: true,
		Help: "Who may call the server, and with which key."}, func(c *Config) any { return &c.Server.Keys }},

	{setting.Field{Key: "shared_sessions.enabled", Kind: setting.Bool, Default: true, Group: groupSessions, Live: true,
		Help: "Whether there are shared sessions on `langrooms serve` and `langrooms mcp`."}, func(c *Config) any { return &c.SharedSessions.Enabled }},
	{setting.Field{Key: "shared_sessions.defaults.max_messages", Kind: setting.Whole, Default: 60, Least: 1, Ceiling: 500, Unit: "messages", Group: groupSessions, Live: true,
		Help: "A session closes when it holds this many messages."}, func(c *Config) any { return &c.SharedSessions.Defaults.MaxMessages }},
	{setting.Field{Key: "shared_sessions.defaults.max_cost_usd", Kind: setting.Number, Default: 0.0, Ceiling: 1_000_000, Unit: "US dollars", Group: groupSessions, Live: true,
		Help: "A session closes when its turns have cost this much; 0 means no bound."}, func(c *Config) any { return &c.SharedSessions.Defaults.MaxCostUSD }},
	{setting.Field{Key: "shared_sessions.defaults.ttl_hours", Kind: setting.Whole, Default: 24, Ceiling: 168, Unit: "hours", Group: groupSessions, Live: true,
		Help: "A session closes this long after it was opened; 0 means never."}, func(c *Config) any { return &c.SharedSessions.Defaults.TTLHours }},
}
