package setup_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/langchain"
	"github.com/langrooms/langrooms/nodes/leadnode"
	"github.com/langrooms/langrooms/thread"
)

// last is the body of the newest request.
func (e *endpoint) last() map[string]any {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.requests[len(e.requests)-1].body
}

// count is how many requests have come.
func (e *endpoint) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.requests)
}

func refuse(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	io.WriteString(w, body) // a client that left is seen by the test
}

// What is not configured is not sent, and what is configured is, whatever the client would
// make of the model's name.
func TestLeadTemperatureOnlyWhenSet(t *testing.T) {
	for _, model := range []string{"m", "gpt-5-mini", "o3"} {
		for more, want := range map[string]any{"": nil, ", temperature: 0.5": 0.5} {
			e := newEndpoint(t, words("hi"))
			a, _ := openFile(t, strings.Replace(e.config(more), "model: m", "model: "+model, 1))
			if _, err := say(t, a); err != nil {
				t.Fatal(err)
			}
			expect(t, model+more, want, e.last()["temperature"])
		}
	}
}

// A field that the endpoint refuses by name is left out from then on.
func TestLeadRefusedFieldsAreLeftOut(t *testing.T) {
	for name, message := range map[string]string{
		"temperature": `{"error":{"message":"Unsupported value","param":"temperature"}}`,
		"max_tokens":  `{"error":{"message":"Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}}`,
	} {
		var e *endpoint
		e = newEndpoint(t, func(w http.ResponseWriter, r *http.Request) {
			if _, sent := e.last()[name]; sent {
				refuse(w, message)
				return
			}
			words("hi")(w, r)
		})
		a, _ := openFile(t, e.config(", temperature: 0.5, max_tokens: 7"))
		for range 2 {
			if got, err := say(t, a); err != nil || got != "hi" {
				t.Errorf("%s: %q, %v", name, got, err)
			}
		}
		expect(t, name+": requests for two calls", 3, e.count())
	}
}

// thinker is an endpoint that wants its own fields back with each message of the assistant
// that calls a tool, as reasoning models and those that sign their thoughts do.
func thinker(e **endpoint, stream bool) http.HandlerFunc {
	const fields = `"reasoning_content":"Who is there?"`
	const call = `{"index":0,"id":"call_1","type":"function","function":{"name":"look","arguments":"{}"},"extra_content":{"google":{"thought_signature":"c2ln"}}}`
	return func(w http.ResponseWriter, r *http.Request) {
		messages := (*e).last()["messages"].([]any)
		if (*e).last()["model"] == "other" {
			words("I am new.")(w, r)
			return
		}
		for _, m := range messages {
			m := m.(map[string]any)
			calls, _ := m["tool_calls"].([]any)
			if len(calls) == 0 {
				continue
			}
			if m["reasoning_content"] != "Who is there?" || calls[0].(map[string]any)["extra_content"] == nil {
				refuse(w, `{"error":{"message":"Missing reasoning in messages"}}`)
				return
			}
		}
		switch newest := messages[len(messages)-1].(map[string]any); {
		case newest["role"] == "tool":
			words("I have looked.")(w, r)
		case stream:
			fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"Who is \"}}]}\n\n")
			fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"there?\",\"content\":\"I look.\"}}]}\n\n")
			fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"tool_calls\":[%s]},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n", call)
		default:
			fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","content":null,%s,"tool_calls":[%s]},"finish_reason":"tool_calls"}]}`, fields, call)
		}
	}
}

// look is a tool.
type look struct{}

func (look) Definition() llms.Tool {
	return llms.Tool{Type: "function", Function: &llms.FunctionDefinition{Name: "look", Parameters: map[string]any{"type": "object"}}}
}
func (look) Call(context.Context, string) (string, error) { return "nobody", nil }

// lead is a lead over the app's model.
func lead(t *testing.T, a *app, saver checkpointer.Saver, said *[]langrooms.Event) func(text string) string {
	t.Helper()
	node, err := leadnode.New(leadnode.Config{Saver: saver, Model: a.Model, Tools: []leadnode.Tool{look{}}})
	if err != nil {
		t.Fatal(err)
	}
	in := leadnode.Input{Thread: "t"}
	if said != nil {
		in.Events = func(e langrooms.Event) { *said = append(*said, e) }
	}
	return func(text string) string {
		in.Text = text
		result, err := node.Run(t.Context(), in)
		if err != nil {
			t.Error(err)
		}
		return result.Text
	}
}

