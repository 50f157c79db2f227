package roomsapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/langrooms/langrooms/roomsapi"
	"github.com/langrooms/langrooms/sharedsession"
)

const plain = `{"name":"build","agents":["proto","reviewer"],"users":["bob"]}`

// Every refusal of section 2 and 7.
func TestRefusals(t *testing.T) {
	s := serve(t)
	open := s.room("user:ada", plain)
	watched := s.room("user:ada", `{"name":"w","agents":["proto",{"name":"reviewer","role":"observer"}],"users":["bob"]}`)
	shut := s.room("user:ada", plain)
	if status, v := s.call("user:ada", "POST", "/api/rooms/"+shut+"/close", ""); status != 200 {
		t.Fatal(v)
	}
	long := strings.Repeat("é", 8001)
	tests := []struct {
		who, method, path, body string
		status                  int
		code                    string
	}{
		{"user:ada", "POST", "/api/rooms", `{`, 400, "invalid_json"},
		{"user:ada", "POST", "/api/rooms", `[]`, 422, "invalid_request"},
		{"user:ada", "POST", "/api/rooms", `{"agents":["proto"]}`, 422, "invalid_name"},
		{"user:ada", "POST", "/api/rooms", `{"name":5,"agents":["proto"]}`, 422, "invalid_name"},
		{"user:ada", "POST", "/api/rooms", `{"name":"` + strings.Repeat("n", 201) + `","agents":["proto"]}`, 422, "invalid_name"},
		{"user:ada", "POST", "/api/rooms", `{"name":"n"}`, 422, "no_participants"},
		{"user:ada", "POST", "/api/rooms", `{"name":"n","agents":[]}`, 422, "no_participants"},
		{"user:ada", "POST", "/api/rooms", `{"name":"n","agents":["1","2","3","4","5","6","7","8","9","10","11","12","13"]}`, 422, "too_many_participants"},
		{"user:ada", "POST", "/api/rooms", `{"name":"n","agents":["proto","proto"]}`, 422, "duplicate_participants"},
		{"user:ada", "POST", "/api/rooms", `{"name":"n","agents":["proto"],"scribe":"reviewer"}`, 422, "invalid_scribe"},
		{"user:ada", "POST", "/api/rooms", `{"name":"n","agents":["ghost"]}`, 403, "agent_not_accessible"},
		{"user:ada", "POST", "/api/rooms", `{"name":"n","agents":["proto"],"max_messages":501}`, 422, "invalid_budget"},
		{"user:ada", "POST", "/api/rooms", `{"name":"n","agents":["proto"],"max_cost_usd":0}`, 422, "invalid_budget"},
		{"user:ada", "POST", "/api/rooms", `{"name":"n","agents":["proto"],"ttl_hours":169}`, 422, "invalid_budget"},
		{"user:ada", "POST", "/api/rooms", `{"name":"n","agents":["proto"],"topic":"` + strings.Repeat("t", 2001) + `"}`, 422, "invalid_topic"},
		{"user:ada", "GET", "/api/rooms?limit=-1", "", 422, "invalid_query"},
		{"user:ada", "GET", "/api/rooms?cursor=nonsense", "", 422, "invalid_query"},
		{"user:ada", "GET", "/api/rooms/" + open + "?since=-1", "", 422, "invalid_query"},
		{"user:ada", "GET", "/api/rooms/" + open + "?since=x", "", 422, "invalid_query"},
		{"user:ada", "GET", "/api/rooms/" + open + "/events?since=x", "", 422, "invalid_query"},
		{"user:ada", "GET", "/api/rooms/" + open + "/export?format=pdf", "", 422, "invalid_query"},
		{"user:ada", "POST", "/api/rooms/" + open + "/messages", `{}`, 422, "empty_message"},
		{"user:ada", "POST", "/api/rooms/" + open + "/messages", `{"content":" \n"}`, 422, "empty_message"},
		{"user:ada", "POST", "/api/rooms/" + open + "/messages", `{"content":"\u200b\u2060"}`, 422, "empty_message"},
		{"user:ada", "POST", "/api/rooms", `{"name":"\u200b","agents":["proto"]}`, 422, "invalid_name"},
		{"user:ada", "POST", "/api/rooms/" + open + "/messages", `{"content":"` + long + `"}`, 413, "message_too_large"},
		{"user:ada", "POST", "/api/rooms/" + open + "/messages", `nope`, 400, "invalid_json"},
		{"user:ada", "POST", "/api/rooms/" + shut + "/messages", `{"content":"x"}`, 410, "room_closed"},
		{"user:ada", "PATCH", "/api/rooms/" + open, `{"name":""}`, 422, "invalid_name"},
		{"user:ada", "PATCH", "/api/rooms/" + open, `{"status":"closed"}`, 422, "invalid_status"},
		{"user:ada", "PATCH", "/api/rooms/" + open, `{"max_messages":null}`, 422, "invalid_budget"},
		{"user:ada", "POST", "/api/rooms/" + open + "/close", `{"reason":"` + strings.Repeat("r", 51) + `"}`, 422, "invalid_reason"},
		{"user:ada", "POST", "/api/rooms/" + open + "/participants", `{"kind":"dog","name":"x"}`, 422, "invalid_participant"},
		{"user:ada", "POST", "/api/rooms/" + open + "/participants", `{"kind":"user","name":"x","role":"king"}`, 422, "invalid_role"},
		{"user:ada", "POST", "/api/rooms/" + open + "/participants", `{"kind":"agent","name":"ghost"}`, 403, "agent_not_accessible"},
		{"user:ada", "POST", "/api/rooms/" + open + "/wakes/none/stop", "", 404, "wake_not_found"},
		{"user:bob", "POST", "/api/rooms/" + open + "/close", "", 403, "forbidden"},
		{"user:bob", "PATCH", "/api/rooms/" + open, `{"max_messages":70}`, 403, "forbidden"},
		{"user:bob", "POST", "/api/rooms/" + open + "/participants", `{"kind":"user","name":"eve"}`, 403, "forbidden"},
		{"user:bob", "DELETE", "/api/rooms/" + open + "/participants/proto", "", 403, "forbidden"},
		{"agent:reviewer", "POST", "/api/rooms/" + watched + "/messages", `{"content":"x"}`, 403, "forbidden"},
		{"user:eve", "GET", "/api/rooms/" + open + "/nothing", "", 404, "room_not_found"},
	}
	for _, tt := range tests {
		status, v := s.call(tt.who, tt.method, tt.path, tt.body)
		if status != tt.status || code(v) != tt.code {
			t.Errorf("%s %s %s %.60s: %d %v, want %d %s", tt.who, tt.method, tt.path, tt.body, status, v, tt.status, tt.code)
		}
	}
	_, v := s.call("user:ada", "POST", "/api/rooms/"+shut+"/messages", `{"content":"x"}`)
	if reason := v["detail"].(map[string]any)["stop_reason"]; reason != "user_closed" {
		t.Errorf("stop_reason %v", reason)
	}
}

