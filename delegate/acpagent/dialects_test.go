package acpagent

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/langrooms/langrooms/delegate"
)

// rawAgent is an agent that gives these answers, one for each message.
func rawAgent(t testing.TB, change func(*Config), answers ...string) (*Agent, Config) {
	t.Helper()
	c := testConfig(t, "raw", strings.Join(answers, "\n"))
	if change != nil {
		change(&c)
	}
	return newAgent(t, c), c
}

// requests are the messages that a raw agent was sent.
func requests(t testing.TB, c Config) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(c.Env[stateVariable], "requests"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func rawResult(result string) string { return `{"jsonrpc":"2.0","id":$ID,"result":` + result + `}` }

func rawUpdate(update string) string {
	return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":` + update + `}}`
}

func rawText(id, text string) string {
	if id != "" {
		id = `,"messageId":"` + id + `"`
	}
	return rawUpdate(`{"sessionUpdate":"agent_message_chunk"` + id + `,"content":{"type":"text","text":"` + text + `"}}`)
}

const (
	rawAuth   = `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32000,"message":"Authentication required"}}`
	rawTool   = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"cat a","kind":"read","status":"pending"}}}`
	rawToolUp = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}}}`
)

func TestMessagesArePartedFromEachOther(t *testing.T) {
	for name, c := range map[string]struct {
		updates []string
		want    string
	}{
		"a tool call":               {[]string{rawText("", "first."), rawTool, rawToolUp, rawText("", "The file")}, "first.\n\nThe file"},
		"known by its update only":  {[]string{rawText("", "first."), rawToolUp, rawText("", "The file")}, "first.\n\nThe file"},
		"a tool's end is no break":  {[]string{rawTool, rawText("", "the fi"), rawToolUp, rawText("", "le")}, "the file"},
		"message ids":               {[]string{rawText("1", "one"), rawText("1", " more"), rawText("2", "two")}, "one more\n\ntwo"},
		"one message around a call": {[]string{rawText("1", "the fi"), rawTool, rawText("1", "le")}, "the file"},
		"breaks of its own":         {[]string{rawText("", `first\n`), rawTool, rawText("", `\nthen`)}, "first\n\nthen"},
		"nothing before":            {[]string{rawTool, rawText("", "then")}, "then"},
		"half a character before":   {[]string{rawText("1", `one \ud83d`), rawText("2", "two")}, "one \uFFFD\n\ntwo"},
	} {
		a, _ := rawAgent(t, nil, rawHello, rawSession, strings.Join(append(c.updates, rawEnd), "\r"))
		if reply := ask(t, a, "hi"); reply.Text != c.want {
			t.Errorf("%s: %q, want %q", name, reply.Text, c.want)
		}
	}
}

func TestTextAfterTheAnswerBelongsToIt(t *testing.T) {
	for _, late := range []string{"0", "5", "50", "300"} {
		c := testConfig(t, "scripted", "")
		c.lateGrace = 0 // its default
		a := newAgent(t, c)
		for range 2 {
			if reply := ask(t, a, "say begin ", "late "+late+" end"); reply.Text != "begin end" {
				t.Errorf("%s ms late: %q", late, reply.Text)
			}
		}
	}
}

// What an agent replays after the answer to session/load is no part of the next answer.
func TestLateReplayEntersNoAnswer(t *testing.T) {
	c := sharedConfig(t, "late-replay")
	c.lateGrace = 0
	a := newAgent(t, c)
	ask(t, a, "say one")
	a = restart(t, a, c)
	if reply := ask(t, a, "say two"); reply.Text != "two" {
		t.Errorf("the reply is %q", reply.Text)
	}
}

