package setup_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/hotreload"
	"github.com/langrooms/langrooms/setting"
	"github.com/langrooms/langrooms/setup"
)

// telnet is what the file says of a delegate of a fourth protocol.
type telnet struct {
	Host     string
	Port     int
	Password setting.Secret
	Wait     time.Duration
	Gain     float64
	Echo     *bool
	Lines    []string
	Vars     map[string]string
}

func checkHost(text string) error {
	if strings.Contains(text, "/") {
		return errors.New("names no host")
	}
	return nil
}

func init() {
	setup.RegisterType("telnet", func(e setup.Entry, s telnet) (delegate.Delegate, error) {
		if s.Port == 22 {
			return nil, errors.New("port 22 is another protocol's")
		}
		return &line{own{name: e.Name}, s}, nil
	}, func(s *telnet) []setting.Problem {
		if s.Wait > 0 && s.Port == 99 {
			return []setting.Problem{{Key: "port", Text: "port 99 is slow", Warning: true, AtKey: true}}
		}
		if s.Gain < 0 {
			return []setting.Problem{{Key: "gain", Text: "gain is below nothing"}}
		}
		return nil
	},
		setting.Of[telnet]{Field: setting.Field{Key: "host", Kind: setting.Text, Required: true, Check: checkHost, Help: "The host."},
			At: func(t *telnet) any { return &t.Host }},
		setting.Of[telnet]{Field: setting.Field{Key: "port", Kind: setting.Whole, Default: 23, Least: 1, Ceiling: 65535, Help: "The port."},
			At: func(t *telnet) any { return &t.Port }},
		setting.Of[telnet]{Field: setting.Field{Key: "login.password_env", Kind: setting.Variable, Help: "The password's variable."},
			At: func(t *telnet) any { return &t.Password }},
		setting.Of[telnet]{Field: setting.Field{Key: "wait_s", Kind: setting.Seconds, Default: 5.0, Ceiling: 60, Help: "The longest silence."},
			At: func(t *telnet) any { return &t.Wait }},
		setting.Of[telnet]{Field: setting.Field{Key: "gain", Kind: setting.Number, Least: -5, Help: "A number."},
			At: func(t *telnet) any { return &t.Gain }},
		setting.Of[telnet]{Field: setting.Field{Key: "echo", Kind: setting.Bool, Help: "Whether it echoes."},
			At: func(t *telnet) any { return &t.Echo }},
		setting.Of[telnet]{Field: setting.Field{Key: "lines", Kind: setting.List, Help: "What is sent first."},
			At: func(t *telnet) any { return &t.Lines }},
		setting.Of[telnet]{Field: setting.Field{Key: "vars", Kind: setting.Map, Help: "Variables."},
			At: func(t *telnet) any { return &t.Vars }},
	)
	setup.RegisterStore("noted", func(_ context.Context, url string) (checkpointer.Saver, error) {
		if url == "noted:broken" {
			return nil, errors.New("it is broken")
		}
		return memorysaver.New(), nil
	})
}

// line is a delegate of that protocol.
type line struct {
	own
	settings telnet
}

const noted = `
checkpointer: { url: "noted:x" }
model: { provider: openai, url: "http://127.0.0.1:1/v1", model: m }
delegates:
  - { name: a, type: openai, url: "http://127.0.0.1:1/v1", model: m }
  - { name: t, type: telnet, description: old, host: h, login: { password_env: T_PASSWORD }, gain: 0.5, echo: false, lines: [one], vars: { A: b } }
`

// A fourth protocol, registered from outside with keys of its own, is configured, reloaded,
// edited and shown like the three of this module, and so is a store.
func TestRegisteredType(t *testing.T) {
	a, f := openFile(t, noted)
	expect(t, "roster", []string{"a", "t"}, a.Roster.Current().Names())
	got, ok := a.delegate("t").(*line)
	if !ok {
		t.Fatal("it is another delegate")
	}
	no := false
	want := telnet{Host: "h", Port: 23, Password: setting.FromEnv("T_PASSWORD"), Wait: 5 * time.Second, Gain: 0.5, Echo: &no, Lines: []string{"one"}, Vars: map[string]string{"A": "b"}}
	expect(t, "settings", true, cmp.Equal(want, got.settings, cmp.Comparer(func(x, y setting.Secret) bool { return x == y })))

	f.write("# moved\n" + noted)
	if err := hotreload.AddDelegate(f.path, hotreload.Delegate{Name: "u", Type: "telnet", Settings: &telnet{Host: "u", Port: 99, Gain: 2}}); err != nil {
		t.Fatal(err)
	}
	a.has("a", "t", "u")
	expect(t, "an equal entry keeps its delegate", true, a.delegate("t") == delegate.Delegate(got))
	expect(t, "added", telnet{Host: "u", Port: 99, Gain: 2, Wait: 5 * time.Second}.Host, a.delegate("u").(*line).settings.Host)
	if err := hotreload.Set(f.path, "delegates.t.port", "24"); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		if now := a.delegate("t").(*line); now.settings.Port != 24 {
			return errors.New("the change is not in force")
		}
		return nil
	})
	for key, value := range map[string]string{"delegates.t.port": "0", "delegates.t.host": "a/b", "delegates.t.url": "http://h", "delegates.a.host": "h"} {
		if err := hotreload.Set(f.path, key, value); err == nil {
			t.Errorf("%s = %s was taken", key, value)
		}
	}
	var shown []string
	for _, v := range a.Config().Values() {
		if strings.HasPrefix(v.Key, "delegates.t.") {
			shown = append(shown, v.Key[len("delegates.t."):]+"="+v.Value)
		}
	}
	expect(t, "shown", "name=t type=telnet description=old host=h port=24 login.password_env=($T_PASSWORD) wait_s=5 gain=0.5 echo=false lines=[one] vars=A=(hidden)", strings.Join(shown, " "))
	var keys []string
	for _, field := range hotreload.Schema() {
		if slices.Equal(field.Types, []string{"telnet"}) {
			keys = append(keys, field.Key)
		}
		if field.Key == "delegates[].type" && !slices.Contains(field.Choices, "telnet") {
			t.Errorf("a form offers the types %v", field.Choices)
		}
	}
	expect(t, "keys of the schema", 8, len(keys))
}

