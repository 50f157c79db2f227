package a2aserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/a2aserver"
	"github.com/langrooms/langrooms/delegate"
)

// clients are the SDK's own, over both versions and both bindings.
func clients(t *testing.T, url string) map[string]*a2aclient.Client {
	t.Helper()
	all := map[string]*a2aclient.Client{}
	for name, c := range map[string]struct {
		iface  a2a.AgentInterface
		option a2aclient.FactoryOption
	}{
		"1.0 JSON-RPC":  {a2a.AgentInterface{URL: url + "/a2a", ProtocolBinding: a2a.TransportProtocolJSONRPC, ProtocolVersion: a2a.Version}, a2aclient.WithJSONRPCTransport(nil)},
		"1.0 HTTP+JSON": {a2a.AgentInterface{URL: url + "/a2a", ProtocolBinding: a2a.TransportProtocolHTTPJSON, ProtocolVersion: a2a.Version}, a2aclient.WithRESTTransport(nil)},
		"0.3 JSON-RPC":  {a2a.AgentInterface{URL: url + "/a2a", ProtocolBinding: a2a.TransportProtocolJSONRPC, ProtocolVersion: a2av0.Version}, a2av0.WithJSONRPCTransport(a2av0.JSONRPCTransportConfig{})},
		"0.3 HTTP+JSON": {a2a.AgentInterface{URL: url + "/a2a/v1", ProtocolBinding: a2a.TransportProtocolHTTPJSON, ProtocolVersion: a2av0.Version}, a2av0.WithRESTTransport(a2av0.RESTTransportConfig{})},
	} {
		client, err := a2aclient.NewFromEndpoints(t.Context(), []*a2a.AgentInterface{&c.iface}, c.option)
		if err != nil {
			t.Fatal(name, err)
		}
		all[name] = client
	}
	return all
}

func message(text, contextID string) *a2a.SendMessageRequest {
	m := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(text))
	m.ContextID = contextID
	return &a2a.SendMessageRequest{Message: m}
}

func words(task *a2a.Task) string {
	var all []string
	for _, a := range task.Artifacts {
		all = append(all, a.Name+": "+a.Parts[0].Text())
	}
	return strings.Join(all, "; ")
}

// Every version and binding sends, looks, streams, follows and cancels.
func TestVersions(t *testing.T) {
	url := stand(t, nil)
	for name, c := range clients(t, url) {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			got, err := c.SendMessage(ctx, message("@proto hi", ""))
			task, ok := got.(*a2a.Task)
			if err != nil || !ok || task.Status.State != a2a.TaskStateCompleted || words(task) != "proto: echo hi; room: a note" || task.ContextID == "" {
				t.Fatalf("sent: %+v, %v", got, err)
			}
			if task, err = c.GetTask(ctx, &a2a.GetTaskRequest{ID: task.ID}); err != nil || words(task) != "proto: echo hi; room: a note" {
				t.Fatalf("looked at: %+v, %v", task, err)
			}
			var seen []string
			for e, err := range c.SendStreamingMessage(ctx, message("well?", task.ContextID)) {
				if err != nil {
					t.Fatal("streamed:", err)
				}
				switch e := e.(type) {
				case *a2a.TaskArtifactUpdateEvent:
					seen = append(seen, e.Artifact.Name+": "+e.Artifact.Parts[0].Text())
				case *a2a.TaskStatusUpdateEvent:
					seen = append(seen, string(e.Status.State))
				case *a2a.Task:
					if e.ContextID != task.ContextID {
						t.Errorf("another context: %+v", e)
					}
				}
			}
			if all := strings.Join(seen, " "); !strings.HasSuffix(all, "assistant: echo well? TASK_STATE_COMPLETED") {
				t.Errorf("streamed %s", all)
			}
			later := message("@proto hold", "")
			later.Config = &a2a.SendMessageConfig{ReturnImmediately: true}
			got, err = c.SendMessage(ctx, later)
			if err != nil {
				t.Fatal("sent:", err)
			}
			held := got.(*a2a.Task)
			text := ""
			for e, err := range c.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: held.ID}) {
				if err != nil {
					t.Fatal("followed:", err)
				}
				switch e := e.(type) {
				case *a2a.Task:
					text += strings.TrimPrefix(words(e), "proto: ")
				case *a2a.TaskArtifactUpdateEvent:
					text += e.Artifact.Parts[0].Text()
				}
				if text == "echo hold" {
					break
				}
			}
			ended, err := c.CancelTask(ctx, &a2a.CancelTaskRequest{ID: held.ID})
			if err != nil || ended.Status.State != a2a.TaskStateCanceled {
				t.Errorf("canceled: %+v, %v", ended, err)
			}
			if _, err := c.CancelTask(ctx, &a2a.CancelTaskRequest{ID: held.ID}); err == nil { // the words of 0.3 differ
				t.Errorf("canceled again: %v", err)
			}
			got, err = c.SendMessage(ctx, message("@proto fail", ""))
			if err != nil || got.(*a2a.Task).Status.State != a2a.TaskStateFailed || got.(*a2a.Task).Status.Message.Parts[0].Text() != "the disk is full" {
				t.Errorf("a failure: %+v, %v", got, err)
			}
		})
	}
}