// unusableCalls are, for each pattern with a room, what may be sent there: fit and unfit.
var unusableCalls = map[string][]struct{ path, body string }{
	"GET /api/rooms/{id}":                        {{"", ""}, {"?since=-1", ""}, {"?limit=x", ""}, {"?before=999999999999999999999", ""}},
	"PATCH /api/rooms/{id}":                      {{"", `{"name":"x"}`}, {"", `{`}, {"", ""}, {"", `{"status":7}`}},
	"POST /api/rooms/{id}/messages":              {{"/messages", `{"content":"hello"}`}, {"/messages", `{`}, {"/messages", `{}`}, {"/messages", "\xff"}, {"/messages?wait=nonsense", `{"content":"x"}`}},
	"POST /api/rooms/{id}/close":                 {{"/close", ""}, {"/close", `{"reason":5}`}, {"/close", `[`}},
	"POST /api/rooms/{id}/participants":          {{"/participants", `{"kind":"user","name":"eve"}`}, {"/participants", `{`}, {"/participants", `{"kind":"ghost"}`}},
	"DELETE /api/rooms/{id}/participants/{name}": {{"/participants/proto", ""}, {"/participants/nobody", ""}},
	"GET /api/rooms/{id}/export":                 {{"/export", ""}, {"/export?format=x", ""}},
	"GET /api/rooms/{id}/events":                 {{"/events", ""}, {"/events?since=x", ""}},
	"POST /api/rooms/{id}/wakes/{wake}/stop":     {{"/wakes/w/stop", ""}, {"/wakes/w/stop", `{`}},
}

