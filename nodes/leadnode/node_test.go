package leadnode_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"
	"go.uber.org/goleak"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/middleware/cast"
	"github.com/langrooms/langrooms/nodes/leadnode"
	"github.com/langrooms/langrooms/room"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// model answers from a script and keeps the last prompt.
type model struct {
	script []*llms.ContentChoice
	err    error
	prompt []llms.MessageContent
	tools  []llms.Tool
	during func()
	pieces [][]string // of each call
}

func (m *model) GenerateContent(_ context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	var o llms.CallOptions
	for _, option := range options {
		option(&o)
	}
	m.prompt, m.tools = messages, o.Tools
	if m.during != nil {
		m.during()
	}
	if m.err != nil {
		return nil, m.err
	}
	if len(m.pieces) > 0 {
		for _, piece := range m.pieces[0] {
			if err := o.StreamingFunc(context.Background(), []byte(piece)); err != nil {
				return nil, err
			}
		}
		m.pieces = m.pieces[1:]
	}
	next := m.script[0]
	if len(m.script) > 1 {
		m.script = m.script[1:]
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{next}}, nil
}

func (m *model) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, m, prompt, options...)
}

func words(text string) *llms.ContentChoice { return &llms.ContentChoice{Content: text} }

func toolCall(names ...string) *llms.ContentChoice {
	c := &llms.ContentChoice{Content: "I will ask."}
	for i, name := range names {
		c.ToolCalls = append(c.ToolCalls, llms.ToolCall{ID: fmt.Sprint("c", i), Type: "function",
			FunctionCall: &llms.FunctionCall{Name: name, Arguments: `{"name":"` + name + `"}`}})
	}
	return c
}

// tool runs a function.
type tool struct {
	name string
	do   func(ctx context.Context, arguments string) (string, error)
}

func (t tool) Definition() llms.Tool {
	return llms.Tool{Type: "function", Function: &llms.FunctionDefinition{Name: t.name}}
}
func (t tool) Call(ctx context.Context, arguments string) (string, error) {
	return t.do(ctx, arguments)
}

// echo is a delegate that answers with how much it was sent.
type echo struct{ name string }

func (e echo) Info() delegate.Info                            { return delegate.Info{Name: e.name, Type: "test"} }
func (e echo) Probe(context.Context) (delegate.Health, error) { return delegate.Health{}, nil }
func (e echo) Close() error                                   { return nil }
func (e echo) Ask(_ context.Context, req delegate.Request) (delegate.Reply, error) {
	return delegate.Reply{Text: e.name + " saw:\n" + req.Prompt}, nil
}

