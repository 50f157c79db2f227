package hotreload

import (
	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/internal/names"
)

const (
	typeA2A    = "a2a"
	typeOpenAI = "openai"
	typeACP    = "acp"
)

// toolKinds are those of the Agent Client Protocol's ToolKind.
var toolKinds = []string{"read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"}

var (
	a2aOnly    = []string{typeA2A}
	openaiOnly = []string{typeOpenAI}
	acpOnly    = []string{typeACP}
	overHTTP   = []string{typeA2A, typeOpenAI}
)

// moduleRows describes one entry of delegates, of the types of this module (spec: rooms, section 6).
var moduleRows = []row[Delegate]{
	{Field{Key: "name", Kind: KindText, Required: true, check: names.CheckName,
		Help: "How it is addressed: one run without white space or `@`, none of `operator`, `assistant`, `lead`, `room`, `system`."}, func(d *Delegate) any { return &d.Name }},
	{Field{Key: "type", Kind: KindChoice, Required: true, Choices: []string{typeA2A, typeOpenAI, typeACP},
		Help: "The protocol it speaks."}, func(d *Delegate) any { return &d.Type }},
	{Field{Key: "description", Kind: KindText,
		Help: "What it is good for; the lead reads it."}, func(d *Delegate) any { return &d.Description }},
	{Field{Key: "cost.input_per_mtok", Kind: KindNumber, Ceiling: 1_000_000, Unit: "US dollars",
		Help: "What a million tokens of a prompt cost, for the budgets of shared sessions; absent is unknown."}, func(d *Delegate) any { return &d.Cost.InputPerMTok }},
	{Field{Key: "cost.output_per_mtok", Kind: KindNumber, Ceiling: 1_000_000, Unit: "US dollars",
		Help: "What a million tokens of a reply cost."}, func(d *Delegate) any { return &d.Cost.OutputPerMTok }},

	{Field{Key: "url", Kind: KindText, Types: a2aOnly, Required: true, check: checkURL,
		Help: "The endpoint, the agent's address, or its agent card's. The card is looked for below it, then at its origin. `demo:NAME` is a built-in demo peer."}, func(d *Delegate) any { return &d.URL }},
	{Field{Key: "card_url", Kind: KindText, Types: a2aOnly, check: checkURL,
		Help: "Where the agent card is, when it is not found by itself; it must lie at the origin of `url`."}, func(d *Delegate) any { return &d.CardURL }},
	{Field{Key: "binding", Kind: KindChoice, Types: a2aOnly, Choices: []string{"", "JSONRPC", "HTTP+JSON"}, Default: "",
		Help: "The binding to speak; empty takes what the agent card offers."}, func(d *Delegate) any { return &d.Binding }},
	{Field{Key: "auth.scheme", Kind: KindChoice, Types: a2aOnly, Choices: []string{"", "bearer", "apiKey", "oauth2"}, Default: "",
		Help: "How the credential is sent: `bearer`, `apiKey` in the header, query or cookie that the agent card names (else `X-API-Key`), `oauth2` as client credentials for a token; empty leaves it to the card, else `bearer`."}, func(d *Delegate) any { return &d.Auth.Scheme }},
	{Field{Key: "auth.token", Kind: KindSecret, Types: a2aOnly,
		Help: "The credential itself (of `oauth2` the client's secret); better name a variable with `credentialsEnv`."}, func(d *Delegate) any { return &d.Auth.Credential }},
	{Field{Key: "auth.credentialsEnv", Kind: KindVariable, Types: a2aOnly,
		Help: "The environment variable that holds the credential; read at each use."}, func(d *Delegate) any { return &d.Auth.Credential }},
	{Field{Key: "auth.client_id", Kind: KindText, Types: a2aOnly,
		Help: "The client's id (`oauth2`)."}, func(d *Delegate) any { return &d.Auth.ClientID }},
	{Field{Key: "auth.token_url", Kind: KindText, Types: a2aOnly, check: checkURL,
		Help: "Where tokens are issued (`oauth2`); absent takes the agent card's, when it lies at the origin of `url`."}, func(d *Delegate) any { return &d.Auth.TokenURL }},
	{Field{Key: "auth.scopes", Kind: KindList, Types: a2aOnly,
		Help: "The scopes to ask for (`oauth2`); absent takes those that the agent card requires."}, func(d *Delegate) any { return &d.Auth.Scopes }},
	{Field{Key: "poll_timeout_s", Kind: KindSeconds, Types: a2aOnly, Default: 300.0, Least: 0.001, Ceiling: 7 * day, Unit: "s",
		Help: "How long the peer may work without observable progress."}, func(d *Delegate) any { return &d.PollTimeout }},

	{Field{Key: "url", Kind: KindText, Types: openaiOnly, Required: true, check: checkBaseURL,
		Help: "The endpoint's base. `demo:NAME` is a built-in demo peer."}, func(d *Delegate) any { return &d.URL }},
	{Field{Key: "model", Kind: KindText, Types: openaiOnly, Required: true,
		Help: "The model's name at the endpoint."}, func(d *Delegate) any { return &d.Model }},
	{Field{Key: "api_key", Kind: KindSecret, Types: openaiOnly,
		Help: "The API key itself; better name a variable with `api_key_env`."}, func(d *Delegate) any { return &d.APIKey }},
	{Field{Key: "api_key_env", Kind: KindVariable, Types: openaiOnly,
		Help: "The environment variable that holds the API key; read at each use."}, func(d *Delegate) any { return &d.APIKey }},
	{Field{Key: "system_prompt", Kind: KindText, Types: openaiOnly,
		Help: "What the model is told before the room's message."}, func(d *Delegate) any { return &d.SystemPrompt }},
	{Field{Key: "max_tokens", Kind: KindWhole, Types: openaiOnly, Default: 1024, Least: 1, Ceiling: 1_000_000, Unit: "tokens",
		Help: "The bound on one reply."}, func(d *Delegate) any { return &d.MaxTokens }},
	{Field{Key: "temperature", Kind: KindNumber, Types: openaiOnly, Ceiling: 2,
		Help: "Absent sends none; 0 is sent as 0."}, func(d *Delegate) any { return &d.Temperature }},
	{Field{Key: "timeout_s", Kind: KindSeconds, Types: openaiOnly, Default: 60.0, Least: 0.001, Ceiling: day, Unit: "s",
		Help: "The longest silence: from the request to the first sign of life, and between two of them."}, func(d *Delegate) any { return &d.Timeout }},
	{Field{Key: "total_timeout_s", Kind: KindSeconds, Types: openaiOnly, Default: 600.0, Least: 0.001, Ceiling: day, Unit: "s",
		Help: "The bound on one call, from its start to the end of the answer. What came by then is kept, marked as incomplete."}, func(d *Delegate) any { return &d.TotalTimeout }},
	{Field{Key: "stream", Kind: KindBool, Types: openaiOnly,
		Help: "`false` asks for answers in one piece; `timeout_s` then bounds the whole answer."}, func(d *Delegate) any { return &d.Stream }},
	{Field{Key: "params", Kind: KindValues, Types: openaiOnly,
		Help: "Further fields of each request, by their names at the endpoint, such as `{top_p: 0.9, reasoning_effort: low}`; one that the endpoint refuses by name is left out."}, func(d *Delegate) any { return &d.Params }},
	{Field{Key: "own_replies", Kind: KindBool, Types: openaiOnly,
		Help: "Shows the member its own replies too, as `[NAME (you)]`, from its newest on and within the same bounds; recommended for plain models, which remember nothing."}, func(d *Delegate) any { return &d.OwnReplies }},
	{Field{Key: "key_header", Kind: KindText, Types: openaiOnly,
		Help: "The header that carries the API key as it is, such as `api-key`; absent means `Authorization: Bearer`."}, func(d *Delegate) any { return &d.KeyHeader }},
	{Field{Key: "api_version", Kind: KindText, Types: openaiOnly,
		Help: "Sent as the query parameter `api-version`, which Azure's classic URLs (`…/openai/deployments/NAME`) want."}, func(d *Delegate) any { return &d.APIVersion }},

	{Field{Key: "headers", Kind: KindMap, Types: overHTTP, check: checkHeader,
		Help: "Headers set on every request to the peer; what is secret goes into `headers_env`."}, func(d *Delegate) any { return &d.HTTP.Headers }},
	{Field{Key: "headers_env", Kind: KindMap, Types: overHTTP, check: checkHeader,
		Help: "Headers whose values are in environment variables: the header's name and the variable's; read at each use."}, func(d *Delegate) any { return &d.HTTP.HeadersEnv }},
	{Field{Key: "ca_file", Kind: KindText, Types: overHTTP,
		Help: "A PEM file of certificates that are trusted beside the system's."}, func(d *Delegate) any { return &d.HTTP.CAFile }},
	{Field{Key: "cert_file", Kind: KindText, Types: overHTTP,
		Help: "The PEM file of a client certificate."}, func(d *Delegate) any { return &d.HTTP.CertFile }},
	{Field{Key: "key_file", Kind: KindText, Types: overHTTP,
		Help: "The PEM file of its key."}, func(d *Delegate) any { return &d.HTTP.KeyFile }},
	{Field{Key: "proxy", Kind: KindSecret, Types: overHTTP,
		Help: "The URL of a proxy; absent means the environment's (`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`). One that holds a password is better named by `proxy_env`."}, func(d *Delegate) any { return &d.HTTP.Proxy }},
	{Field{Key: "proxy_env", Kind: KindVariable, Types: overHTTP,
		Help: "The environment variable that holds the proxy's URL."}, func(d *Delegate) any { return &d.HTTP.Proxy }},
	{Field{Key: "retries", Kind: KindWhole, Types: overHTTP, Default: 1, Ceiling: 5, Unit: "times",
		Help: "How often a request is tried again after 429, and after 503 with Retry-After; a wait of up to 30 s is kept."}, func(d *Delegate) any { return &d.HTTP.Retries }},

	{Field{Key: "command", Kind: KindText, Types: acpOnly, Required: true,
		Help: "The agent's program. `demo:NAME` is a built-in demo agent."}, func(d *Delegate) any { return &d.Command }},
	{Field{Key: "args", Kind: KindList, Types: acpOnly,
		Help: "Its arguments."}, func(d *Delegate) any { return &d.Args }},
	{Field{Key: "workdir", Kind: KindText, Types: acpOnly,
		Help: "The folder it works in; absent means the program's own."}, func(d *Delegate) any { return &d.WorkDir }},
	{Field{Key: "env", Kind: KindMap, Types: acpOnly,
		Help: "Variables added to its environment."}, func(d *Delegate) any { return &d.Env }},
	{Field{Key: "env_remove", Kind: KindList, Types: acpOnly,
		Help: "Variables taken out of its environment; a trailing `_` makes it a prefix."}, func(d *Delegate) any { return &d.EnvRemove }},
	{Field{Key: "timeout_s", Kind: KindSeconds, Types: acpOnly, Default: 1800.0, Least: 0.001, Ceiling: 7 * day, Unit: "s",
		Help: "The bound on one prompt."}, func(d *Delegate) any { return &d.Timeout }},
	{Field{Key: "idle_limit_s", Kind: KindSeconds, Types: acpOnly, Default: 1800.0, Least: 0.001, Ceiling: 7 * day, Unit: "s",
		Help: "How long its process is kept after an address."}, func(d *Delegate) any { return &d.IdleLimit }},
	{Field{Key: "auth_method", Kind: KindText, Types: acpOnly,
		Help: "The id of the agent's way to authenticate; absent means the first that needs no person, when the agent asks for one."}, func(d *Delegate) any { return &d.AuthMethod }},
	{Field{Key: "model", Kind: KindText, Types: acpOnly,
		Help: "The model, by the agent's own id; absent leaves it to the agent."}, func(d *Delegate) any { return &d.Model }},
	{Field{Key: "mode", Kind: KindText, Types: acpOnly,
		Help: "The session mode, by the agent's own id; absent leaves it to the agent."}, func(d *Delegate) any { return &d.Mode }},
	{Field{Key: "mcp_servers", Kind: KindEntries, Types: acpOnly,
		Help: "Tool servers (MCP) that it is given with each session: the word `langrooms` for this server's own, or an entry with a name and either a command or a url."}, func(d *Delegate) any { return &d.MCPServers }},
	{Field{Key: "permissions", Kind: KindChoice, Types: acpOnly, Choices: []string{"auto", "allowlist", "readonly", "ask"}, Default: "auto",
		Help: "How permission requests are answered: `auto` allows, `allowlist` refuses execute and delete, `readonly` allows read, search, fetch and think, `ask` asks the person in a terminal chat and refuses where there is none. An agent that does not ask is not held."}, func(d *Delegate) any { return &d.Permissions }},
	{Field{Key: "allow_kinds", Kind: KindList, Types: acpOnly, Choices: toolKinds,
		Help: "Allows these tool kinds, in place of those that `permissions` allows by itself."}, func(d *Delegate) any { return &d.AllowKinds }},
	{Field{Key: "deny_kinds", Kind: KindList, Types: acpOnly, Choices: toolKinds,
		Help: "Refuses these tool kinds, whatever else allows them."}, func(d *Delegate) any { return &d.DenyKinds }},
}