// Not a member and no such room: the same status, body, headers and work of the store, at each
// endpoint and whatever is sent (spec 1.3).
func TestUniformNotFound(t *testing.T) {
	s := serveRooms(t, true)
	there := s.room("user:ada", plain)
	server, err := roomsapi.New(roomsapi.Config{Rooms: new(sharedsession.Service), Who: func(*http.Request) sharedsession.Caller { return sharedsession.Caller{} }})
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, pattern := range roomsapi.Routes(server) {
		if !strings.Contains(pattern, "{id}") {
			continue
		}
		method, _, _ := strings.Cut(pattern, " ")
		if len(unusableCalls[pattern]) == 0 {
			t.Errorf("%s is not tried", pattern)
		}
		for _, c := range unusableCalls[pattern] {
			for _, who := range []string{"user:eve", "agent:ada", "agent:eve!"} {
				tried++
				look := func(id string) string {
					s.store.Take()
					status, body, header := s.answer(who, method, "/api/rooms/"+id+c.path, c.body)
					header.Del("Date")
					return fmt.Sprint(status, body, header, s.store.Take())
				}
				a := look(there)
				for _, absent := range []string{"room_0123456789abcdef", "main", "%2e%2e%2fx"} {
					if b := look(absent); a != b || !strings.HasPrefix(a, "404") || !strings.HasSuffix(a, "[Get]") {
						t.Errorf("%s %q %q by %s: a room of others: %s, %s: %s", pattern, c.path, c.body, who, a, absent, b)
					}
				}
			}
		}
	}
	if tried < 60 {
		t.Errorf("%d calls tried", tried)
	}
}