// Fields of an assistant's message that nobody here reads go back to the same model, in this
// turn and in later ones, and to no other.
func TestLeadFieldsAreGivenBack(t *testing.T) {
	for _, stream := range []bool{false, true} {
		var e *endpoint
		e = newEndpoint(t, thinker(&e, stream))
		a, f := openFile(t, e.config(""))
		saver := memorysaver.New()
		defer saver.Close()
		var said []langrooms.Event
		turn := lead(t, a, saver, &said)
		for range 2 {
			expect(t, "answer", "I have looked.", turn("who is there?"))
		}
		expect(t, "requests", 4, e.count())
		expect(t, "streamed", stream, spoken(said, langrooms.ProgressText) == "I look.I look." && spoken(said, langrooms.ProgressThought) == "Who is there?Who is there?")

		f.write(strings.Replace(e.config(""), "model: m", "model: other", 1))
		eventually(t, func() error {
			turn("and now?")
			if e.last()["model"] != "other" {
				return errors.New("the change has not come")
			}
			return nil
		})
		data, err := json.Marshal(e.last())
		if err != nil {
			t.Fatal(err)
		}
		says(t, string(data), "!reasoning_content", "!thought_signature")
	}
}

// spoken joins what the progress of this kind said.
func spoken(events []langrooms.Event, kind langrooms.ProgressKind) string {
	var all strings.Builder
	for _, e := range events {
		if e.Progress != nil && e.Progress.Kind == kind {
			all.WriteString(e.Progress.Text)
		}
	}
	return all.String()
}

// A history that the endpoint refuses holds up no turn: the thread goes in its plain form.
func TestLeadRefusedHistory(t *testing.T) {
	var e *endpoint
	e = newEndpoint(t, func(w http.ResponseWriter, r *http.Request) {
		messages := e.last()["messages"].([]any)
		if slices.ContainsFunc(messages, func(m any) bool { return m.(map[string]any)["role"] == "tool" }) {
			refuse(w, `{"error":{"message":"messages[1]: tool calls are damaged"}}`)
			return
		}
		words("fine")(w, r)
	})
	a, _ := openFile(t, e.config(""))
	saver := memorysaver.New()
	defer saver.Close()
	called := langrooms.NewMessage(langrooms.RoleAI, "")
	called.Parts = []langrooms.Part{{Kind: langrooms.PartToolCall, ToolCall: &langrooms.ToolCall{ID: "c", Name: "look", Arguments: "{}"}}}
	got := langrooms.NewMessage(langrooms.RoleTool, "")
	got.Parts = []langrooms.Part{{Kind: langrooms.PartToolResult, ToolResult: &langrooms.ToolResult{CallID: "c", Name: "look", Content: "the answer is 42"}}}
	hold, err := thread.Begin(t.Context(), saver, "t")
	if err != nil {
		t.Fatal(err)
	}
	past := []langrooms.Message{langrooms.NewMessage(langrooms.RoleHuman, "look"), called, got}
	if err := errors.Join(hold.Put(thread.Step{Source: "test", Messages: past}), hold.End()); err != nil {
		t.Fatal(err)
	}
	var said []langrooms.Event
	turn := lead(t, a, saver, &said)
	for range 2 {
		expect(t, "answer", "fine", turn("and?"))
	}
	expect(t, "requests: as a stream, whole, plain", 2*3, e.count())
	data, err := json.Marshal(e.last()["messages"])
	if err != nil {
		t.Fatal(err)
	}
	says(t, string(data), "the answer is 42", "!tool_call")
	expect(t, "notice", langrooms.EventNotice, said[len(said)-1].Type)
	says(t, errors.New(said[len(said)-1].Text), "plain text", "tool calls are damaged")
}

// A refusal that the plain form does not help is the refusal, after one more try.
func TestLeadRefusal(t *testing.T) {
	e := newEndpoint(t, func(w http.ResponseWriter, _ *http.Request) { refuse(w, `{"error":{"message":"no"}}`) })
	a, _ := openFile(t, e.config(""))
	_, err := say(t, a)
	says(t, err, "HTTP 400", "no")
	if !errors.Is(err, langchain.ErrHistory) {
		t.Errorf("%v is not ErrHistory", err)
	}
}