// Some agents leave out a result that says nothing: to session/load, to authenticate and to what
// sets a mode.
func TestAnAnswerWithoutResultIsOne(t *testing.T) {
	nothing := `{"jsonrpc":"2.0","id":$ID}`
	hello := rawResult(`{"protocolVersion":1,"agentCapabilities":{"loadSession":true},"authMethods":[` + wordsMethod + `]}`)
	session := rawResult(`{"sessionId":"s","modes":{"currentModeId":"a","availableModes":[{"id":"a","name":"A"},{"id":"b","name":"B"}]}}`)
	a, _ := rawAgent(t, func(c *Config) { c.AuthMethod, c.Mode = "words", "b" },
		hello, nothing, session, nothing, rawText("", "one")+"\r"+rawEnd)
	if reply := ask(t, a, "hi"); reply.Text != "one" {
		t.Errorf("in a new session the reply is %q", reply.Text)
	}
	a, c := rawAgent(t, func(c *Config) { c.Sessions = knows{delegate.NewMemoryContinuity(), "s"} },
		hello, nothing, rawText("", "two")+"\r"+rawEnd)
	reply := ask(t, a, "hi")
	if sent := requests(t, c); reply.Text != "two" || reply.NewConversation || !strings.Contains(sent, "session/load") || strings.Contains(sent, "session/new") {
		t.Errorf("in a loaded session the reply is %+v, sent was %s", reply, sent)
	}
}

// knows is a store that has a session's id for every key.
type knows struct {
	delegate.Continuity
	id string
}

func (k knows) Get(context.Context, delegate.ContextKey) (string, error) { return k.id, nil }

func TestWhatStandsBeforeAMessageIsSkipped(t *testing.T) {
	for _, before := range []string{"\x1b[1 q", "\uFEFF", "starting {agent} … ", "{not json "} {
		a, _ := rawAgent(t, nil, before+rawHello, before+rawSession, before+rawText("", "hi")+"\r"+before+rawEnd)
		if reply := ask(t, a, "hi"); reply.Text != "hi" {
			t.Errorf("%q: %q", before, reply.Text)
		}
	}
}

func authHello(methods string) string {
	return rawResult(`{"protocolVersion":1,"authMethods":[` + methods + `]}`)
}

const (
	browserMethod = `{"id":"chatgpt","name":"Log in with ChatGPT"}`
	keyMethod     = `{"id":"key","name":"Key","type":"env_var","vars":[{"name":"TEST_API_KEY"},{"name":"NOT_SET_ANYWHERE","optional":true}]}`
	wordsMethod   = `{"id":"words","name":"Use TEST_API_KEY"}`
	unsetMethod   = `{"id":"unset","type":"env_var","vars":[{"name":"NOT_SET_ANYWHERE"}]}`
)

func TestAuthentication(t *testing.T) {
	answer := rawText("", "in") + "\r" + rawEnd
	for name, c := range map[string]struct {
		method  string
		answers []string
		sent    string // part of what was sent
		refused string // part of the cause
	}{
		"the first that needs no person": {"", []string{authHello(browserMethod + "," + unsetMethod + "," + keyMethod), rawAuth, rawResult(`{}`), rawSession, answer}, `"methodId":"key"`, ""},
		"named in words":                 {"", []string{authHello(browserMethod + "," + wordsMethod), rawAuth, rawResult(`{}`), rawSession, answer}, `"methodId":"words"`, ""},
		"the configured one":             {"chatgpt", []string{authHello(browserMethod + "," + keyMethod), rawResult(`{}`), rawSession, answer}, `"methodId":"chatgpt"`, ""},
		"not asked for":                  {"", []string{authHello(keyMethod), rawSession, answer}, `"session/prompt"`, ""},
		"all need a person":              {"", []string{authHello(browserMethod + "," + unsetMethod), rawAuth}, "", "offers: chatgpt, unset (needs NOT_SET_ANYWHERE)"},
		"not offered":                    {"other", []string{authHello(browserMethod)}, "", `auth_method: the agent does not offer "other"; it offers chatgpt`},
		"refused":                        {"", []string{authHello(keyMethod), rawAuth, rawAuth}, "", "authenticate: Authentication required"},
	} {
		t.Run(name, func(t *testing.T) {
			set := func(into *Config) { into.AuthMethod = c.method }
			for _, do := range []func(*Agent) error{
				func(a *Agent) error { _, err := a.Probe(t.Context()); return err },
				func(a *Agent) error {
					reply, err := a.Ask(t.Context(), delegate.Request{Prompt: "hi"})
					if err == nil && reply.Text != "in" {
						t.Errorf("the reply is %q", reply.Text)
					}
					return err
				},
			} {
				a, config := rawAgent(t, set, c.answers...)
				if c.refused != "" {
					if e := mustFail(t, a, func() error { return do(a) }); e.Kind != delegate.KindRefused || !strings.Contains(e.Cause(), c.refused) {
						t.Errorf("%s: %v", e.Kind, e)
					}
					continue
				}
				if err := do(a); err != nil {
					t.Error(err)
				}
				if sent := requests(t, config); c.sent != `"session/prompt"` && !strings.Contains(sent, c.sent) {
					t.Errorf("sent: %s", sent)
				}
			}
		})
	}
}