// serverRows describes one entry of a delegate's mcp_servers.
var serverRows = []row[MCPServer]{
	{Field{Key: "name", Kind: KindText, Required: true,
		Help: "What the agent calls it; no two alike."}, func(s *MCPServer) any { return &s.Name }},
	{Field{Key: "command", Kind: KindText,
		Help: "The program that the agent starts and speaks to over standard input and output."}, func(s *MCPServer) any { return &s.Command }},
	{Field{Key: "args", Kind: KindList,
		Help: "The command's arguments."}, func(s *MCPServer) any { return &s.Args }},
	{Field{Key: "env", Kind: KindMap,
		Help: "Variables of the command; what is secret goes into `env_from`."}, func(s *MCPServer) any { return &s.Env }},
	{Field{Key: "env_from", Kind: KindMap,
		Help: "Variables of the command whose values are in variables of this program: the command's name and ours; read when a session is opened."}, func(s *MCPServer) any { return &s.EnvFrom }},
	{Field{Key: "url", Kind: KindText, check: checkURL,
		Help: "The address of a server that is reached over streamable HTTP, in place of a command."}, func(s *MCPServer) any { return &s.URL }},
	{Field{Key: "headers", Kind: KindMap, check: checkHeader,
		Help: "Headers set on each request to the url; what is secret goes into `headers_env`."}, func(s *MCPServer) any { return &s.Headers }},
	{Field{Key: "headers_env", Kind: KindMap, check: checkHeader,
		Help: "Headers whose values are in environment variables: the header's name and the variable's."}, func(s *MCPServer) any { return &s.HeadersEnv }},
}

