package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/internal/storetest"
	"github.com/langrooms/langrooms/mcpserver"
	"github.com/langrooms/langrooms/sharedsession"
)

// voice answers always the same.
type voice struct{ name, text string }

func (v voice) Info() delegate.Info { return delegate.Info{Name: v.name, Type: "script"} }
func (v voice) Ask(context.Context, delegate.Request) (delegate.Reply, error) {
	return delegate.Reply{Text: v.text}, nil
}
func (v voice) Probe(context.Context) (delegate.Health, error) { return delegate.Health{}, nil }
func (v voice) Close() error                                   { return nil }

func rooms(t testing.TB, enabled func() bool) *sharedsession.Service {
	t.Helper()
	return roomsOver(t, memorysaver.New(), sharedsession.Config{Enabled: enabled})
}

func roomsOver(t testing.TB, saver checkpointer.Saver, c sharedsession.Config) *sharedsession.Service {
	t.Helper()
	roster, err := delegate.NewRegistry(voice{"proto", "@ada it builds"}, voice{"reviewer", "pass"})
	if err != nil {
		t.Fatal(err)
	}
	c.Saver, c.Room = saver, func() (exchange.Room, func()) { return exchange.Room{Roster: roster}, func() {} }
	s, err := sharedsession.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(); saver.Close() })
	return s
}

func caller(kind sharedsession.Kind, name string) sharedsession.Caller {
	return sharedsession.Caller{Party: sharedsession.Party{Kind: kind, Name: name}}
}

// connect returns a client of one caller, in memory.
func connect(t testing.TB, s *sharedsession.Service, who sharedsession.Caller, progress func(string)) *mcp.ClientSession {
	t.Helper()
	near, far := mcp.NewInMemoryTransports()
	server, err := mcpserver.New(mcpserver.Config{Rooms: s}, who).Connect(t.Context(), far, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			if progress != nil {
				progress(r.Params.Message)
			}
		}})
	session, err := client.Connect(t.Context(), near, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close(); server.Wait() })
	return session
}

// call calls a tool; structured content and text must say the same.
func call(t testing.TB, c *mcp.ClientSession, name string, args map[string]any) (map[string]any, bool) {
	t.Helper()
	params := &mcp.CallToolParams{Name: name, Arguments: args}
	if name == "wait_for_mention" {
		params.SetProgressToken("p")
	}
	r, err := c.CallTool(t.Context(), params)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var text map[string]any
	if err := json.Unmarshal([]byte(r.Content[0].(*mcp.TextContent).Text), &text); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(any(text), r.StructuredContent); diff != "" {
		t.Errorf("%s: text and structured content: %s", name, diff)
	}
	return text, r.IsError
}