func TestModelAndModeAreSet(t *testing.T) {
	const options = `"configOptions":[{"id":"m","category":"model","type":"select","currentValue":"small","options":[{"value":"small"},{"group":"g","options":[{"value":"big"}]}]}]`
	const older = `"models":{"availableModels":[{"modelId":"small"},{"modelId":"big"}],"currentModelId":"small"}`
	const modes = `"modes":{"availableModes":[{"id":"code"},{"id":"plan"}],"currentModeId":"code"}`
	for name, c := range map[string]struct {
		model, mode, session string
		sent, refused        string
	}{
		"by option":   {"big", "", options, `"method":"session/set_config_option","params":{"configId":"m","sessionId":"s","value":"big"}`, ""},
		"older":       {"big", "", older, `"method":"session/set_model","params":{"modelId":"big","sessionId":"s"}`, ""},
		"mode":        {"", "plan", modes, `"method":"session/set_mode","params":{"modeId":"plan","sessionId":"s"}`, ""},
		"not offered": {"huge", "", options, "", `model: the agent does not offer "huge"; it offers small, big`},
		"no choice":   {"", "plan", `"x":1`, "", `mode: the agent does not offer "plan"; it offers none`},
	} {
		t.Run(name, func(t *testing.T) {
			a, config := rawAgent(t, func(into *Config) { into.Model, into.Mode = c.model, c.mode },
				rawHello, rawResult(`{"sessionId":"s",`+c.session+`}`), rawResult(`{}`), rawEnd)
			if c.refused != "" {
				e := mustFail(t, a, func() error { _, err := a.Probe(t.Context()); return err })
				if e.Kind != delegate.KindRefused || !strings.Contains(e.Cause(), c.refused) {
					t.Errorf("%s: %v", e.Kind, e)
				}
				return
			}
			ask(t, a, "hi")
			if sent := requests(t, config); !strings.Contains(sent, c.sent) {
				t.Errorf("sent: %s", sent)
			}
		})
	}
}

func TestMCPServersAreHandedOver(t *testing.T) {
	t.Setenv("DOCS_TOKEN", "Bearer planted-9c2f71e8ab34")
	hello := rawResult(`{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"http":true}}}`)
	servers := []MCPServer{
		{Name: "files", Command: "mcp-files", Args: []string{"--ro"}, Env: map[string]string{"A": "1"}, EnvFrom: map[string]string{"B": "DOCS_TOKEN"}},
		{Name: "docs", URL: "http://127.0.0.1:1/mcp", HeadersFrom: map[string]string{"Authorization": "DOCS_TOKEN"}},
	}
	use := func(c *Config) { c.MCPServers = servers }
	a, config := rawAgent(t, use, hello, rawSession, rawText("", "I have planted-9c2f71e8ab34")+"\r"+rawEnd)
	if reply := ask(t, a, "hi"); reply.Text != "I have [redacted]" {
		t.Errorf("the reply is %q", reply.Text)
	}
	sent := requests(t, config)
	for _, want := range []string{
		`{"args":["--ro"],"command":"mcp-files","env":[{"name":"A","value":"1"},{"name":"B","value":"Bearer planted-9c2f71e8ab34"}],"name":"files"}`,
		`"headers":[{"name":"Authorization","value":"Bearer planted-9c2f71e8ab34"}]`, `"type":"http"`,
	} {
		if !strings.Contains(sent, want) {
			t.Errorf("sent %s\nwithout %s", sent, want)
		}
	}
	asked := []bool{}
	more := func(c *Config) {
		c.MoreServers = func(http bool) []MCPServer {
			asked = append(asked, http)
			return []MCPServer{{Name: "own", URL: "http://127.0.0.1:1/mcp", Headers: map[string]string{"Authorization": "Bearer planted-77aa31c0de45"}}}
		}
	}
	a, config = rawAgent(t, more, hello, rawSession, rawText("", "I have planted-77aa31c0de45")+"\r"+rawEnd)
	if reply := ask(t, a, "hi"); reply.Text != "I have [redacted]" || !strings.Contains(requests(t, config), `"name":"own"`) || !asked[len(asked)-1] {
		t.Errorf("a server of the program's own: %q, asked %v", reply.Text, asked)
	}
	a, _ = rawAgent(t, use, rawHello, rawSession)
	e := mustFail(t, a, func() error { _, err := a.Probe(t.Context()); return err })
	if e.Kind != delegate.KindRefused || !strings.Contains(e.Cause(), `mcp_servers: "docs" has a url`) {
		t.Errorf("an agent without HTTP: %v", e)
	}
	servers[0].EnvFrom["B"] = "NOT_SET_ANYWHERE"
	a, _ = rawAgent(t, use, hello)
	e = mustFail(t, a, func() error { _, err := a.Probe(t.Context()); return err })
	if !strings.Contains(e.Cause(), "NOT_SET_ANYWHERE, which is not set") {
		t.Errorf("an unset variable: %v", e)
	}
}