// keyRows describes one entry of server.keys.
var keyRows = []row[Key]{
	{Field{Key: "name", Kind: KindText, Required: true, check: langrooms.CheckIdentity,
		Help: "The identity; an agent's is its roster name."}, func(k *Key) any { return &k.Name }},
	{Field{Key: "kind", Kind: KindChoice, Choices: []string{"user", "agent"}, Default: "user",
		Help: "A user called `proto` is not the agent `proto`."}, func(k *Key) any { return &k.Kind }},
	{Field{Key: "key", Kind: KindSecret,
		Help: "The key itself; better name a variable with `key_env`. One of the two is needed."}, func(k *Key) any { return &k.Key }},
	{Field{Key: "key_env", Kind: KindVariable,
		Help: "The environment variable that holds the key; read at each use."}, func(k *Key) any { return &k.Key }},
	{Field{Key: "admin", Kind: KindBool, Default: false,
		Help: "An admin user may read and manage every session."}, func(k *Key) any { return &k.Admin }},
	{Field{Key: "agents", Kind: KindList,
		Help: "The agents it can reach; absent means all."}, func(k *Key) any { return &k.Agents }},
	{Field{Key: "owner", Kind: KindText,
		Help: "The user that an agent acts for."}, func(k *Key) any { return &k.Owner }},
}
