package hotreload

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/langrooms/langrooms/setting"
)

// ParseMCPServer reads one item of mcp_servers as it would stand in the file: langrooms, or a
// mapping in YAML or JSON. The error says what is wrong with it.
func ParseMCPServer(text string) (setting.MCPServer, error) {
	const file = "mcp_servers"
	top, err := load(file, []byte("mcp_servers: ["+text+"\n]"))
	if err != nil {
		return setting.MCPServer{}, err
	}
	_, list := entryOf(top, "mcp_servers")
	if len(top.Content) != 2 || list.Kind != yaml.SequenceNode || len(list.Content) != 1 {
		return setting.MCPServer{}, errors.New("must be one server")
	}
	s := &scope{parser: &parser{file: file}}
	servers := s.servers(list)
	for _, f := range s.findings { // a key that is not known is no typing error that passes
		return setting.MCPServer{}, errors.New(f.Message)
	}
	return servers[0], nil
}

// servers reads mcp_servers. A server that is not valid fails the entry it belongs to.
func (s *scope) servers(list *yaml.Node) []setting.MCPServer {
	servers := []setting.MCPServer{}
	for i, item := range list.Content {
		n := resolve(item)
		e := s.entry("mcp server", "mcp_servers", i, n)
		server := e.server(n)
		if slices.ContainsFunc(servers, func(o setting.MCPServer) bool { return o.Name == server.Name && o.Name != "" }) {
			e.report(Error, item, "name", "a second server with this name")
		}
		s.failed = s.failed || e.failed
		servers = append(servers, server)
	}
	return servers
}

func (s *scope) server(n *yaml.Node) setting.MCPServer {
	var server setting.MCPServer
	switch {
	case n.Kind == yaml.ScalarNode && n.Value == setting.OwnServer:
		server.Name = setting.OwnServer
		return server
	case n.Kind != yaml.MappingNode:
		s.report(Error, n, "", "must be %s or hold keys and values, not %s", setting.OwnServer, kindOf(setting.Field{}, n))
		return server
	}
	readFields(s, serverRows, n, &server)
	if s.failed {
		return server
	}
	command, url := server.Command != "", server.URL != ""
	switch {
	case server.Own() && (command || url):
		s.report(Error, n, "", "the name %s is this server's own and takes neither command nor url", setting.OwnServer)
	case !server.Own() && command == url:
		s.report(Error, n, "", "needs a command or a url, one of the two")
	case !command && (server.Args != nil || server.Env != nil || server.EnvFrom != nil):
		s.report(Error, n, "", "args, env and env_from belong to a command")
	case !url && (server.Headers != nil || server.HeadersEnv != nil):
		s.report(Error, n, "", "headers and headers_env belong to a url")
	}
	readVariables(s, "", serverRows, n, &server)
	return server
}

// serversAsYAML writes a list of servers in brackets, texts and keys as write gives them.
func serversAsYAML(servers []setting.MCPServer, write func(string) string) string {
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