func TestRefusedPermissionIsSaid(t *testing.T) {
	const said = "“go test ./...” (execute) was refused by permissions: readonly"
	for end, want := range map[string]delegate.Reply{
		"stop end_turn":                   {Text: "(" + said + ")"},
		"stop cancelled":                  {Text: "(" + said + ")"},
		"say I shall test\nstop end_turn": {Text: "I shall test", Incomplete: said},
		"say I shall test\nstop cancelled": {Text: "I shall test",
			Incomplete: "the agent cancelled the turn: " + said},
	} {
		c := testConfig(t, "scripted", "")
		c.Permissions = PermissionsReadonly
		reply := ask(t, newAgent(t, c), "quietly execute go test ./...", end)
		if reply.Text != want.Text || reply.Incomplete != want.Incomplete {
			t.Errorf("%s: %q, incomplete %q", end, reply.Text, reply.Incomplete)
		}
	}
}

// What was said before the agent itself broke off is kept.
func TestWordsBeforeACancelledTurnAreKept(t *testing.T) {
	reply := ask(t, newScripted(t), "say I began", "stop cancelled")
	if reply.Text != "I began" || reply.Incomplete != "the agent cancelled the turn" {
		t.Errorf("%q, incomplete %q", reply.Text, reply.Incomplete)
	}
}

func TestPermissionIsAskedFor(t *testing.T) {
	var asked []delegate.PermissionRequest
	give := func(answer delegate.PermissionAnswer) func(context.Context, delegate.PermissionRequest) delegate.PermissionAnswer {
		return func(ctx context.Context, r delegate.PermissionRequest) delegate.PermissionAnswer {
			asked = append(asked, r)
			if answer == "wait" {
				<-ctx.Done()
				return delegate.PermissionNo
			}
			return answer
		}
	}
	c := testConfig(t, "scripted", "")
	c.Permissions, c.AllowKinds, c.DenyKinds = PermissionsAsk, []string{"read"}, []string{"delete"}
	c.PermissionTimeout = 50 * time.Millisecond
	a := newAgent(t, c)
	for _, step := range []struct {
		permission func(context.Context, delegate.PermissionRequest) delegate.PermissionAnswer
		prompt     string
		reply      string
		incomplete string
		asked      int
	}{
		{nil, "named execute ls", "reject", "“ls” (execute) was refused by permissions: ask (nobody can be asked here)", 0},
		{give(delegate.PermissionNo), "named execute ls", "reject", "“ls” (execute) was refused by permissions: ask", 1},
		{give("wait"), "named execute ls", "reject", "“ls” (execute) was refused by permissions: ask (no answer within 50ms)", 1},
		{give("whatever"), "named execute ls", "reject", "“ls” (execute) was refused by permissions: ask", 1},
		{give(delegate.PermissionOnce), "named execute ls", "allow", "", 1},
		{give(delegate.PermissionConversation), "named execute ls", "allow", "", 1},
		{give(delegate.PermissionNo), "named execute ls", "allow", "", 0},
		{give(delegate.PermissionNo), "named execute rm", "reject", "“rm” (execute) was refused by permissions: ask", 1},
		{give(delegate.PermissionNo), "named read a", "allow", "", 0},
		{give(delegate.PermissionOnce), "named delete a", "reject", "“a” (delete) was refused by deny_kinds", 0},
	} {
		asked = nil
		reply, err := a.Ask(t.Context(), delegate.Request{Prompt: step.prompt, Conversation: "thread", Permission: step.permission})
		if err != nil || strings.TrimSpace(reply.Text) != step.reply || reply.Incomplete != step.incomplete || len(asked) != step.asked {
			t.Errorf("%s: %q, incomplete %q, %v, asked %+v\nwant %+v", step.prompt, reply.Text, reply.Incomplete, err, asked, step)
		}
		for _, r := range asked {
			if r.Delegate != "proto" || r.Kind != "execute" || len(r.Options) != 3 || r.Options[1] != (delegate.PermissionOption{ID: "allow", Name: "Once", Kind: "allow_once"}) {
				t.Errorf("asked %+v", r)
			}
		}
	}
}

