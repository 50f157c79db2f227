package acpagent

import (
	"time"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/setting"
)

// Settings are what an entry of the configuration file says of an agent of type acp.
type Settings struct {
	// Command, Args, WorkDir, Env and EnvRemove start the agent. An EnvRemove entry that ends
	// in an underscore is a prefix. Env may hold secrets.
	Command   string
	Args      []string
	WorkDir   string
	Env       map[string]string
	EnvRemove []string
	// Timeout bounds one prompt, and IdleLimit is how long a process is kept after an address;
	// both 30 min by default.
	Timeout, IdleLimit time.Duration
	// AuthMethod is the agent's authentication method; Model and Mode are set on each session.
	AuthMethod, Model, Mode string
	// Worktree gives each thread a git worktree of its own to work in.
	Worktree bool
	// MCPServers are the tool servers that the agent is given.
	MCPServers []setting.MCPServer
	// Permissions is "auto" (default), "allowlist", "readonly" or "ask". AllowKinds, when not
	// empty, stands in place of the policy's own list; DenyKinds takes away from it.
	Permissions           string
	AllowKinds, DenyKinds []string
}

// Fields are the keys of such an entry, for setting.Register.
func Fields() []setting.Of[Settings] {
	return []setting.Of[Settings]{
		{Field: setting.Field{Key: "command", Kind: setting.Text, Required: true,
			Help: "The agent's program. `demo:NAME` is a built-in demo agent."}, At: func(s *Settings) any { return &s.Command }},
		{Field: setting.Field{Key: "args", Kind: setting.List,
			Help: "Its arguments."}, At: func(s *Settings) any { return &s.Args }},
		{Field: setting.Field{Key: "workdir", Kind: setting.Text,
			Help: "The folder it works in; absent means the program's own."}, At: func(s *Settings) any { return &s.WorkDir }},
		{Field: setting.Field{Key: "worktree", Kind: setting.Bool,
			Help: "Whether it works, for each thread, in a git worktree and on a branch of its own (`langrooms/THREAD/NAME`) of the repository that `workdir` is in, made at the first address; each reply ends with what has changed there. `langrooms worktree` lists and removes them."}, At: func(s *Settings) any { return &s.Worktree }},
		{Field: setting.Field{Key: "env", Kind: setting.Map,
			Help: "Variables added to its environment."}, At: func(s *Settings) any { return &s.Env }},
		{Field: setting.Field{Key: "env_remove", Kind: setting.List,
			Help: "Variables taken out of its environment; a trailing `_` makes it a prefix."}, At: func(s *Settings) any { return &s.EnvRemove }},
		{Field: setting.Field{Key: "timeout_s", Kind: setting.Seconds, Default: DefaultTimeout.Seconds(), Least: 0.001, Ceiling: 7 * setting.Day, Unit: "s",
			Help: "The bound on one prompt."}, At: func(s *Settings) any { return &s.Timeout }},
		{Field: setting.Field{Key: "idle_limit_s", Kind: setting.Seconds, Default: DefaultIdleLimit.Seconds(), Least: 0.001, Ceiling: 7 * setting.Day, Unit: "s",
			Help: "How long its process is kept after an address."}, At: func(s *Settings) any { return &s.IdleLimit }},
		{Field: setting.Field{Key: "auth_method", Kind: setting.Text,
			Help: "The id of the agent's way to authenticate; absent means the first that needs no person, when the agent asks for one."}, At: func(s *Settings) any { return &s.AuthMethod }},
		{Field: setting.Field{Key: "model", Kind: setting.Text,
			Help: "The model, by the agent's own id; absent leaves it to the agent."}, At: func(s *Settings) any { return &s.Model }},
		{Field: setting.Field{Key: "mode", Kind: setting.Text,
			Help: "The session mode, by the agent's own id; absent leaves it to the agent."}, At: func(s *Settings) any { return &s.Mode }},
		{Field: setting.Field{Key: "mcp_servers", Kind: setting.Entries,
			Help: "Tool servers (MCP) that it is given with each session: the word `langrooms` for this server's own, or an entry with a name and either a command or a url."}, At: func(s *Settings) any { return &s.MCPServers }},
		{Field: setting.Field{Key: "permissions", Kind: setting.Choice, Default: string(PermissionsAuto),
			Choices: []string{string(PermissionsAuto), string(PermissionsAllowlist), string(PermissionsReadonly), string(PermissionsAsk)},
			Help:    "How permission requests are answered: `auto` allows, `allowlist` refuses execute and delete, `readonly` allows read, search, fetch and think, `ask` asks the person in a terminal chat, in an editor or in the console, and refuses where there is none. An agent that does not ask is not held."}, At: func(s *Settings) any { return &s.Permissions }},
		{Field: setting.Field{Key: "allow_kinds", Kind: setting.List, Choices: toolKinds,
			Help: "Allows these tool kinds, in place of those that `permissions` allows by itself."}, At: func(s *Settings) any { return &s.AllowKinds }},
		{Field: setting.Field{Key: "deny_kinds", Kind: setting.List, Choices: toolKinds,
			Help: "Refuses these tool kinds, whatever else allows them."}, At: func(s *Settings) any { return &s.DenyKinds }},
	}
}

// Config is the agent that an entry with these settings describes. A server that stands for this
// program's own MCP is left out: see [Config.MoreServers].
func (s Settings) Config(name, description string, remembers delegate.Continuity) Config {
	return Config{
		Name: name, Description: description, Command: s.Command, Args: s.Args, WorkDir: s.WorkDir,
		Env: s.Env, EnvRemove: s.EnvRemove, Timeout: s.Timeout, Permissions: Permissions(s.Permissions),
		AllowKinds: s.AllowKinds, DenyKinds: s.DenyKinds, IdleLimit: s.IdleLimit,
		AuthMethod: s.AuthMethod, Model: s.Model, Mode: s.Mode, Sessions: remembers, MCPServers: mcpServers(s.MCPServers),
	}
}

// mcpServers are the tool servers that the file describes in full.
func mcpServers(file []setting.MCPServer) []MCPServer {
	var servers []MCPServer
	for _, s := range file {
		if !s.Own() {
			servers = append(servers, MCPServer{Name: s.Name, Command: s.Command, Args: s.Args, Env: s.Env, EnvFrom: s.EnvFrom,
				URL: s.URL, Headers: s.Headers, HeadersFrom: s.HeadersEnv})
		}
	}
	return servers
}