// Files come with a message and go with a reply, over every version and binding, as what they are;
// what the turn cost stands in the task's metadata, as far as it is known.
func TestFilesAndCost(t *testing.T) {
	const png = "\x89PNG\r\n\x1a\n"
	for name, c := range clients(t, stand(t, nil)) {
		q := message("@proto look", "")
		file := a2a.NewRawPart([]byte(png))
		file.Filename, file.MediaType = "../a.png", "text/html"
		q.Message.Parts = append(q.Message.Parts, file)
		got, err := c.SendMessage(t.Context(), q)
		task, ok := got.(*a2a.Task)
		if err != nil || !ok {
			t.Errorf("%s: %v, %v", name, got, err)
			continue
		}
		parts := task.Artifacts[0].Parts
		if len(parts) != 2 || string(parts[1].Raw()) != png || parts[1].MediaType != "image/png" || parts[1].Filename != "a.png" {
			t.Errorf("%s: the artifact is %+v", name, parts)
		}
		usage, _ := task.Metadata["usage"].(map[string]any)
		if told := fmt.Sprint(usage); told != "map[input_tokens:12 output_tokens:3]" && told != "map[inputTokens:12 outputTokens:3]" { // a client's own spelling
			t.Errorf("%s: the usage is %v", name, task.Metadata)
		}
	}
}

// What cannot be taken is refused in A2A's words.
func TestRefusals(t *testing.T) {
	c := clients(t, stand(t, func(cfg *a2aserver.Config) {
		cfg.Self = "here"
		cfg.Room = func(id string) bool { return id == "shared" }
	}))["1.0 JSON-RPC"]
	data, elsewhere, empty, many := message("hi", ""), message("hi", ""), message("hi", ""), message("hi", "")
	data.Message.Parts = append(data.Message.Parts, a2a.NewDataPart(map[string]any{"a": 1}))
	elsewhere.Message.Parts = append(elsewhere.Message.Parts, a2a.NewFileURLPart("file:///etc/passwd", "image/png"))
	empty.Message.Parts = a2a.ContentParts{a2a.NewRawPart([]byte("a file alone"))}
	for range langrooms.MaxFiles + 1 {
		many.Message.Parts = append(many.Message.Parts, a2a.NewRawPart([]byte("x")))
	}
	round := message("hi", "")
	round.Message.SetMeta(delegate.TraceExtension, "there,here,there")
	far := message("hi", "")
	far.Message.SetMeta(delegate.TraceExtension, strings.Repeat("x,", 100))
	push := message("hi", "")
	push.Config = &a2a.SendMessageConfig{PushConfig: &a2a.PushConfig{URL: "http://127.0.0.1.evil.example/"}}
	for name, tt := range map[string]struct {
		q    *a2a.SendMessageRequest
		want error
	}{
		"data":             {data, a2a.ErrUnsupportedContentType},
		"a file elsewhere": {elsewhere, a2a.ErrUnsupportedContentType},
		"no words":         {empty, a2a.ErrInvalidParams},
		"too many files":   {many, a2a.ErrInvalidParams},
		"blank":            {message(" \n", ""), a2a.ErrInvalidParams},
		"no such context":  {message("hi", "none"), a2a.ErrInvalidParams},
		"a shared session": {message("hi", "shared"), a2a.ErrInvalidParams},
		"the server's own": {message("hi", "\x1flangrooms\x1fevents/x"), a2a.ErrInvalidParams},
		"too long":         {message(strings.Repeat("x", 500_001), ""), a2a.ErrInvalidParams},
		"a circle":         {round, a2a.ErrUnsupportedOperation},
		"too many hops":    {far, a2a.ErrUnsupportedOperation},
		"notifications":    {push, a2a.ErrInvalidParams},
	} {
		if got, err := c.SendMessage(t.Context(), tt.q); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, tt.want)
		}
	}
	for _, id := range []a2a.TaskID{"none", "x.eA", "x." + a2a.TaskID(strings.Repeat("e", 5000)), "x.%%%"} {
		if _, err := c.GetTask(t.Context(), &a2a.GetTaskRequest{ID: id}); !errors.Is(err, a2a.ErrTaskNotFound) {
			t.Errorf("the task %.20s: %v", id, err)
		}
		for _, err := range c.SubscribeToTask(t.Context(), &a2a.SubscribeToTaskRequest{ID: id}) {
			if !errors.Is(err, a2a.ErrTaskNotFound) {
				t.Errorf("following the task %.20s: %v", id, err)
			}
		}
	}
}