func TestTools(t *testing.T) {
	s := rooms(t, nil)
	told := make(chan string, 16)
	ada := connect(t, s, caller(sharedsession.User, "ada"), func(text string) { told <- text })
	tools, err := ada.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range tools.Tools {
		names = append(names, tool.Name)
	}
	if got := strings.Join(names, " "); got != "close_room create_room leave_room list_rooms post_to_room read_room wait_for_mention" {
		t.Errorf("tools %s", got)
	}
	made, _ := call(t, ada, "create_room", map[string]any{"name": "n", "agents": []string{"proto"}, "max_messages": 5})
	id := made["id"]
	posted, _ := call(t, ada, "post_to_room", map[string]any{"room_id": id, "content": "@proto go"})
	if posted["seq"] != 2.0 || len(posted["wakes"].([]any)) != 1 {
		t.Errorf("%v", posted)
	}
	got, _ := call(t, ada, "wait_for_mention", map[string]any{"room_id": id, "since": 2, "timeout": 20})
	if list := got["messages"].([]any); len(list) != 1 || list[0].(map[string]any)["content"] != "@ada it builds" {
		t.Errorf("%v", got)
	}
	if text := <-told; text != "waiting to be mentioned" {
		t.Errorf("told %q while waiting", text)
	}
	got, _ = call(t, ada, "wait_for_mention", map[string]any{"room_id": id, "timeout": 0})
	if diff := cmp.Diff(map[string]any{"messages": []any{}}, got); diff != "" {
		t.Error(diff)
	}
	read, _ := call(t, ada, "read_room", map[string]any{"room_id": id, "since": 2})
	if n := len(read["messages"].([]any)); n != 1 {
		t.Errorf("%d messages", n)
	}
	list, _ := call(t, ada, "list_rooms", nil)
	if n := len(list["rooms"].([]any)); n != 1 {
		t.Errorf("%d rooms", n)
	}
	if shut, failed := call(t, ada, "close_room", map[string]any{"room_id": id, "reason": "done"}); failed || shut["stop_reason"] != "done" {
		t.Errorf("%v", shut)
	}
	if shut, failed := call(t, ada, "close_room", map[string]any{"room_id": id}); failed || shut["already_closed"] != true {
		t.Errorf("%v", shut)
	}
	if left, failed := call(t, ada, "leave_room", map[string]any{"room_id": id}); failed {
		t.Errorf("%v", left)
	}
}

// A refusal is a result with REST's code.
func TestRefusals(t *testing.T) {
	s := rooms(t, nil)
	ada := connect(t, s, caller(sharedsession.User, "ada"), nil)
	made, _ := call(t, ada, "create_room", map[string]any{"name": "n", "agents": []string{"proto"}})
	eve := connect(t, s, caller(sharedsession.Agent, "ada"), nil)
	for _, tt := range []struct {
		who  *mcp.ClientSession
		tool string
		args map[string]any
		code string
	}{
		{ada, "create_room", map[string]any{"agents": []string{"proto"}}, "invalid_name"},
		{ada, "create_room", map[string]any{"name": "n"}, "no_participants"},
		{ada, "create_room", map[string]any{"name": "n", "agents": []string{"ghost"}}, "agent_not_accessible"},
		{ada, "read_room", map[string]any{"room_id": made["id"], "since": -1}, "invalid_query"},
		{ada, "post_to_room", map[string]any{"room_id": made["id"]}, "empty_message"},
		{ada, "wait_for_mention", map[string]any{"room_id": made["id"], "timeout": "soon"}, "invalid_query"},
		{ada, "read_room", nil, "room_not_found"},
		{eve, "read_room", map[string]any{"room_id": made["id"], "since": "x"}, "room_not_found"},
		{eve, "post_to_room", map[string]any{"room_id": made["id"], "content": 5}, "room_not_found"},
		{eve, "close_room", map[string]any{"room_id": made["id"]}, "room_not_found"},
		{eve, "leave_room", map[string]any{"room_id": made["id"]}, "room_not_found"},
		{eve, "wait_for_mention", map[string]any{"room_id": made["id"]}, "room_not_found"},
	} {
		got, failed := call(t, tt.who, tt.tool, tt.args)
		if got["error"] != tt.code || !failed || got["message"] == "" {
			t.Errorf("%s %v: %v, want %s", tt.tool, tt.args, got, tt.code)
		}
	}
}

