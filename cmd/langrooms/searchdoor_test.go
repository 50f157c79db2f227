package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// A search at the server finds what was said in the caller's own threads and sessions, and nothing of others'.
func TestSearchOfTheServer(t *testing.T) {
	t.Parallel()
	f := folder(t, says(t, "I am the lead."), `server:
  keys:
    - { name: ada, key: planted-ada }
    - { name: bob, key: planted-bob }
    - { name: root, key: planted-root, admin: true }
`+roster(openaiEntry("proto", says(t, "The needle is in the haystack."))))
	f.Run("chat", "-t", "local", "-m", "@proto where?")
	f.Run("chat", "-t", "local", "--incognito", "-m", "@proto a planted secret")
	s := serve(t, f)
	find := func(key, text string) string {
		t.Helper()
		code, body := s.ask(t, "GET", "/api/search?q="+text, "", "X-Api-Key", key)
		expect(t, "status of "+body, 200, code)
		var got struct {
			Found []struct{ Kind, Author, Excerpt string }
		}
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, f := range got.Found {
			all = append(all, fmt.Sprint(f.Kind, " ", f.Author, ": ", f.Excerpt))
		}
		return strings.Join(all, "|")
	}
	code, body := s.ask(t, "POST", "/threads/t-of-ada/runs/wait", `{"assistant_id":"agent","if_not_exists":"create","input":{"messages":"@proto mine"}}`, "X-Api-Key", "planted-ada")
	expect(t, "a thread of ada's: "+body, 200, code)
	code, body = s.ask(t, "POST", "/api/rooms", `{"name":"hay","agents":["proto"]}`, "X-Api-Key", "planted-ada")
	expect(t, "a session of ada's: "+body, 200, code)
	id := between(body, `"id":"`, `"`)
	code, body = s.ask(t, "POST", "/api/rooms/"+id+"/messages", `{"content":"a NEEDLE in a room"}`, "X-Api-Key", "planted-ada")
	expect(t, "a post: "+body, true, code < 300)

	expect(t, "ada's", "room ada: a NEEDLE in a room|thread proto: The needle is in the haystack.", find("planted-ada", "needle"))
	expect(t, "bob's", "", find("planted-bob", "needle"))
	expect(t, "an admin's", "room ada: a NEEDLE in a room|thread proto: The needle is in the haystack.|thread proto: The needle is in the haystack.", find("planted-root", "needle"))
	expect(t, "off the record", "", find("planted-root", "planted+secret"))
	code, _ = s.ask(t, "GET", "/api/search?q=x", "")
	expect(t, "without a key", 401, code)
	s.end(t)
}
