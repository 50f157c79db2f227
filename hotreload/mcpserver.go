package hotreload

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

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
	s.URL = redactURL(s.URL)
	return json.Marshal(fields(s))
}

// ParseMCPServer reads one item of mcp_servers as it would stand in the file: langrooms, or a
// mapping in YAML or JSON. The error says what is wrong with it.
func ParseMCPServer(text string) (MCPServer, error) {
	const file = "mcp_servers"
	top, err := load(file, []byte("mcp_servers: ["+text+"\n]"))
	if err != nil {
		return MCPServer{}, err
	}
	_, list := entryOf(top, "mcp_servers")
	if len(top.Content) != 2 || list.Kind != yaml.SequenceNode || len(list.Content) != 1 {
		return MCPServer{}, errors.New("must be one server")
	}
	s := &scope{parser: &parser{file: file}}
	servers := s.servers(list)
	for _, f := range s.findings { // a key that is not known is no typing error that passes
		return MCPServer{}, errors.New(f.Message)
	}
	return servers[0], nil
}

// servers reads mcp_servers. A server that is not valid fails the entry it belongs to.
func (s *scope) servers(list *yaml.Node) []MCPServer {
	servers := []MCPServer{}
	for i, item := range list.Content {
		n := resolve(item)
		e := s.entry("mcp server", "mcp_servers", i, n)
		server := e.server(n)
		if slices.ContainsFunc(servers, func(o MCPServer) bool { return o.Name == server.Name && o.Name != "" }) {
			e.report(Error, item, "name", "a second server with this name")
		}
		s.failed = s.failed || e.failed
		servers = append(servers, server)
	}
	return servers
}

func (s *scope) server(n *yaml.Node) MCPServer {
	var server MCPServer
	switch {
	case n.Kind == yaml.ScalarNode && n.Value == OwnServer:
		server.Name = OwnServer
		return server
	case n.Kind != yaml.MappingNode:
		s.report(Error, n, "", "must be %s or hold keys and values, not %s", OwnServer, Field{}.kindOf(n))
		return server
	}
	readFields(s, serverRows, n, &server)
	if s.failed {
		return server
	}
	command, url := server.Command != "", server.URL != ""
	switch {
	case server.Own() && (command || url):
		s.report(Error, n, "", "the name %s is this server's own and takes neither command nor url", OwnServer)
	case !server.Own() && command == url:
		s.report(Error, n, "", "needs a command or a url, one of the two")
	case !command && (server.Args != nil || server.Env != nil || server.EnvFrom != nil):
		s.report(Error, n, "", "args, env and env_from belong to a command")
	case !url && (server.Headers != nil || server.HeadersEnv != nil):
		s.report(Error, n, "", "headers and headers_env belong to a url")
	}
	s.checkVariables("", n, "env_from", server.EnvFrom)
	s.checkVariables("", n, "headers_env", server.HeadersEnv)
	return server
}

// serversAsYAML writes a list of servers in brackets, texts and keys as write gives them.
func serversAsYAML(servers []MCPServer, write func(string) string) string {
	items := make([]string, len(servers))
	for i := range servers {
		s := &servers[i]
		if s.Own() {
			items[i] = write(s.Name)
			continue
		}
		var fields []string
		for _, r := range serverRows {
			if text, ok := fieldAsYAML(r.Field, r.at(s), write); ok {
				fields = append(fields, fmt.Sprintf("%s: %s", write(r.Key), text))
			}
		}
		items[i] = "{" + strings.Join(fields, ", ") + "}"
	}
	return "[" + strings.Join(items, ", ") + "]"
}
