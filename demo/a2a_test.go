package demo

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
)

// bearer adds the key to every call.
type bearer struct {
	a2aclient.PassthroughInterceptor
	key string
}

func (b bearer) Before(ctx context.Context, req *a2aclient.Request) (context.Context, any, error) {
	req.ServiceParams.Append("Authorization", "Bearer "+b.key)
	return ctx, nil, nil
}

// a2aPeer reads the card and connects as the card says.
func a2aPeer(t *testing.T, p *Peers, key string) (*a2aclient.Client, *a2a.AgentCard) {
	t.Helper()
	web := client(t)
	resolver := &agentcard.Resolver{Client: web}
	card, err := resolver.Resolve(t.Context(), p.origin)
	if err != nil {
		t.Fatal(err)
	}
	c, err := a2aclient.NewFromCard(t.Context(), card,
		a2aclient.WithJSONRPCTransport(web), a2aclient.WithCallInterceptors(bearer{key: key}))
	if err != nil {
		t.Fatal(err)
	}
	return c, card
}

func sending(text, contextID string) *a2a.SendMessageRequest {
	m := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(text))
	m.ContextID = contextID
	return &a2a.SendMessageRequest{Message: m}
}

// taskText returns the artifacts' text of a completed task.
func taskText(t *testing.T, r a2a.SendMessageResult) (string, *a2a.Task) {
	t.Helper()
	task, ok := r.(*a2a.Task)
	if !ok || task.Status.State != a2a.TaskStateCompleted || len(task.Artifacts) != 1 {
		t.Fatalf("got %#v", r)
	}
	return task.Artifacts[0].Parts[0].Text(), task
}

func TestTheCardSaysWhatIsServed(t *testing.T) {
	p := start(t, "")
	_, card := a2aPeer(t, p, p.Key())
	url, _ := p.Resolve("reviewer", "a2a")
	if card.Name != "reviewer" || !card.Capabilities.Streaming || len(card.SupportedInterfaces) != 1 ||
		card.SupportedInterfaces[0].URL != url || card.SupportedInterfaces[0].ProtocolVersion != "1.0" {
		t.Errorf("card %+v", card)
	}
}

func TestReviewerAnswersOverA2A(t *testing.T) {
	dir := folder(t, broken)
	commit(t, dir, "three as a word")
	p := start(t, dir)
	c, _ := a2aPeer(t, p, p.Key())
	result, err := c.SendMessage(t.Context(), sending("is it safe to ship?", ""))
	if err != nil {
		t.Fatal(err)
	}
	text, task := taskText(t, result)
	wants(t, text, "Everything is committed", "three as a word", "demo agent")

	// The context is a conversation: a further round of the same address is passed.
	round := "You are taking part in a group chat. Nothing new has been said since you last spoke.\n\n" +
		"You have been addressed directly as @reviewer. Reply to this message:\n\nis it safe to ship?\n\n" + passOffer
	result, err = c.SendMessage(t.Context(), sending(round, task.ContextID))
	if err != nil {
		t.Fatal(err)
	}
	if text, again := taskText(t, result); text != pass || again.ContextID != task.ContextID {
		t.Errorf("got %q in context %q, want a pass in %q", text, again.ContextID, task.ContextID)
	}
	if result, err = c.SendMessage(t.Context(), sending(round, "")); err != nil {
		t.Fatal(err)
	}
	text, _ = taskText(t, result)
	wants(t, text, "Everything is committed")
}

func TestAStreamShowsTheSteps(t *testing.T) {
	dir := folder(t, healthy)
	commit(t, dir, "begin")
	p := start(t, dir)
	c, _ := a2aPeer(t, p, p.Key())
	var seen []string
	for event, err := range c.SendStreamingMessage(t.Context(), sending("what is new?", "")) {
		if err != nil {
			t.Fatal(err)
		}
		switch e := event.(type) {
		case *a2a.TaskStatusUpdateEvent:
			seen = append(seen, string(e.Status.State)+" "+messageText(e.Status.Message))
		case *a2a.TaskArtifactUpdateEvent:
			seen = append(seen, "artifact "+e.Artifact.Parts[0].Text())
		}
	}
	script := strings.Join(seen, "\n")
	wants(t, script, "TASK_STATE_WORKING git status", "TASK_STATE_WORKING git log -n 5", "TASK_STATE_WORKING git diff", "artifact Everything is committed")
	if last := seen[len(seen)-1]; last != "TASK_STATE_COMPLETED " {
		t.Errorf("it ends with %q", last)
	}
}

func TestA2AWantsTheKey(t *testing.T) {
	p := start(t, "")
	c, _ := a2aPeer(t, p, "wrong")
	if _, err := c.SendMessage(t.Context(), sending("hi", "")); err == nil {
		t.Error("a wrong key was taken")
	}
	resp, err := client(t).Get(p.origin + cardPath)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("the card has status %d without a key", resp.StatusCode)
	}
}

func TestAnUnknownTaskIsNotFound(t *testing.T) {
	p := start(t, "")
	c, _ := a2aPeer(t, p, p.Key())
	if _, err := c.GetTask(t.Context(), &a2a.GetTaskRequest{ID: "none"}); !errors.Is(err, a2a.ErrTaskNotFound) {
		t.Errorf("got %v", err)
	}
}

// call makes one JSON-RPC call as it stands on the wire, in a version of the protocol.
func call(t *testing.T, p *Peers, version, method string) string {
	t.Helper()
	url, _ := p.Resolve("reviewer", "a2a")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{"jsonrpc":"2.0","id":7,"method":"`+method+`","params":{"id":"none"}}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + p.Key()}}
	if version != "" {
		req.Header.Set("A2A-Version", version)
	}
	resp, err := client(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// A version that is not spoken is refused as such, whatever is called; one that is not named
// is taken for the one that is.
func TestA2AVersion(t *testing.T) {
	p := start(t, "")
	for version, want := range map[string]string{"1.0": "-32001", "": "-32001", "9.9": "-32009", "0.3": "-32009"} {
		if got := call(t, p, version, "GetTask"); !strings.Contains(got, `"code":`+want) || !strings.Contains(got, `"id":7`) {
			t.Errorf("version %q: %s", version, got)
		}
	}
	if got := call(t, p, "9.9", "ListTasks"); !strings.Contains(got, `"code":-32009`) {
		t.Errorf("ListTasks: %s", got)
	}
}

// Whoever has the key sees the tasks.
func TestA2AListsTasks(t *testing.T) {
	p := start(t, folder(t, healthy))
	c, _ := a2aPeer(t, p, p.Key())
	result, err := c.SendMessage(t.Context(), sending("hi", ""))
	if err != nil {
		t.Fatal(err)
	}
	_, task := taskText(t, result)
	listed, err := c.ListTasks(t.Context(), &a2a.ListTasksRequest{ContextID: task.ContextID})
	if err != nil || len(listed.Tasks) != 1 || listed.Tasks[0].ID != task.ID {
		t.Errorf("ListTasks = %+v, %v", listed, err)
	}
}

// The card has no null in it: a scheme without scopes has an empty list (A2A 1.0, 4.5).
func TestTheCardHasNoNull(t *testing.T) {
	resp, err := client(t).Get(start(t, "").origin + cardPath)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || strings.Contains(string(body), "null") || !strings.Contains(string(body), `"bearer"`) {
		t.Errorf("the card is %s, %v", body, err)
	}
}
