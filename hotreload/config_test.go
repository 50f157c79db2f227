package hotreload

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/langrooms/langrooms/delegate/a2aagent"
	"github.com/langrooms/langrooms/delegate/acpagent"
	"github.com/langrooms/langrooms/delegate/openaiagent"
	"github.com/langrooms/langrooms/setting"
)

func TestDefault(t *testing.T) {
	c := Default()
	want := Config{
		Lead:           Lead{HistoryMaxTokens: 24000, Compact: "auto"},
		Model:          Model{Provider: "demo", Timeout: 2 * time.Minute},
		Checkpointer:   Checkpointer{URL: "sqlite:langrooms.db"},
		Room:           Room{CatchupMaxMessages: 40, CatchupMaxChars: 8000, MaxRounds: 3, Parallel: "off"},
		Continuity:     "memory",
		Server:         Server{Addr: "127.0.0.1:8080"},
		SharedSessions: SharedSessions{Enabled: true, Defaults: SessionDefaults{MaxMessages: 60, TTLHours: 24}},
	}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got %+v\nwant %+v", c, want)
	}
	for _, v := range c.Values() {
		if !v.Default {
			t.Errorf("%s is not called a default", v.Key)
		}
	}
}

// TestDelegateDefaults shows what an entry with only its required fields means (spec:
// rooms, section 6).
func TestDelegateDefaults(t *testing.T) {
	const file = "delegates:\n- { name: a, type: a2a, url: 'http://h' }\n- { name: b, type: openai, url: 'http://h', model: m }\n- { name: c, type: acp, command: c }\n"
	c, findings, err := Parse("f.yaml", []byte(file))
	if err != nil || findings != nil {
		t.Fatal(findings, err)
	}
	want := []Delegate{
		{Name: "a", Type: "a2a", Line: 2, Settings: &a2aagent.Settings{URL: "http://h", PollTimeout: 300 * time.Second, HTTP: setting.HTTP{Retries: 1}}},
		{Name: "b", Type: "openai", Line: 3, Settings: &openaiagent.Settings{URL: "http://h", Model: "m", MaxTokens: 1024, Timeout: time.Minute, TotalTimeout: 10 * time.Minute, HTTP: setting.HTTP{Retries: 1}}},
		{Name: "c", Type: "acp", Line: 4, Settings: &acpagent.Settings{Command: "c", Timeout: 30 * time.Minute, IdleLimit: 30 * time.Minute, Permissions: "auto"}},
	}
	for i, d := range c.Delegates {
		if !reflect.DeepEqual(d, want[i]) {
			t.Errorf("delegate %s differs", d.Name)
		}
	}
}

// TestDelegateEqual shows that every field but the line counts, those of the settings too.
func TestDelegateEqual(t *testing.T) {
	base := Delegate{Name: "n"}
	differs := func(what string, want bool, other Delegate) {
		if base.Equal(other) == want {
			t.Errorf("with another %s they are equal: %v", what, !want)
		}
	}
	for i := range reflect.TypeOf(base).NumField() {
		other, name := base, reflect.TypeOf(base).Field(i).Name
		change(t, reflect.ValueOf(&other).Elem().Field(i))
		differs(name, name != "Line", other)
	}
	for _, typ := range []string{"a2a", "openai", "acp"} {
		fresh, _ := typeOf(typ)
		base.Type, base.Settings = typ, fresh.New()
		for i := range reflect.TypeOf(base.Settings).Elem().NumField() {
			other := base
			other.Settings = fresh.New()
			differs("pointer to settings", false, other)
			v := reflect.ValueOf(other.Settings).Elem()
			change(t, v.Field(i))
			differs(typ+" "+v.Type().Field(i).Name, true, other)
		}
	}
}

