package acpagent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/coder/acp-go-sdk"
	"github.com/langrooms/langrooms/delegate"
)

// The bounds that a [Config] has when it sets none.
const (
	DefaultTimeout   = 1800 * time.Second
	DefaultIdleLimit = 30 * time.Minute
	// DefaultPermissionTimeout leaves a person time to read what is asked.
	DefaultPermissionTimeout = 5 * time.Minute
)

// Config describes one agent of the roster (spec: rooms, section 6).
type Config struct {
	// Name is the roster's name of it, Description what it is good for.
	Name        string
	Description string
	// Command is the program to start: a name that is looked up in $PATH, or a path;
	// a relative path starts at WorkDir. Args are its arguments.
	Command string
	Args    []string
	// WorkDir is the process's working directory and the session's; empty means the
	// present one. A relative path is made absolute by New.
	WorkDir string
	// Env is set in the process's environment, on top of what it inherits.
	Env map[string]string
	// EnvRemove names variables that the process does not inherit; a name that ends in
	// "_" stands for every name that starts with it. Env is not affected.
	EnvRemove []string
	// Timeout bounds one Ask; 0 means DefaultTimeout.
	Timeout time.Duration
	// Permissions is the policy for permission requests; empty means PermissionsAuto.
	Permissions Permissions
	// AllowKinds, when not empty, are the kinds of tool calls that are allowed, in place of
	// those that Permissions allows by itself; DenyKinds takes its kinds away. The kinds are
	// ACP's: read, edit, delete, move, search, execute, think, fetch, switch_mode, other.
	AllowKinds []string
	DenyKinds  []string
	// PermissionTimeout bounds the wait for a person under PermissionsAsk; 0 means
	// DefaultPermissionTimeout.
	PermissionTimeout time.Duration
	// AuthMethod is the id of the agent's authentication method to use. Empty means that the
	// agent is not authenticated unless it asks for it, and then by the first of its methods
	// that needs no person: its environment variables are set.
	AuthMethod string
	// Model and Mode are set on each session when they are not empty: the ids of a model and
	// of a session mode that the agent offers.
	Model string
	Mode  string
	// Preamble stands in front of the first prompt of each session, with a blank line between,
	// such as room.Instructions. Another one begins other sessions. Empty adds nothing.
	Preamble string
	// Accepts are the media types of files that the agent is given (delegate.Takes), of those that
	// it says it takes; nil means all of those.
	Accepts []string
	// MCPServers are handed to each session.
	MCPServers []MCPServer
	// MoreServers, when not nil, is asked at each session what it is handed beside those;
	// http says that the agent takes servers with a URL. What it returns stays the same
	// while a process lives, as far as it is secret.
	MoreServers func(http bool) []MCPServer
	// Workplace, when not nil, gives a conversation a folder of its own in place of WorkDir, and the
	// prompts without one a folder that they share, by the empty name. report is asked after each answer
	// for words about the folder, which end the reply; empty adds nothing. An error refuses the prompt.
	Workplace func(ctx context.Context, conversation string) (dir string, report func(context.Context) string, err error)
	// IdleLimit is how long a process is kept after an address; 0 means
	// DefaultIdleLimit.
	IdleLimit time.Duration
	// Sessions remembers session ids, so that a later process can load them. Nil means a
	// store in memory. What it no longer has is forgotten: when a session's id was
	// dropped (a rewind, a delete), the next address ends the process and opens a new
	// session. One store can serve many agents.
	Sessions delegate.Continuity

	lateGrace time.Duration // 0 means defaultLateGrace
}