// A request that waits for a person is answered "cancelled" when the turn is stopped, and
// nobody is being asked any more when Ask returns.
func TestStopWhileAPersonIsAsked(t *testing.T) {
	c := testConfig(t, "scripted", "")
	c.Permissions = PermissionsAsk
	a := newAgent(t, c)
	ctx, cancel := context.WithCancel(t.Context())
	over := false
	_, err := a.Ask(ctx, delegate.Request{Prompt: "named execute ls", Conversation: "thread",
		Permission: func(ctx context.Context, _ delegate.PermissionRequest) delegate.PermissionAnswer {
			cancel()
			<-ctx.Done()
			over = true
			return delegate.PermissionOnce
		}})
	if e := delegate.AsError("", err); e.Kind != delegate.KindCanceled || !over {
		t.Errorf("%v, over %v", err, over)
	}
}

func TestCostIsTheDifferenceWithinTheSession(t *testing.T) {
	cost := func(amount string) string {
		return rawUpdate(`{"sessionUpdate":"usage_update","used":1,"size":2,"cost":{"amount":` + amount + `,"currency":"USD"}}`)
	}
	a, _ := rawAgent(t, nil, rawHello, rawSession, cost("0.25")+"\r"+rawEnd, cost("0.5")+"\r"+cost("1.0")+"\r"+rawEnd, rawEnd)
	for i, want := range []float64{0.25, 0.75, -1} {
		reply := ask(t, a, "hi")
		switch {
		case want < 0 && reply.Usage != nil, want >= 0 && (reply.Usage == nil || *reply.Usage.CostUSD != want):
			t.Errorf("answer %d: %+v", i, reply.Usage)
		}
	}
}

func TestNewConversationIsSaidAndOpened(t *testing.T) {
	opening := func(context.Context) (string, error) { return "say the whole\ncount", nil }
	for _, mode := range []string{"no-load", "load-fails"} {
		c := sharedConfig(t, mode)
		a := newAgent(t, c)
		ask(t, a, "say one")
		a = restart(t, a, c)
		for i, want := range []delegate.Reply{{Text: "the whole1", NewConversation: true}, {Text: "2"}} {
			reply, err := a.Ask(t.Context(), delegate.Request{Prompt: "count", Opening: opening, Conversation: "thread"})
			if err != nil || reply.Text != want.Text || reply.NewConversation != want.NewConversation {
				t.Errorf("%s %d: %+v, %v", mode, i, reply, err)
			}
		}
	}
	a := newScripted(t)
	if reply := ask(t, a, "say one"); reply.NewConversation {
		t.Error("the first conversation is said to be a new one")
	}
}

func TestErrorsNameTheKey(t *testing.T) {
	c := testConfig(t, "scripted", "hang-init")
	c.Timeout = 50 * time.Millisecond
	if e := askFails(t, newAgent(t, c), delegate.Request{}); !strings.Contains(e.Cause(), "no answer within 50ms (timeout_s)") {
		t.Error(e)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	a := newScripted(t, "hang-init")
	e := mustFail(t, a, func() error { _, err := a.Probe(ctx); return err })
	if !strings.HasPrefix(e.Cause(), "initialize: no answer in time") {
		t.Error(e)
	}
}