// change gives v another value.
func change(t *testing.T, v reflect.Value) {
	t.Helper()
	switch p := v.Addr().Interface().(type) {
	case *string:
		*p += "x"
	case *int:
		*p++
	case **float64:
		*p = new(0.0)
	case *bool:
		*p = !*p
	case **bool:
		*p = new(false)
	case *map[string]any:
		*p = map[string]any{"x": 1}
	case *time.Duration:
		*p++
	case *setting.Secret:
		*p = setting.FromEnv("X")
	case *any:
		*p = &struct{ X int }{1}
	case *a2aagent.Auth:
		p.Credential = setting.NewSecret("x")
	case *Cost:
		p.InputPerMTok = new(0.0)
	case *setting.HTTP:
		p.CAFile = "x"
	case *[]string:
		*p = []string{"x"}
	case *[]setting.MCPServer:
		*p = []setting.MCPServer{{Name: "x"}}
	case *map[string]string:
		*p = map[string]string{"x": "y"}
	default:
		t.Fatalf("no other value for a %s", v.Type())
	}
}

// TestSecretsStayHidden prints a whole configuration in every usual way.
func TestSecretsStayHidden(t *testing.T) {
	data, err := os.ReadFile("testdata/corpus/good-full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c, _, err := Parse("f.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	c.Model.URL = "https://user:hunter2@h/v1"
	var b bytes.Buffer
	fmt.Fprintf(&b, "%v %+v %#v\n", c, c, c)
	fmt.Fprintf(&b, "%v %+v %#v\n", &c, c.Delegates, c.Server.Keys)
	for _, d := range c.Delegates {
		fmt.Fprintf(&b, "%v %+v %#v\n", d, d, d)
		switch s := d.Settings.(type) {
		case *a2aagent.Settings:
			fmt.Fprintf(&b, "%v %q\n", s.Auth, s.Auth.Credential)
		case *openaiagent.Settings:
			fmt.Fprintf(&b, "%v %#v %q\n", s.APIKey, s.APIKey, s.APIKey)
		}
	}
	log := slog.New(slog.NewTextHandler(&b, nil))
	log.Info("x", "config", c, "secret", c.Server.Keys[1].Key, "delegate", c.Delegates[0], "store", c.Checkpointer)
	jlog := slog.New(slog.NewJSONHandler(&b, nil))
	jlog.Info("x", "config", c.Model, "keys", c.Server.Keys, "store", c.Checkpointer)
	for _, v := range []any{c.Model, c.Server, c.Checkpointer, c.Delegates, c.Values(), c} {
		if err := json.NewEncoder(&b).Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	if i := strings.Index(b.String(), "hunter2"); i >= 0 {
		t.Errorf("a secret shows: %s", b.String()[max(0, i-80):i+10])
	}
	for _, want := range []string{"(hidden)", "($OPENAI_API_KEY)", "redis://***@db.example.com:6379/0"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s does not show", want)
		}
	}
}

// TestMisplacedSecretsStayHidden writes a secret where it does not belong, as people do: no
// finding, error or value shows it.
func TestMisplacedSecretsStayHidden(t *testing.T) {
	for name, in := range map[string]string{
		"in place of a variable's name":    "model: { api_key_env: sk-hunter2 }\n",
		"the same at a delegate":           "delegates: [ { name: a, type: a2a, url: http://h, auth: { scheme: bearer, credentialsEnv: eyJ.hunter2 } } ]\n",
		"the same at a server key":         "server: { keys: [ { name: ada, key_env: \"hunter2+/=\" } ] }\n",
		"begins with a star":               "model:\n  api_key: *hunter2\n",
		"begins with an exclamation":       "model:\n  api_key: !hunter2 x\n",
		"holds a colon":                    "model:\n  api_key: hunter2: x\n",
		"holds a bad escape":               "model:\n  api_key: \"hunter2\\q\"\n",
		"is a list":                        "model: { api_key: [hunter2] }\n",
		"in place of the section":          "model: hunter2\n",
		"in place of the keys":             "server: { keys: { ada: hunter2 } }\n",
		"an env entry as NAME=VALUE":       "delegates: [ { name: a, type: acp, command: c, env: { K=hunter2: x } } ]\n",
		"an env that is text":              "delegates: [ { name: a, type: acp, command: c, env: K=hunter2 } ]\n",
		"a token as the scheme":            "delegates: [ { name: a, type: a2a, url: http://h, auth: { scheme: eyJhbGciOiJI-hunter2, token: bearer } } ]\n",
		"a signed address":                 "model: { url: \"https://h/v1?sig=hunter2\" }\n",
		"the password of another store":    "checkpointer: { url: \"postgres://u:hunter2@h/db\" }\n",
		"the password of a broken address": "model: { url: \"https://u:hunter2@h:bad/v1\" }\n",
	} {
		c, findings, err := Parse("f.yaml", []byte(in))
		all := fmt.Sprintf("%v %v %+v %v", findings, err, c, c.Values())
		if strings.Contains(all, "hunter2") {
			t.Errorf("%s: %s", name, all)
		}
	}
}

func TestSecretResolve(t *testing.T) {
	t.Setenv("LANGROOMS_TEST_SECRET", " s3cret\n")
	t.Setenv("LANGROOMS_TEST_EMPTY", " ")
	t.Setenv("LANGROOMS_TEST_BROKEN", "s3\ncret")
	tests := []struct {
		name   string
		secret setting.Secret
		want   string
		err    string
	}{
		{"none", setting.Secret{}, "", ""},
		{"literal", setting.NewSecret("abc"), "abc", ""},
		{"variable", setting.FromEnv("LANGROOMS_TEST_SECRET"), "s3cret", ""},
		{"empty variable", setting.FromEnv("LANGROOMS_TEST_EMPTY"), "", "environment variable LANGROOMS_TEST_EMPTY is not set or empty"},
		{"missing variable", setting.FromEnv("LANGROOMS_TEST_NONE"), "", "environment variable LANGROOMS_TEST_NONE is not set or empty"},
		{"line break", setting.FromEnv("LANGROOMS_TEST_BROKEN"), "", "environment variable LANGROOMS_TEST_BROKEN holds control characters"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.secret.Resolve()
			if got != tt.want || (err == nil) != (tt.err == "") || err != nil && err.Error() != tt.err {
				t.Errorf("got %q, %v", got, err)
			}
			if tt.secret.IsZero() != (tt.name == "none") {
				t.Errorf("IsZero is %v", tt.secret.IsZero())
			}
		})
	}
	t.Setenv("LANGROOMS_TEST_SECRET", "rotated")
	if got, _ := tests[2].secret.Resolve(); got != "rotated" {
		t.Errorf("after a rotation: %q", got)
	}
}