// checked returns a copy of c that shares no memory with it, with the defaults filled
// in, or an error that names the field.
func (c Config) checked() (Config, error) {
	fail := func(field, format string, args ...any) (Config, error) {
		return Config{}, fmt.Errorf("acp delegate %q: %s: %w", c.Name, field, fmt.Errorf(format, args...))
	}
	if err := delegate.CheckName(c.Name); err != nil {
		return fail("name", "%w", err)
	}
	if c.Command == "" || strings.ContainsRune(c.Command, 0) {
		return fail("command", "%q is no program", c.Command)
	}
	for i, arg := range c.Args {
		if strings.ContainsRune(arg, 0) {
			return fail("args", "argument %d holds a NUL", i+1)
		}
	}
	dir, err := filepath.Abs(c.WorkDir)
	if err != nil || strings.ContainsRune(dir, 0) {
		return fail("workdir", "%q is no directory: %v", c.WorkDir, err)
	}
	for name, value := range c.Env {
		if !isVariable(name) || strings.ContainsRune(value, 0) {
			return fail("env", "%q cannot be set", name)
		}
	}
	for _, name := range c.EnvRemove {
		if !isVariable(name) {
			return fail("env_remove", "%q is no variable's name", name)
		}
	}
	if c.Timeout < 0 {
		return fail("timeout_s", "%v is negative", c.Timeout)
	}
	if c.IdleLimit < 0 {
		return fail("idle_limit_s", "%v is negative", c.IdleLimit)
	}
	if c.PermissionTimeout < 0 {
		return fail("permission timeout", "%v is negative", c.PermissionTimeout)
	}
	if err := checkServers(c.MCPServers); err != nil {
		return fail("mcp_servers", "%w", err)
	}
	if !c.Permissions.known() {
		return fail("permissions", "%q is none of %s", c.Permissions, policies())
	}
	if kind, ok := unknownKind(c.AllowKinds); ok {
		return fail("allow_kinds", "%q is none of %s", kind, strings.Join(toolKinds, ", "))
	}
	if kind, ok := unknownKind(c.DenyKinds); ok {
		return fail("deny_kinds", "%q is none of %s", kind, strings.Join(toolKinds, ", "))
	}
	return c.completed(dir), nil
}

// completed copies what c shares with its maker and fills in the defaults.
func (c Config) completed(dir string) Config {
	c.WorkDir = dir
	c.Args = slices.Clone(c.Args)
	c.Env = maps.Clone(c.Env)
	c.EnvRemove = slices.Clone(c.EnvRemove)
	c.AllowKinds = slices.Clone(c.AllowKinds)
	c.DenyKinds = slices.Clone(c.DenyKinds)
	c.MCPServers = copyServers(c.MCPServers)
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	if c.IdleLimit == 0 {
		c.IdleLimit = DefaultIdleLimit
	}
	if c.lateGrace == 0 {
		c.lateGrace = defaultLateGrace
	}
	if c.PermissionTimeout == 0 {
		c.PermissionTimeout = DefaultPermissionTimeout
	}
	if c.Permissions == "" {
		c.Permissions = PermissionsAuto
	}
	return c
}

func isVariable(name string) bool {
	return name != "" && !strings.ContainsAny(name, "=\x00")
}

// launch is the digest of everything that decides which process is started: a session id
// is good for this launch only. It holds no secret.
func (c Config) launch() string {
	// %q keeps fields apart, and fmt prints a map in the order of its keys.
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q", c.Command, c.Args, c.WorkDir, c.Env, c.EnvRemove))
	return hex.EncodeToString(sum[:16])
}

// toolKinds are ACP's kinds of tool calls (protocol document "Tool Calls").
var toolKinds = []string{
	string(acp.ToolKindRead), string(acp.ToolKindEdit), string(acp.ToolKindDelete),
	string(acp.ToolKindMove), string(acp.ToolKindSearch), string(acp.ToolKindExecute),
	string(acp.ToolKindThink), string(acp.ToolKindFetch), string(acp.ToolKindSwitchMode),
	string(acp.ToolKindOther),
}

// unknownKind returns the first of kinds that ACP does not have.
func unknownKind(kinds []string) (string, bool) {
	for _, kind := range kinds {
		if !slices.Contains(toolKinds, kind) {
			return kind, true
		}
	}
	return "", false
}
