package httpapi_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/langrooms/langrooms/httpapi"
	_ "github.com/langrooms/langrooms/setup" // whose types of delegates a file may have
)

const rosterFile = `# ours
delegates:
  - name: proto # builds
    type: openai
    url: "http://127.0.0.1:1/v1"
    model: m
    api_key: planted-secret
    headers: { X-Team: planted-team }
`

// Entries are added, changed and removed by the schema of their type, each in one step and with
// no other byte of the file changed; a secret comes out nowhere.
func TestRoster(t *testing.T) {
	s := serve(t, rosterFile, "proto")
	_, v := s.call("GET", "/api/delegate-types", "")
	var names []string
	for _, one := range v["types"].([]any) {
		of := one.(map[string]any)
		names = append(names, of["type"].(string))
		for _, f := range of["fields"].([]any) {
			if key := f.(map[string]any)["key"].(string); key == "api_key" || key == "auth.token" || strings.Contains(key, "[]") {
				t.Errorf("%s has the field %s", of["type"], key)
			}
		}
	}
	if !slices.Equal(names, []string{"a2a", "openai", "acp"}) {
		t.Errorf("the types are %v", names)
	}
	_, v = s.call("GET", "/api/delegates/proto", "")
	values, version := v["values"].(map[string]any), v["version"].(string)
	if values["url"] != "http://127.0.0.1:1/v1" || values["model"] != "m" || len(v["hidden"].([]any)) != 2 {
		t.Errorf("the entry is %v", v)
	}

	status, v := s.call("POST", "/api/delegates", `{"version":"`+version+`","name":"scout","type":"a2a","values":{"url":"https://scout.example","auth.scheme":"bearer","auth.credentialsEnv":"SCOUT_KEY","poll_timeout_s":30}}`)
	if status != 200 || v["values"].(map[string]any)["auth.credentialsEnv"] != "SCOUT_KEY" || v["values"].(map[string]any)["poll_timeout_s"] != "30" {
		t.Fatalf("an entry more: %d %v", status, v)
	}
	added := file(t, s)
	if !strings.HasPrefix(added, rosterFile) || !strings.Contains(added, "credentialsEnv: SCOUT_KEY") {
		t.Errorf("the file is\n%s", added)
	}
	version = v["version"].(string)
	status, v = s.call("PUT", "/api/delegates/proto", `{"version":"`+version+`","values":{"model":"large","timeout_s":90,"description":"builds: \"all\""}}`)
	if status != 200 || v["values"].(map[string]any)["model"] != "large" || v["values"].(map[string]any)["timeout_s"] != "90" {
		t.Fatalf("a change: %d %v", status, v)
	}
	if now := file(t, s); !strings.Contains(now, "name: proto # builds") || !strings.Contains(now, "api_key: planted-secret") || !strings.Contains(now, "model: large\n") {
		t.Errorf("the file is\n%s", now)
	}
	version = v["version"].(string)
	if status, v = s.call("DELETE", "/api/delegates/scout?version="+version, ""); status != 200 {
		t.Fatalf("a removal: %d %v", status, v)
	}
	if now := file(t, s); strings.Contains(now, "scout") {
		t.Errorf("the file is\n%s", now)
	}
}

func file(t *testing.T, s *site) string {
	t.Helper()
	data, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// What the parser would refuse is refused with its words, and nothing is written; nor over a
// newer file, nor for one who is no admin.
func TestRosterRefusals(t *testing.T) {
	s := serve(t, rosterFile, "proto")
	_, v := s.call("GET", "/api/delegate-types", "")
	version := `"version":"` + v["version"].(string) + `"`
	for _, bad := range []struct {
		method, path, body string
		status             int
		code               string
	}{
		{"POST", "", `{` + version + `,"name":"proto","type":"a2a","values":{"url":"https://a.example"}}`, 422, "invalid_delegate"},
		{"POST", "", `{` + version + `,"name":"a b","type":"a2a","values":{"url":"https://a.example"}}`, 422, "invalid_delegate"},
		{"POST", "", `{` + version + `,"name":"a","type":"telnet","values":{}}`, 422, "invalid_delegate"},
		{"POST", "", `{` + version + `,"name":"a","type":"a2a","values":{}}`, 422, "invalid_delegate"},
		{"POST", "", `{` + version + `,"name":"a","type":"a2a","values":{"url":"ftp://a"}}`, 422, "invalid_delegate"},
		{"POST", "", `{` + version + `,"name":"a","type":"a2a","values":{"url":"https://a.example","auth.token":"planted"}}`, 422, "invalid_delegate"},
		{"POST", "", `{` + version + `,"name":"a","type":"openai","values":{"url":"https://a.example","model":"m","retries":99}}`, 422, "invalid_delegate"},
		{"POST", "", `{"name":"a","type":"a2a","values":{"url":"https://a.example"}}`, 422, "invalid_delegate"},
		{"POST", "", `{"version":"older","name":"a","type":"a2a","values":{"url":"https://a.example"}}`, 409, "changed"},
		{"PUT", "/nobody", `{` + version + `,"values":{"model":"n"}}`, 404, "delegate_not_found"},
		{"PUT", "/proto", `{` + version + `,"values":{"api_key":"planted"}}`, 422, "invalid_value"},
		{"PUT", "/proto", `{` + version + `,"values":{"headers":"x"}}`, 422, "invalid_value"},
		{"PUT", "/proto", `{` + version + `,"values":{"name":"other"}}`, 422, "invalid_value"},
		{"PUT", "/proto", `{` + version + `,"values":{"retries":99}}`, 422, "above_ceiling"},
		{"PUT", "/proto", `{` + version + `,"values":{}}`, 422, "invalid_request"},
		{"PUT", "/proto", `{"version":"older","values":{"model":"n"}}`, 409, "changed"},
		{"GET", "/nobody", ``, 404, "delegate_not_found"},
		{"DELETE", "/nobody?version=x", ``, 404, "delegate_not_found"},
		{"DELETE", "/proto", ``, 422, "invalid_request"},
		{"DELETE", "/proto?version=older", ``, 409, "changed"},
	} {
		if status, v := s.call(bad.method, "/api/delegates"+bad.path, bad.body); status != bad.status || code(v) != bad.code {
			t.Errorf("%s %s %s: %d %v, want %d %s", bad.method, bad.path, bad.body, status, v, bad.status, bad.code)
		}
	}
	if now := file(t, s); now != rosterFile {
		t.Errorf("a refused change has changed the file:\n%s", now)
	}
	s.who = httpapi.Caller{Name: "bob"}
	for _, call := range [][2]string{{"POST", ""}, {"GET", "/types"}, {"GET", "/proto"}, {"PUT", "/proto"}, {"DELETE", "/proto"}} {
		if status, v := s.call(call[0], "/api/delegates"+call[1], `{}`); status != 403 || code(v) != "forbidden" {
			t.Errorf("%s %s of one who is no admin: %d %v", call[0], call[1], status, v)
		}
	}
}

// A delegate may have any name that a roster can hold: none is a path of the API's own.
func TestDelegateNamedTypes(t *testing.T) {
	s := serve(t, "delegates:\n  - { name: types, type: openai, url: \"http://127.0.0.1:1/v1\", model: m }\n", "types")
	if status, v := s.call("GET", "/api/delegates/types", ""); status != 200 || v["name"] != "types" {
		t.Errorf("%d %v", status, v)
	}
}