// What is wrong with an entry of such a type is said with its place; the others stay.
func TestRegisteredTypeIsChecked(t *testing.T) {
	a, _ := openFile(t, `
checkpointer: { url: "noted:x" }
model: { provider: openai, url: "http://127.0.0.1:1/v1", model: m }
delegates:
  - { name: ok, type: telnet, host: h, prot: 1 }
  - { name: nowhere, type: telnet }
  - { name: path, type: telnet, host: a/b }
  - { name: shell, type: telnet, host: h, port: 22 }
  - { name: text, type: telnet, host: h, port: many }
  - { name: b, type: a2a, url: "http://h", host: h }
  - { name: low, type: telnet, host: h, gain: -1 }
  - { name: slow, type: telnet, host: h, port: 99 }
`)
	expect(t, "roster", []string{"ok", "b", "slow"}, a.Roster.Current().Names())
	says(t, a.all(), "langgraph-config.yaml:5:", "did you mean port?", "langgraph-config.yaml:6:", "host is missing", "langgraph-config.yaml:7:", "host names no host",
		`Delegate "shell" is left out: port 22`, "langgraph-config.yaml:9:", "port must be a whole number", "host is not used by type a2a",
		`langgraph-config.yaml:11:5: error: delegate "low": refused: gain is below nothing`, `langgraph-config.yaml:12:48: warning: delegate "slow": port 99 is slow`)
	f := newFile(t, "checkpointer: { url: \"noted:broken\" }")
	_, err := setup.Open(t.Context(), setup.Options{Path: f.path, Required: true})
	says(t, err, "checkpointer: it is broken")
	err = hotreload.AddDelegate(f.path, hotreload.Delegate{Name: "x", Type: "telnet", Settings: new(int)})
	if !errors.Is(err, hotreload.ErrBadDelegate) {
		t.Errorf("settings of another type: %v", err)
	}
}

// A registration that cannot work is a fault of the program.
func TestRegisterPanics(t *testing.T) {
	field := func(f setting.Field, at any) setting.Of[telnet] {
		return setting.Of[telnet]{Field: f, At: func(*telnet) any { return at }}
	}
	register := func(name string, f setting.Field, at any) func() {
		return func() { setting.Register(name, nil, field(f, at)) }
	}
	text := setting.Field{Key: "x", Kind: setting.Text}
	for name, register := range map[string]func(){
		"a type twice":       register("a2a", text, new(string)),
		"no name":            register("", text, new(string)),
		"a key twice":        func() { setting.Register("p0", nil, field(text, new(string)), field(text, new(string))) },
		"a key of all":       register("p1", setting.Field{Key: "name", Kind: setting.Text}, new(string)),
		"a key too deep":     register("p2", setting.Field{Key: "a.b.c", Kind: setting.Text}, new(string)),
		"no kind":            register("p3", setting.Field{Key: "x"}, new(string)),
		"a place of another": register("p4", text, new(int)),
		"a store twice":      func() { hotreload.RegisterStore("redis:") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is taken", name)
				}
			}()
			register()
		}()
	}
}

// parrot is a delegate of a protocol of the program's own.
type parrot struct {
	name string
	says string
}

func (p *parrot) Info() delegate.Info { return delegate.Info{Name: p.name, Type: "parrot"} }
func (p *parrot) Ask(_ context.Context, _ delegate.Request) (delegate.Reply, error) {
	return delegate.Reply{Text: p.says}, nil
}
func (p *parrot) Probe(context.Context) (delegate.Health, error) { return delegate.Health{}, nil }
func (p *parrot) Close() error                                   { return nil }

// A protocol of the program's own is named in the configuration file like the others.
func ExampleRegisterType() {
	type settings struct{ Says string }
	setup.RegisterType("parrot", func(e setup.Entry, s settings) (delegate.Delegate, error) {
		return &parrot{e.Name, s.Says}, nil
	}, nil, setting.Of[settings]{
		Field: setting.Field{Key: "says", Kind: setting.Text, Default: "hello", Help: "What it answers."},
		At:    func(s *settings) any { return &s.Says },
	})

	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "langgraph-config.yaml")
	err = os.WriteFile(path, []byte(`
checkpointer: { url: "memory:" }
delegates:
  - { name: polly, type: parrot, says: pieces of eight }
`), 0o600)
	if err != nil {
		fmt.Println(err)
		return
	}
	app, err := setup.Open(context.Background(), setup.Options{Path: path, Required: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer app.Close()
	polly, _ := app.Roster.Current().Get("polly")
	reply, err := polly.Ask(context.Background(), delegate.Request{Prompt: "what do you want?"})
	fmt.Println(reply.Text, err)
	// Output: pieces of eight <nil>
}