func newNode(t *testing.T, m *model, saver checkpointer.Saver, tools ...leadnode.Tool) *leadnode.Node {
	t.Helper()
	n, err := leadnode.New(leadnode.Config{Saver: saver, System: "Be brief.", Tools: tools, MaxSteps: 4,
		Model: func() (llms.Model, error) { return cast.Wrap(m, nil), nil }})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// thread renders what is stored, a line a message.
func thread(t *testing.T, saver checkpointer.Saver) []string {
	t.Helper()
	var lines []string
	for m, err := range saver.Messages(t.Context(), checkpointer.Ref{Thread: "t"}, checkpointer.Range{}) {
		if errors.Is(err, checkpointer.ErrNotFound) {
			return nil
		}
		if err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf("%d %s", m.Seq, m.Role)
		if s := m.Stamp; s != nil {
			line += fmt.Sprintf(" from=%s to=%v seen=%d", s.From, s.To, s.Seen)
		}
		for _, p := range m.Parts {
			switch {
			case p.ToolCall != nil:
				line += " call " + p.ToolCall.Name
			case p.ToolResult != nil:
				line += fmt.Sprintf(" result error=%t %s", p.ToolResult.IsError, p.ToolResult.Content)
			default:
				line += " " + p.Text
			}
		}
		lines = append(lines, strings.ReplaceAll(line, "\n", "⏎"))
	}
	return lines
}

func expect(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestAnswer(t *testing.T) {
	saver, m := memorysaver.New(), &model{script: []*llms.ContentChoice{words(" Auth. ")}}
	defer saver.Close()
	result, err := newNode(t, m, saver).Run(t.Context(), leadnode.Input{Thread: "t", Text: "what broke?"})
	expect(t, "error", nil, err)
	expect(t, "result", langrooms.Result{Thread: "t", Text: "Auth."}, result)
	expect(t, "thread", []string{"0 human what broke?", "1 ai Auth."}, thread(t, saver))
}

// A turn never ends in silence; nothing is recorded of an answer that says nothing.
func TestAnswerWithoutText(t *testing.T) {
	saver, m := memorysaver.New(), &model{script: []*llms.ContentChoice{words(" \n")}}
	defer saver.Close()
	result, err := newNode(t, m, saver).Run(t.Context(), leadnode.Input{Thread: "t", Text: "hello"})
	expect(t, "error", nil, err)
	without := "The lead answered without text."
	expect(t, "result", langrooms.Result{Thread: "t", Text: without, Aside: without}, result)
	expect(t, "thread", []string{"0 human hello"}, thread(t, saver))
}

// The model's failure is an error of ours; what the operator said stays (design: details
// that other programs may rely on).
func TestModelFails(t *testing.T) {
	saver := memorysaver.New()
	defer saver.Close()
	boom := errors.New("boom")
	_, err := newNode(t, &model{err: boom}, saver).Run(t.Context(), leadnode.Input{Thread: "t", Text: "hello"})
	if !errors.Is(err, leadnode.ErrModel) || !errors.Is(err, boom) {
		t.Errorf("the error is %v, want ErrModel and its cause", err)
	}
	expect(t, "thread", []string{"0 human hello"}, thread(t, saver))
}

// A model that cannot be had, such as for a key that is not set, loses nothing either.
func TestNoModel(t *testing.T) {
	saver := memorysaver.New()
	defer saver.Close()
	boom := errors.New("no key")
	n, err := leadnode.New(leadnode.Config{Saver: saver, Model: func() (llms.Model, error) { return nil, boom }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Run(t.Context(), leadnode.Input{Thread: "t", Text: "hello"}); !errors.Is(err, leadnode.ErrModel) || !errors.Is(err, boom) {
		t.Errorf("the error is %v, want ErrModel and its cause", err)
	}
	expect(t, "thread", []string{"0 human hello"}, thread(t, saver))
}

// The room is fixed at the turn's start and given back at its end (spec 10).
func TestRoomIsFixed(t *testing.T) {
	saver, taken, released := memorysaver.New(), 0, 0
	defer saver.Close()
	var leads []string
	look := tool{"look", func(ctx context.Context, _ string) (string, error) {
		_, r, ok := exchange.FromContext(ctx)
		leads = append(leads, fmt.Sprint(r.Lead, ok))
		return "seen", nil
	}}
	m := &model{script: []*llms.ContentChoice{toolCall("look"), toolCall("look"), words("done")}}
	n, err := leadnode.New(leadnode.Config{Saver: saver, Tools: []leadnode.Tool{look},
		Model: func() (llms.Model, error) { return m, nil },
		Room: func() (exchange.Room, func()) {
			taken++
			return exchange.Room{Lead: fmt.Sprint("lead", taken)}, func() { released++ }
		}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = n.Run(t.Context(), leadnode.Input{Thread: "t", Text: "go"})
	expect(t, "error", nil, err)
	expect(t, "the lead at each call", []string{"lead1true", "lead1true"}, leads)
	expect(t, "taken, released", []int{1, 1}, []int{taken, released})
	if _, err := n.Run(t.Context(), leadnode.Input{Thread: "\xff", Text: "go"}); err == nil {
		t.Error("a bad thread id is taken")
	}
	expect(t, "released after a failed start", []int{2, 2}, []int{taken, released})
}

// Call, results and what the tools recorded are one update: results first, then the room's
// records; each member's window holds what the tool call before it recorded (spec 8).
func TestToolsRecord(t *testing.T) {
	saver := memorysaver.New()
	defer saver.Close()
	roster, err := delegate.NewRegistry(echo{"proto"}, echo{"reviewer"})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(name string) tool {
		return tool{"ask_" + name, func(ctx context.Context, _ string) (string, error) {
			turn, fixed, ok := exchange.FromContext(ctx)
			if !ok {
				return "", errors.New("no turn")
			}
			r, err := turn.Address(ctx, exchange.Room{Roster: roster, MaxRounds: 1, Events: fixed.Events},
				exchange.Address{From: room.Speaker{Kind: room.SpeakerLead, Name: langrooms.Assistant}, To: []string{name}, Message: "is it safe?"})
			if err != nil {
				return "", err
			}
			return r.Outcomes[0].Reply, nil
		}}
	}
	m := &model{script: []*llms.ContentChoice{toolCall("ask_proto", "ask_reviewer", "missing"), words("Both say yes.")}}
	var events []langrooms.EventType
	node := newNode(t, m, saver, ask("proto"), ask("reviewer"))
	result, err := node.Run(t.Context(), leadnode.Input{Thread: "t", Text: "is it?",
		Events: func(e langrooms.Event) { events = append(events, e.Type) }})
	expect(t, "error", nil, err)
	expect(t, "text", "Both say yes.", result.Text)
	preface := "You are taking part in a group chat. Here is what has been said since you last spoke:⏎⏎[operator] is it?⏎[assistant] I will ask.⏎"
	addressed := "⏎You have been addressed directly as @%s. Reply to this message:⏎⏎is it safe?"
	proto := "proto saw:⏎" + preface + fmt.Sprintf(addressed, "proto")
	reviewer := "reviewer saw:⏎" + preface + "[assistant] is it safe?⏎[proto] " + strings.ReplaceAll(proto, "⏎", "⏎  ") + "⏎" + fmt.Sprintf(addressed, "reviewer")
	reviewer = strings.ReplaceAll(reviewer, "⏎  ⏎", "⏎⏎")
	got := thread(t, saver)
	for i := range got {
		got[i] = strings.ReplaceAll(got[i], "⏎  ⏎", "⏎⏎")
	}
	expect(t, "thread", []string{
		"0 human is it?",
		"1 ai I will ask. call ask_proto call ask_reviewer call missing",
		"2 tool result error=false " + proto,
		"3 tool result error=false " + reviewer,
		`4 tool result error=true Error: there is no tool "missing"`,
		"5 human from=assistant to=[proto] seen=0 is it safe?",
		"6 human from=proto to=[] seen=6 " + proto,
		"7 human from=assistant to=[reviewer] seen=0 is it safe?",
		"8 human from=reviewer to=[] seen=8 " + reviewer,
		"9 ai Both say yes.",
	}, got)
	if len(m.tools) != 2 || m.tools[0].Function.Name != "ask_proto" {
		t.Errorf("the model was offered %v", m.tools)
	}
	system := m.prompt[0].Parts[0].(llms.TextContent).Text
	want := "Be brief.\n\n" + room.CastBlock("", []string{"proto", "reviewer"})
	expect(t, "the cast, derived anew at the second call", want, system)
	if !slices.Contains(events, langrooms.EventDispatchStarted) || !slices.Contains(events, langrooms.EventToolCall) {
		t.Errorf("events: %v", events)
	}
}

// A stop in the middle of a tool keeps what was recorded, is no error, and the next turn
// works at once.
func TestStop(t *testing.T) {
	saver := memorysaver.New()
	defer saver.Close()
	ctx, cancel := context.WithCancel(t.Context())
	stop := tool{"stop", func(ctx context.Context, _ string) (string, error) {
		cancel()
		return "", ctx.Err()
	}}
	m := &model{script: []*llms.ContentChoice{toolCall("stop", "stop")}}
	m.during = func() {
		if ctx.Err() != nil {
			m.err = ctx.Err()
		}
	}
	node := newNode(t, m, saver, stop)
	result, err := node.Run(ctx, leadnode.Input{Thread: "t", Text: "go"})
	expect(t, "error", nil, err)
	expect(t, "reason", langrooms.ReasonStopped, result.Reason)
	stopped := "tool result error=true Error: stopped by the operator"
	expect(t, "thread", []string{"0 human go", "1 ai I will ask. call stop call stop", "2 " + stopped, "3 " + stopped}, thread(t, saver))
	*m = model{script: []*llms.ContentChoice{words("Here.")}}
	result, err = node.Run(t.Context(), leadnode.Input{Thread: "t", Text: "there?"})
	expect(t, "error", nil, err)
	expect(t, "the next turn", "Here.", result.Text)
}

func TestBoundOfSteps(t *testing.T) {
	saver := memorysaver.New()
	defer saver.Close()
	loop := tool{"again", func(context.Context, string) (string, error) { return "and again", nil }}
	m := &model{script: []*llms.ContentChoice{toolCall("again")}}
	_, err := newNode(t, m, saver, loop).Run(t.Context(), leadnode.Input{Thread: "t", Text: "go"})
	if !errors.Is(err, leadnode.ErrSteps) {
		t.Errorf("the error is %v, want ErrSteps", err)
	}
}

func TestBadInput(t *testing.T) {
	saver := memorysaver.New()
	defer saver.Close()
	node := newNode(t, &model{script: []*llms.ContentChoice{words("x")}}, saver)
	for _, tt := range []struct {
		in   leadnode.Input
		want error
	}{
		{leadnode.Input{Thread: "", Text: "x"}, langrooms.ErrThreadID},
		{leadnode.Input{Thread: "\xff", Text: "x"}, langrooms.ErrThreadID},
		{leadnode.Input{Thread: "t", Text: "\xff"}, langrooms.ErrText},
		{leadnode.Input{Thread: "t", Text: strings.Repeat("x", langrooms.MaxText+1)}, langrooms.ErrText},
	} {
		if _, err := node.Run(t.Context(), tt.in); !errors.Is(err, tt.want) {
			t.Errorf("thread %q: %v, want %v", tt.in.Thread, err, tt.want)
		}
	}
	expect(t, "nothing was written", []string(nil), thread(t, saver))
	for _, c := range []leadnode.Config{{}, {Saver: saver}, {Saver: saver, Model: func() (llms.Model, error) { return nil, nil }, MaxSteps: -1}} {
		if _, err := leadnode.New(c); err == nil {
			t.Errorf("New(%+v) takes a bad field", c)
		}
	}
}

func ExampleNode_Run() {
	saver := memorysaver.New()
	defer saver.Close()
	node, err := leadnode.New(leadnode.Config{
		Saver: saver,
		Model: func() (llms.Model, error) {
			return cast.Wrap(&model{script: []*llms.ContentChoice{words("Nothing yet.")}}, nil), nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := node.Run(context.Background(), leadnode.Input{Thread: "main", Text: "what did they decide?"})
	fmt.Println(result.Text, err)
	// Output: Nothing yet. <nil>
}

// A call whose arguments were cut off is not run: the model reads why, and the thread goes
// on, also on later turns.
func TestUnreadableArguments(t *testing.T) {
	saver := memorysaver.New()
	defer saver.Close()
	cut := toolCall("f")
	cut.ToolCalls[0].FunctionCall.Arguments = `{"target":"pro`
	m := &model{script: []*llms.ContentChoice{cut, words("Sorry.")}}
	ran := tool{"f", func(context.Context, string) (string, error) { t.Error("the tool ran"); return "", nil }}
	if _, err := newNode(t, m, saver, ran).Run(t.Context(), leadnode.Input{Thread: "t", Text: "go"}); err != nil {
		t.Fatal(err)
	}
	lines := thread(t, saver)
	if !strings.Contains(lines[2], "result error=true Error: f was not run: its arguments are not one whole JSON object") {
		t.Errorf("the thread is %q", lines)
	}
	for _, sent := range m.prompt {
		for _, p := range sent.Parts {
			if c, ok := p.(llms.ToolCall); ok && c.FunctionCall.Arguments != "{}" {
				t.Errorf("the model is sent the arguments %q", c.FunctionCall.Arguments)
			}
		}
	}
}

// What the lead's answers cost stands on its messages, is summed under its name, and ends its
// delegations once the message has cost what it may.
func TestCostOfTheLead(t *testing.T) {
	saver := memorysaver.New()
	defer saver.Close()
	used := func(c *llms.ContentChoice, in, out int) *llms.ContentChoice {
		c.GenerationInfo = map[string]any{"PromptTokens": in, "CompletionTokens": out}
		return c
	}
	var afford []bool
	look := tool{"look", func(ctx context.Context, _ string) (string, error) {
		turn, r, _ := exchange.FromContext(ctx)
		afford = append(afford, turn.Afford(r) == nil)
		return "seen", nil
	}}
	m := &model{script: []*llms.ContentChoice{used(toolCall("look"), 100_000, 0), used(toolCall("look"), 100_000, 100_000), words("done")}}
	n, err := leadnode.New(leadnode.Config{Saver: saver, Tools: []leadnode.Tool{look},
		Model: func() (llms.Model, error) { return m, nil },
		Room: func() (exchange.Room, func()) {
			return exchange.Room{Lead: "vera", MaxCostUSD: 0.25, Price: func(member string) *langrooms.Price {
				return map[string]*langrooms.Price{"vera": {InputPerMTok: 1, OutputPerMTok: 2}}[member]
			}}, func() {}
		}})
	if err != nil {
		t.Fatal(err)
	}
	result, err := n.Run(t.Context(), leadnode.Input{Thread: "t", Text: "go"})
	expect(t, "error", nil, err)
	expect(t, "spent", "3 answers, 200,000 tokens in, 100,000 out, the tokens of 1 unknown, $0.40, the cost of 1 unknown", result.Spent.String())
	expect(t, "it can afford to ask", []bool{true, false}, afford)
	if !strings.Contains(result.Text, "The room stopped at its cost bound: this message has cost $0.40") {
		t.Errorf("the operator reads %q", result.Text)
	}
	costs, err := exchange.ReadCosts(t.Context(), saver, "t")
	expect(t, "error", nil, err)
	expect(t, "of the thread", *result.Spent, costs.Members["vera"])
	var told []string
	for m, err := range saver.Messages(t.Context(), checkpointer.Ref{Thread: "t"}, checkpointer.Range{}) {
		if err != nil {
			t.Fatal(err)
		}
		if u := m.Cost(); u != nil {
			told = append(told, fmt.Sprint(u.InputTokens, " ", u.OutputTokens, " ", langrooms.Dollars(*u.CostUSD)))
		}
	}
	expect(t, "on its messages", []string{"100000 0 $0.10", "100000 100000 $0.30"}, told)
}
