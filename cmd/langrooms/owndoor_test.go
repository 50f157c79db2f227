package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// joins uses the one tool server of a session as its agent: it posts to its room, under what it
// claims to be another's name, and returns what it was told and given.
func joins(session json.RawMessage) string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var s struct {
		McpServers []struct {
			Name, Type, URL, Command string
			Args                     []string
			Headers, Env             []struct{ Name, Value string }
		}
	}
	if err := json.Unmarshal(session, &s); err != nil || len(s.McpServers) != 1 || s.McpServers[0].Name != "langrooms" {
		return "no tool server of its own: " + string(session)
	}
	given := s.McpServers[0]
	var transport mcp.Transport
	if given.Type == "http" {
		key := strings.TrimPrefix(given.Headers[0].Value, "Bearer ")
		transport = &mcp.StreamableClientTransport{Endpoint: given.URL, DisableStandaloneSSE: true, HTTPClient: &http.Client{Transport: keyed(key)}}
	} else {
		c := exec.Command(given.Command, given.Args...)
		c.Env = []string{given.Env[0].Name + "=" + given.Env[0].Value}
		transport = &mcp.CommandTransport{Command: c}
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "agent"}, nil).Connect(ctx, transport, nil)
	if err != nil {
		return err.Error()
	}
	defer client.Close()
	r, err := client.CallTool(ctx, &mcp.CallToolParams{Name: "list_rooms"})
	if err != nil {
		return err.Error()
	}
	var listing struct{ Rooms []struct{ ID string } }
	if err := json.Unmarshal([]byte(r.Content[0].(*mcp.TextContent).Text), &listing); err != nil || len(listing.Rooms) != 1 {
		return "rooms: " + r.Content[0].(*mcp.TextContent).Text
	}
	_, err = client.CallTool(ctx, &mcp.CallToolParams{Name: "post_to_room", Arguments: map[string]any{
		"room_id": listing.Rooms[0].ID, "content": "from inside", "sender": "ada", "author": map[string]string{"kind": "user", "name": "ada"}}})
	if err != nil {
		return err.Error()
	}
	if given.Type == "http" {
		return "by address"
	}
	return "by command"
}

// An agent whose mcp_servers hold langrooms takes part by itself, as itself and as nobody else,
// with a key that stands nowhere.
func TestAgentTakesPart(t *testing.T) {
	for mode, want := range map[string]string{"joins": "by address", "joins-stdio": "by command"} {
		for keys, config := range map[string]string{"keys": sessionKeys, "no keys": ""} {
			t.Run(mode+", "+keys, func(t *testing.T) {
				entry := strings.Replace(acpEntry(t, "coder", mode), "type: acp", "type: acp, mcp_servers: [langrooms]", 1)
				f := folder(t, says(t, "unused"), config+roster(entry, openaiEntry("other", says(t, "pass"))))
				s := serve(t, f)
				id := s.call(t, "POST", "/api/rooms", `{"name":"n","agents":["coder"]}`)["id"].(string)
				s.call(t, "POST", "/api/rooms", `{"name":"not the coder's","agents":["other"]}`)
				p := s.call(t, "POST", "/api/rooms/"+id+"/messages?wait=true", `{"content":"@coder take part"}`)
				var lines []string
				for _, m := range p["messages"].([]any) {
					o := m.(map[string]any)
					sender, _ := o["sender"].(map[string]any)
					lines = append(lines, strings.TrimSpace(plain(sender["kind"])+" "+plain(sender["name"])+": "+plain(o["content"])))
				}
				expect(t, "the chain", []string{"agent coder: from inside", "agent coder: " + want}, lines)
				s.end(t)
				files, err := os.ReadDir(f.Dir)
				if err != nil {
					t.Fatal(err)
				}
				for _, file := range files {
					if data, err := os.ReadFile(f.Dir + "/" + file.Name()); err == nil && (strings.Contains(string(data), "Bearer ") || strings.Contains(string(data), ownKeyVariable)) {
						t.Errorf("%s holds the agent's key", file.Name())
					}
				}
			})
		}
	}
}

func plain(v any) string { s, _ := v.(string); return s }