func TestFindingAsJSON(t *testing.T) {
	_, findings, err := Parse("f.yaml", []byte("room: { max_rounds: 11 }\nroms: 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(findings[0])
	want := `{"severity":"warning","file":"f.yaml","line":1,"column":21,"key":"room.max_rounds","message":"room.max_rounds: 11 is above the ceiling; 10 is used"}`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
}

// Check tells of each variable that the file names and that is not set, with its place.
func TestCheckTellsOfUnsetVariables(t *testing.T) {
	t.Setenv("LANGROOMS_TEST_SECRET", "s3cret")
	const data = `model: { provider: openai, model: m, api_key_env: LANGROOMS_TEST_NONE }
delegates:
  - { name: a, type: a2a, url: "http://h", auth: { credentialsEnv: LANGROOMS_TEST_SECRET }, headers_env: { X-K: LANGROOMS_TEST_NONE } }
  - { name: b, type: acp, command: c, mcp_servers: [{ name: s, command: c, env_from: { K: LANGROOMS_TEST_NONE } }] }
server: { keys: [{ name: ada, key_env: LANGROOMS_TEST_NONE }] }
`
	findings, err := Check("f.yaml", []byte(data))
	var got []string
	for _, f := range findings {
		if strings.Contains(f.Message, "is not set") {
			got = append(got, f.String())
		}
	}
	want := []string{
		`f.yaml:1:51: warning: model.api_key_env: the environment variable LANGROOMS_TEST_NONE is not set`,
		`f.yaml:3:106: warning: delegate "a": headers_env.X-K: the environment variable LANGROOMS_TEST_NONE is not set`,
		`f.yaml:4:86: warning: delegate "b": mcp server "s": env_from.K: the environment variable LANGROOMS_TEST_NONE is not set`,
		`f.yaml:5:40: warning: key "ada": key_env: the environment variable LANGROOMS_TEST_NONE is not set`,
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("(-want +got)\n%s%v", diff, err)
	}
	if _, err := Check("f.yaml", []byte("a: [")); !errors.Is(err, ErrUnusable) {
		t.Errorf("a file that is none: %v", err)
	}
}