func keys(v any) []string {
	var names []string
	for name := range v.(map[string]any) {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func words(text string) []string {
	list := strings.Fields(text)
	slices.Sort(list)
	return list
}

// The objects of section 7 have these fields, absent values too.
func TestShapes(t *testing.T) {
	s := serve(t)
	id := s.room("user:ada", plain)
	const room = "id name topic status stop_reason created_at created_by closed_at expires_at last_message_at max_messages max_cost_usd " +
		"ttl_hours message_count cost_usd cost_known budget_used head_seq participant_count agents role unread unread_mentions summary"
	_, posted := s.call("user:ada", "POST", "/api/rooms/"+id+"/messages?wait=true", `{"content":"@proto go @ghost"}`)
	_, quick := s.call("user:ada", "POST", "/api/rooms/"+id+"/messages", `{"content":"note"}`)
	_, read := s.call("user:ada", "GET", "/api/rooms/"+id, "")
	_, list := s.call("user:bob", "GET", "/api/rooms", "")
	_, patched := s.call("user:ada", "PATCH", "/api/rooms/"+id, `{"topic":"why"}`)
	_, closed := s.call("user:ada", "POST", "/api/rooms/"+id+"/close", `{}`)
	listed := list["rooms"].([]any)[0]
	for _, tt := range []struct {
		name, want string
		got        any
	}{
		{"room read", room + " participants messages has_more working", read},
		{"room listed", room, listed},
		{"room patched", room, patched},
		{"list", "rooms next", list},
		{"participant", "kind name role joined_at left_at read_seq", read["participants"].([]any)[0]},
		{"message", "seq id kind sender content mentions created_at wake in_reply_to cost_usd late failed", read["messages"].([]any)[0]},
		{"post", "room_id seq mentions wakes unresolved added replayed", quick},
		{"waited post", "room_id seq mentions wakes unresolved added replayed messages", posted},
		{"wake", "id agent state", posted["wakes"].([]any)[0]},
		{"close", "room_id closed already_closed stop_reason", closed},
	} {
		if diff := cmp.Diff(words(tt.want), keys(tt.got)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
	if n := listed.(map[string]any)["unread"]; n != 4.0 {
		t.Errorf("bob has %v unread", n)
	}
	if diff := cmp.Diff([]any{"ghost"}, posted["unresolved"]); diff != "" {
		t.Error(diff)
	}
	if n := len(posted["messages"].([]any)); n != 2 {
		t.Errorf("the chain wrote %d messages", n)
	}
}

func TestIdempotencyKey(t *testing.T) {
	s := serve(t)
	id := s.room("user:ada", plain)
	path := "/api/rooms/" + id + "/messages"
	_, first := s.call("user:ada", "POST", path, `{"content":"@proto go"}`, "Idempotency-Key", "k")
	_, again := s.call("user:ada", "POST", path, `{"content":"@proto go"}`, "Idempotency-Key", "k")
	if again["replayed"] != true || first["replayed"] != false || first["seq"] != again["seq"] {
		t.Errorf("%v, %v", first, again)
	}
	if status, v := s.call("user:ada", "POST", path, `{"content":"other"}`, "Idempotency-Key", "k"); status != 422 {
		t.Errorf("%d %v", status, v)
	}
	if _, v := s.call("user:bob", "POST", path, `{"content":"@proto go"}`, "Idempotency-Key", "k"); v["replayed"] != false {
		t.Errorf("another's key: %v", v)
	}
}

// Where the feature is off every path says so in plain words.
func TestNotEnabled(t *testing.T) {
	s := serve(t)
	s.enabled.Store(false)
	for _, path := range []string{"/api/rooms", "/api/rooms/room_0123456789abcdef", "/api/rooms/x/y/z"} {
		status, v := s.call("user:ada", "GET", path, "")
		if _, plain := v["detail"].(string); status != 404 || !plain {
			t.Errorf("%s: %d %v", path, status, v)
		}
	}
}

// A stream gives every message behind its seq, once and in order, and ends when its reader is
// taken out.
func TestEvents(t *testing.T) {
	s := serve(t)
	id := s.room("user:ada", plain)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", s.url+"/api/rooms/"+id+"/events?since=0", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Who", "user:bob")
	req.Header.Set("Last-Event-ID", "1-7")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got := resp.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Error(got)
	}
	s.call("user:ada", "POST", "/api/rooms/"+id+"/messages", `{"content":"@proto go"}`)
	var seqs []float64
	var kinds []string
	var name string
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		field, value, _ := strings.Cut(lines.Text(), ": ")
		switch field {
		case "event":
			name = value
			kinds = append(kinds, value)
		case "data":
			var m map[string]any
			if err := json.Unmarshal([]byte(value), &m); err != nil {
				t.Fatal(err)
			}
			if name == "message" {
				seqs = append(seqs, m["seq"].(float64))
			}
			if m["seq"] == 4.0 {
				s.call("user:ada", "DELETE", "/api/rooms/"+id+"/participants/bob", "")
				s.call("user:ada", "POST", "/api/rooms/"+id+"/messages", `{"content":"bob must not see this"}`)
			}
		}
	}
	if got := fmt.Sprint(seqs); got != "[2 3 4 5]" {
		t.Errorf("seqs %s of %v", got, kinds)
	}
	if kinds[len(kinds)-1] != "gone" || !slices.Contains(kinds, "wake") {
		t.Errorf("events %v", kinds)
	}
}
