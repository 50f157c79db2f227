package acpagent

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/coder/acp-go-sdk"
	"github.com/langrooms/langrooms/internal/redact"
)

// MCPServer is a tool server that the agent is to use: a command that it starts, or a URL.
type MCPServer struct {
	Name string
	// Command is started by the agent with Args and Env.
	Command string
	Args    []string
	Env     map[string]string
	// URL is spoken to over HTTP, with Headers.
	URL     string
	Headers map[string]string
	// EnvFrom and HeadersFrom name, for a variable or a header, the variable of this
	// program's environment that holds its value, a secret; it is read when a session is
	// opened.
	EnvFrom     map[string]string
	HeadersFrom map[string]string
}

// checkServers reports what is wrong with a list of servers.
func checkServers(servers []MCPServer) error {
	names := make(map[string]bool)
	for i, s := range servers {
		switch {
		case s.Name == "":
			return fmt.Errorf("server %d has no name", i+1)
		case names[s.Name]:
			return fmt.Errorf("two are called %q", s.Name)
		case (s.Command == "") == (s.URL == ""):
			return fmt.Errorf("%q needs one of command and url", s.Name)
		case s.Command == "" && len(s.Args)+len(s.Env)+len(s.EnvFrom) > 0:
			return fmt.Errorf("%q has a url: args, env and env_from belong to a command", s.Name)
		case s.URL == "" && len(s.Headers)+len(s.HeadersFrom) > 0:
			return fmt.Errorf("%q has a command: headers and headers_env belong to a url", s.Name)
		}
		names[s.Name] = true
	}
	return nil
}

func copyServers(servers []MCPServer) []MCPServer {
	servers = slices.Clone(servers)
	for i, s := range servers {
		servers[i].Args = slices.Clone(s.Args)
		servers[i].Env, servers[i].EnvFrom = maps.Clone(s.Env), maps.Clone(s.EnvFrom)
		servers[i].Headers, servers[i].HeadersFrom = maps.Clone(s.Headers), maps.Clone(s.HeadersFrom)
	}
	return servers
}

// errConfig says that the configuration asks for what cannot be had; its text names the key.
var errConfig = errors.New("the configuration cannot be met")

// misfit is an error of the configuration.
type misfit struct{ text string }

func (m *misfit) Error() string        { return m.text }
func (m *misfit) Is(target error) bool { return target == errConfig }

func misfitf(format string, args ...any) error { return &misfit{fmt.Sprintf(format, args...)} }

// servers returns the list for session/new, with what the variables hold now. http says
// that the agent takes servers with a URL.
func (c Config) servers(http bool) ([]acp.McpServer, error) {
	list := []acp.McpServer{}
	for _, s := range slices.Concat(c.MCPServers, c.more(http)) {
		if s.URL != "" {
			if !http {
				return nil, misfitf("mcp_servers: %q has a url, and the agent takes commands only", s.Name)
			}
			headers, err := values(s.Name, s.Headers, s.HeadersFrom)
			if err != nil {
				return nil, err
			}
			remote := &acp.McpServerHttpInline{Type: "http", Name: s.Name, Url: s.URL, Headers: []acp.HttpHeader{}}
			for _, name := range slices.Sorted(maps.Keys(headers)) {
				remote.Headers = append(remote.Headers, acp.HttpHeader{Name: name, Value: headers[name]})
			}
			list = append(list, acp.McpServer{Http: remote})
			continue
		}
		env, err := values(s.Name, s.Env, s.EnvFrom)
		if err != nil {
			return nil, err
		}
		stdio := &acp.McpServerStdio{Name: s.Name, Command: s.Command, Args: append([]string{}, s.Args...), Env: []acp.EnvVariable{}}
		for _, name := range slices.Sorted(maps.Keys(env)) {
			stdio.Env = append(stdio.Env, acp.EnvVariable{Name: name, Value: env[name]})
		}
		list = append(list, acp.McpServer{Stdio: stdio})
	}
	return list, nil
}

func (c Config) more(http bool) []MCPServer {
	if c.MoreServers == nil {
		return nil
	}
	return c.MoreServers(http)
}

// values joins plain values and those of variables.
func values(server string, plain, from map[string]string) (map[string]string, error) {
	all := maps.Clone(plain)
	if all == nil {
		all = make(map[string]string)
	}
	for name, variable := range from {
		value, ok := os.LookupEnv(variable)
		if !ok || value == "" {
			return nil, misfitf("mcp_servers: %q wants the variable %s, which is not set", server, variable)
		}
		all[name] = value
	}
	return all, nil
}

// serverSecrets returns the values that servers are given and that must not be shown.
func (c Config) serverSecrets() []string {
	var secret []string
	for _, s := range slices.Concat(c.MCPServers, c.more(true), c.more(false)) {
		for _, from := range []map[string]string{s.EnvFrom, s.HeadersFrom} {
			for _, variable := range from {
				secret = append(secret, withToken(os.Getenv(variable))...)
			}
		}
		for _, plain := range []map[string]string{s.Env, s.Headers} {
			for name, value := range plain {
				if redact.NamesSecret(name) || strings.EqualFold(name, "authorization") {
					secret = append(secret, withToken(value)...)
				}
			}
		}
	}
	return secret
}

// withToken returns a value and, of one like "Bearer TOKEN", the token alone.
func withToken(value string) []string {
	_, token, _ := strings.Cut(value, " ")
	return []string{value, token}
}
