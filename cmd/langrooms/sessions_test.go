package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const ada = "X-Api-Key"

// call sends a request with ada's key and returns the object that comes back.
func (s *served) call(t testing.TB, method, path, body string) map[string]any {
	t.Helper()
	status, text := s.ask(t, method, path, body, ada, "planted-ada")
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil || status != 200 {
		t.Fatalf("%s %s: %d %s", method, path, status, text)
	}
	return v
}

const sessionKeys = "server: { keys: [ { name: ada, kind: user, key: planted-ada }, { name: eve, kind: user, key: planted-eve } ] }\n"

// A shared session through the doors of the program: REST, MCP over HTTP and over standard
// input and output, and the operator's commands, which read it from another process.
func TestSharedSession(t *testing.T) {
	f := folder(t, says(t, "unused"), sessionKeys+roster(
		openaiEntry("proto", says(t, "It builds. @reviewer please look.")), openaiEntry("reviewer", says(t, "Fine."))))
	s := serve(t, f)
	id := s.call(t, "POST", "/api/rooms", `{"name":"release","agents":["proto","reviewer"]}`)["id"].(string)
	posted := s.call(t, "POST", "/api/rooms/"+id+"/messages?wait=true", `{"content":"@proto ready?"}`)
	if n := len(posted["messages"].([]any)); n != 2 {
		t.Errorf("the chain: %v", posted)
	}
	if status, text := s.ask(t, "GET", "/api/rooms/"+id, "", ada, "planted-eve"); status != 404 || !strings.Contains(text, "room_not_found") {
		t.Errorf("%d %s", status, text)
	}
	if status, text := s.ask(t, "GET", "/api/rooms/"+id, ""); status != 401 || !strings.Contains(text, `"code":"unauthorized"`) {
		t.Errorf("%d %s", status, text)
	}
	if status, text := s.ask(t, "GET", "/healthz", ""); status != 200 {
		t.Errorf("health without a key: %d %s", status, text)
	}
	web := &mcp.StreamableClientTransport{Endpoint: s.url + "/mcp", DisableStandaloneSSE: true, HTTPClient: &http.Client{Transport: keyed("planted-ada")}}
	if text := listRooms(t, web); !strings.Contains(text, id) {
		t.Errorf("over HTTP: %s", text)
	}
	s.end(t)
	command := exec.Command(f.Command(), "mcp", "--key-env", "ADA")
	command.Dir, command.Env = f.Dir, append(command.Environ(), "ADA=planted-ada")
	if text := listRooms(t, &mcp.CommandTransport{Command: command}); !strings.Contains(text, id) {
		t.Errorf("over standard input and output: %s", text)
	}
	shown := f.Run("room", "show", id)
	for _, part := range []string{"ada created the room with @proto, @reviewer.", "It builds.", "Fine."} {
		if !strings.Contains(shown.Out, part) {
			t.Errorf("room show says %q, want %q in it", shown.Out, part)
		}
	}
}

type keyed string

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(k))
	return http.DefaultTransport.RoundTrip(r)
}

func listRooms(t *testing.T, transport mcp.Transport) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(ctx, transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	r, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "list_rooms"})
	if err != nil {
		t.Fatal(err)
	}
	return r.Content[0].(*mcp.TextContent).Text
}

// A turn of a killed process runs again in the next one (spec 4.5).
func TestKilledTurnRunsAgain(t *testing.T) {
	model, asked, letGo := held(t, "here at last")
	f := folder(t, says(t, "unused"), sessionKeys+roster(openaiEntry("proto", model)))
	s := serve(t, f)
	id := s.call(t, "POST", "/api/rooms", `{"name":"release","agents":["proto"]}`)["id"].(string)
	s.call(t, "POST", "/api/rooms/"+id+"/messages", `{"content":"@proto ready?"}`)
	<-asked
	s.Signal(syscall.SIGKILL)
	next := serve(t, f)
	<-asked
	letGo()
	posted := next.call(t, "POST", "/api/rooms/"+id+"/messages?wait=true", `{"content":"@proto and now?"}`)
	if posted["seq"] == 0.0 {
		t.Error(posted)
	}
	d := next.call(t, "GET", "/api/rooms/"+id, "")
	var said []string
	for _, m := range d["messages"].([]any) {
		said = append(said, m.(map[string]any)["content"].(string))
	}
	if text := strings.Join(said, "|"); strings.Count(text, "here at last") != 2 {
		t.Errorf("%s", text)
	}
	next.end(t)
}