// Not a member and no such room: the same result and work of the store, by each tool that
// takes a room and whatever is sent (spec 1.3).
func TestUniformNotFound(t *testing.T) {
	store := storetest.NewRecorder()
	s := roomsOver(t, store, sharedsession.Config{Idle: true})
	ada, eve := connect(t, s, caller(sharedsession.User, "ada"), nil), connect(t, s, caller(sharedsession.User, "eve"), nil)
	made, _ := call(t, ada, "create_room", map[string]any{"name": "n", "agents": []string{"proto"}})
	arguments := map[string][]map[string]any{
		"read_room":        {{}, {"since": -1}, {"since": "x"}},
		"post_to_room":     {{"content": "hello"}, {}, {"content": 5}, {"content": strings.Repeat("x", 9000)}},
		"close_room":       {{}, {"reason": 5}},
		"leave_room":       {{}},
		"wait_for_mention": {{}, {"timeout": "soon"}, {"since": -3}},
	}
	tools, err := eve.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools.Tools {
		schema, err := json.Marshal(tool.InputSchema)
		if err != nil {
			t.Fatal(err)
		}
		if takesRoom := strings.Contains(string(schema), `"room_id"`); takesRoom != (arguments[tool.Name] != nil) {
			t.Errorf("%s takes a room: %v, and is tried: %v", tool.Name, takesRoom, arguments[tool.Name] != nil)
		}
		for _, args := range arguments[tool.Name] {
			look := func(id any) string {
				args["room_id"] = id
				store.Take()
				got, failed := call(t, eve, tool.Name, args)
				return fmt.Sprint(got, failed, store.Take())
			}
			there := look(made["id"])
			for _, absent := range []any{"room_0123456789abcdef", "main", ""} {
				if b := look(absent); there != b || !strings.Contains(there, "room_not_found") || !strings.HasSuffix(there, "true [Get]") {
					t.Errorf("%s %.80v: a room of others: %s, %q: %s", tool.Name, args, there, absent, b)
				}
			}
		}
	}
}

func TestNotEnabled(t *testing.T) {
	s := rooms(t, func() bool { return false })
	ada := connect(t, s, caller(sharedsession.User, "ada"), nil)
	for _, name := range []string{"create_room", "list_rooms", "read_room", "post_to_room", "close_room", "leave_room", "wait_for_mention"} {
		if got, failed := call(t, ada, name, nil); failed || got["error"] != "shared_sessions_not_enabled" {
			t.Errorf("%s: %v, failed %v", name, got, failed)
		}
	}
}

// Over HTTP each request is its sender's.
func TestHandler(t *testing.T) {
	s := rooms(t, nil)
	web := httptest.NewServer(mcpserver.Handler(mcpserver.Config{Rooms: s}, func(r *http.Request) sharedsession.Caller {
		return caller(sharedsession.User, r.Header.Get("X-Who"))
	}))
	defer web.Close()
	as := func(name string) *mcp.ClientSession {
		client := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil)
		session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: web.URL, DisableStandaloneSSE: true,
			HTTPClient: &http.Client{Transport: named(name)}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { session.Close() })
		return session
	}
	made, _ := call(t, as("ada"), "create_room", map[string]any{"name": "n", "agents": []string{"proto"}})
	if got, _ := call(t, as("eve"), "read_room", map[string]any{"room_id": made["id"]}); got["error"] != "room_not_found" {
		t.Errorf("%v", got)
	}
}

type named string

func (n named) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-Who", string(n))
	return http.DefaultTransport.RoundTrip(r)
}

func Example() {
	saver := memorysaver.New()
	defer saver.Close()
	roster, _ := delegate.NewRegistry(voice{"proto", "it builds"})
	rooms, _ := sharedsession.New(sharedsession.Config{Saver: saver,
		Room: func() (exchange.Room, func()) { return exchange.Room{Roster: roster}, func() {} }})
	defer rooms.Close()
	ctx := context.Background()
	near, far := mcp.NewInMemoryTransports()
	server, _ := mcpserver.New(mcpserver.Config{Rooms: rooms}, caller(sharedsession.User, "ada")).Connect(ctx, far, nil)
	client, _ := mcp.NewClient(&mcp.Implementation{Name: "example"}, nil).Connect(ctx, near, nil)

	r, _ := client.CallTool(ctx, &mcp.CallToolParams{Name: "list_rooms"})
	fmt.Println(r.Content[0].(*mcp.TextContent).Text)
	client.Close()
	server.Wait()
	// Output: {"rooms":[],"next":null}
}
