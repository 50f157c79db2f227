package setting

import "encoding/json"

// OwnServer is the name that stands, in a delegate's mcp_servers, for this server's own MCP
// (spec: shared sessions, "the same room, other doors").
const OwnServer = "langrooms"

// MCPServer is a tool server that an acp agent is given: this server's own, a command that
// the agent starts, or a URL.
type MCPServer struct {
	// Name is how the agent calls it, unique within its delegate.
	Name string
	// Command is started with Args and Env; EnvFrom names, for a variable of the command,
	// the variable of this program that holds its value. Env may hold secrets: it is never
	// marshalled.
	Command string
	Args    []string
	Env     map[string]string `json:"-"`
	EnvFrom map[string]string
	// URL is spoken to over HTTP with Headers, which are never marshalled; HeadersEnv names
	// the variable of a header's value.
	URL        string
	Headers    map[string]string `json:"-"`
	HeadersEnv map[string]string
}

// Own reports whether s stands for this server's own MCP, and has nothing but its name.
func (s MCPServer) Own() bool { return s.Name == OwnServer }

// String returns the name, nothing that could hold a secret.
func (s MCPServer) String() string { return s.Name }

// GoString returns the same as String.
func (s MCPServer) GoString() string { return s.String() }

// MarshalJSON returns the fields without Env and Headers, what is secret in the URL hidden.
func (s MCPServer) MarshalJSON() ([]byte, error) {
	type fields MCPServer
	s.URL = RedactURL(s.URL)
	return json.Marshal(fields(s))
}
