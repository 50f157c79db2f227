package hotreload

import (
	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/internal/names"
	"github.com/langrooms/langrooms/setting"
)

// commonRows describes what every entry of delegates has (spec: rooms, section 6). The choices of
// its type are the registered ones.
var commonRows = []row[Delegate]{
	{setting.Field{Key: "name", Kind: setting.Text, Required: true, Check: names.CheckName,
		Help: "How it is addressed: one run without white space or `@`, none of `operator`, `assistant`, `lead`, `room`, `system`."}, func(d *Delegate) any { return &d.Name }},
	{setting.Field{Key: "type", Kind: setting.Choice, Required: true,
		Help: "The protocol it speaks."}, func(d *Delegate) any { return &d.Type }},
	{setting.Field{Key: "description", Kind: setting.Text,
		Help: "What it is good for; the lead reads it."}, func(d *Delegate) any { return &d.Description }},
	{setting.Field{Key: "instructions", Kind: setting.Text,
		Help: "What it is told of its part, once at the beginning of each conversation; a model of type `openai` has it in its system prompt. Entries that share an endpoint may have different ones; changed ones begin new conversations."}, func(d *Delegate) any { return &d.Instructions }},
	{setting.Field{Key: "accepts", Kind: setting.List,
		Help: "The media types of files that it takes with a message, such as `image/*` or `application/pdf`; absent means what its agent card (`a2a`) or its capabilities (`acp`) say, and of an `openai` model none. Of others it is told the name, and of a text the words."}, func(d *Delegate) any { return &d.Accepts }},
	{setting.Field{Key: "cost.input_per_mtok", Kind: setting.Number, Ceiling: 1_000_000, Unit: "US dollars",
		Help: "What a million tokens of a prompt cost, where the peer tells tokens and no cost; absent is unknown."}, func(d *Delegate) any { return &d.Cost.InputPerMTok }},
	{setting.Field{Key: "cost.output_per_mtok", Kind: setting.Number, Ceiling: 1_000_000, Unit: "US dollars",
		Help: "What a million tokens of a reply cost."}, func(d *Delegate) any { return &d.Cost.OutputPerMTok }},
}

// serverRows describes one entry of a delegate's mcp_servers.
var serverRows = []row[setting.MCPServer]{
	{setting.Field{Key: "name", Kind: setting.Text, Required: true,
		Help: "What the agent calls it; no two alike."}, func(s *setting.MCPServer) any { return &s.Name }},
	{setting.Field{Key: "command", Kind: setting.Text,
		Help: "The program that the agent starts and speaks to over standard input and output."}, func(s *setting.MCPServer) any { return &s.Command }},
	{setting.Field{Key: "args", Kind: setting.List,
		Help: "The command's arguments."}, func(s *setting.MCPServer) any { return &s.Args }},
	{setting.Field{Key: "env", Kind: setting.Map,
		Help: "Variables of the command; what is secret goes into `env_from`."}, func(s *setting.MCPServer) any { return &s.Env }},
	{setting.Field{Key: "env_from", Kind: setting.Map, Variables: true,
		Help: "Variables of the command whose values are in variables of this program: the command's name and ours; read when a session is opened."}, func(s *setting.MCPServer) any { return &s.EnvFrom }},
	{setting.Field{Key: "url", Kind: setting.Text, Check: setting.CheckURL,
		Help: "The address of a server that is reached over streamable HTTP, in place of a command."}, func(s *setting.MCPServer) any { return &s.URL }},
	{setting.Field{Key: "headers", Kind: setting.Map, Check: setting.CheckHeader,
		Help: "Headers set on each request to the url; what is secret goes into `headers_env`."}, func(s *setting.MCPServer) any { return &s.Headers }},
	{setting.Field{Key: "headers_env", Kind: setting.Map, Variables: true, Check: setting.CheckHeader,
		Help: "Headers whose values are in environment variables: the header's name and the variable's."}, func(s *setting.MCPServer) any { return &s.HeadersEnv }},
}

// keyRows describes one entry of server.keys.
var keyRows = []row[Key]{
	{setting.Field{Key: "name", Kind: setting.Text, Required: true, Check: langrooms.CheckIdentity,
		Help: "The identity; an agent's is its roster name."}, func(k *Key) any { return &k.Name }},
	{setting.Field{Key: "kind", Kind: setting.Choice, Choices: []string{"user", "agent"}, Default: "user",
		Help: "A user called `proto` is not the agent `proto`."}, func(k *Key) any { return &k.Kind }},
	{setting.Field{Key: "key", Kind: setting.SecretText,
		Help: "The key itself; better name a variable with `key_env`. One of the two is needed."}, func(k *Key) any { return &k.Key }},
	{setting.Field{Key: "key_env", Kind: setting.Variable,
		Help: "The environment variable that holds the key; read at each use."}, func(k *Key) any { return &k.Key }},
	{setting.Field{Key: "admin", Kind: setting.Bool, Default: false,
		Help: "An admin user may read and manage every session."}, func(k *Key) any { return &k.Admin }},
	{setting.Field{Key: "agents", Kind: setting.List,
		Help: "The agents it can reach; absent means all."}, func(k *Key) any { return &k.Agents }},
	{setting.Field{Key: "owner", Kind: setting.Text,
		Help: "The user that an agent acts for."}, func(k *Key) any { return &k.Owner }},
}