// A caller has its own tasks only; another's are as not there.
func TestOwnTasks(t *testing.T) {
	url := stand(t, nil)
	as := func(name string) context.Context {
		return a2aclient.AttachServiceParams(t.Context(), a2aclient.ServiceParams{"Who": {name}})
	}
	c := clients(t, url)["1.0 JSON-RPC"]
	got, err := c.SendMessage(as("bob"), message("hi", ""))
	if err != nil {
		t.Fatal(err)
	}
	task := got.(*a2a.Task)
	for who, want := range map[string]error{"bob": nil, "": nil, "eve": a2a.ErrTaskNotFound} {
		if _, err := c.GetTask(as(who), &a2a.GetTaskRequest{ID: task.ID}); !errors.Is(err, want) {
			t.Errorf("%q looks: %v", who, err)
		}
		list, err := c.ListTasks(as(who), &a2a.ListTasksRequest{IncludeArtifacts: true})
		if err != nil || (len(list.Tasks) == 1) != (want == nil) {
			t.Errorf("%q lists %+v, %v", who, list, err)
		}
	}
	_, mine := c.SendMessage(as("eve"), message("hi", task.ContextID))
	_, none := c.SendMessage(as("eve"), message("hi", "none"))
	if mine == nil || none == nil || mine.Error() != none.Error() {
		t.Errorf("another's context: %v, none: %v", mine, none)
	}
}

// The card has both versions' form, and the roster only where anybody may see it.
func TestCard(t *testing.T) {
	keys := false
	url := stand(t, func(cfg *a2aserver.Config) { cfg.Keys = func() bool { return keys } })
	for _, keys = range []bool{false, true} {
		resp, err := http.Get(url + "/.well-known/agent-card.json")
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		var card struct {
			URL             string `json:"url"`
			Interfaces      []any  `json:"supportedInterfaces"`
			SecuritySchemes map[string]any
		}
		if err != nil || json.Unmarshal(data, &card) != nil || card.URL != url+"/a2a" || len(card.Interfaces) != 4 {
			t.Errorf("the card is %s, %v", data, err)
		}
		if strings.Contains(string(data), "@proto") == keys || len(card.SecuritySchemes) > 0 != keys {
			t.Errorf("with keys %v the card is %s", keys, data)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), "GET", url+"/.well-known/agent-card.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Forwarded-Proto", "https") // a proxy has taken the TLS off
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if want := strings.Replace(url, "http:", "https:", 1) + "/a2a"; err != nil || !strings.Contains(string(data), want) || strings.Contains(string(data), url) {
		t.Errorf("behind a proxy the card is %s, %v", data, err)
	}
	card, err := clients(t, url)["1.0 JSON-RPC"].GetExtendedAgentCard(t.Context(), &a2a.GetExtendedAgentCardRequest{})
	if err != nil || len(card.Skills) != 2 {
		t.Errorf("the card for who has a key: %+v, %v", card, err)
	}
}
