package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// chatUI sends what Agent Chat UI sends, as it was recorded there.
type chatUI struct {
	t      testing.TB
	s      *served
	thread string
}

// json sends a request and reads the answer into v.
func (c chatUI) json(method, path, body string, v any) {
	c.t.Helper()
	code, text := c.s.ask(c.t, method, path, body, "Origin", "http://localhost:3000", "Content-Type", "application/json")
	if code != 200 {
		c.t.Fatalf("%s %s: %d %s", method, path, code, text)
	}
	if err := json.Unmarshal([]byte(text), v); err != nil {
		c.t.Fatalf("%s %s: %v: %s", method, path, err, text)
	}
}

// uiState is what it takes of a state.
type uiState struct {
	Values struct {
		Messages []struct {
			ID, Type string
			Content  any
		}
	}
	Next             []string
	Checkpoint       json.RawMessage
	ParentCheckpoint json.RawMessage `json:"parent_checkpoint"`
}

func (c chatUI) history() (states []uiState) {
	c.t.Helper()
	c.json("POST", "/threads/"+c.thread+"/history", `{"limit":10}`, &states)
	return states
}

// submit sends a run as the page does: content blocks, resumable, going on without it. checkpoint is
// the place that it knows, or empty, and an empty text takes an answer once more.
func (c chatUI) submit(id, text, checkpoint string) {
	c.t.Helper()
	input, at := "null", ""
	if text != "" {
		input = fmt.Sprintf(`{"messages":[{"id":%q,"type":"human","content":[{"type":"text","text":%q}]}]}`, id, text)
	}
	if checkpoint != "" {
		at = `,"checkpoint":` + checkpoint
	}
	code, body := c.s.ask(c.t, "POST", "/threads/"+c.thread+"/runs/stream", `{"assistant_id":"agent-named","input":`+input+at+
		`,"stream_mode":["values","messages-tuple","custom"],"stream_subgraphs":true,"stream_resumable":true,"on_disconnect":"continue"}`,
		"Origin", "http://localhost:3000", "Content-Type", "application/json")
	if code != 200 || !strings.Contains(body, "event: metadata") || !strings.Contains(body, "event: values") || strings.Contains(body, "event: error") {
		c.t.Fatalf("%s: %d %s", text, code, body)
	}
}

// texts are those that the page shows.
func (s uiState) texts() string {
	var all []string
	for _, m := range s.Values.Messages {
		all = append(all, fmt.Sprint(m.Type, " ", m.ID != "", " ", m.Content))
	}
	return strings.Join(all, "; ")
}

// Agent Chat UI's own requests: a conversation begins, goes on from the head that the page knows, its
// first message is edited and its answer taken once more.
func TestChatUIRequests(t *testing.T) {
	t.Parallel()
	s := serve(t, folder(t, says(t, "the lead"), roster(openaiEntry("proto", says(t, "quick")))))
	c := chatUI{t: t, s: s}
	var info map[string]any
	c.json("GET", "/info", "", &info)
	var made struct {
		ID string `json:"thread_id"`
	}
	c.json("POST", "/threads", `{"metadata":{}}`, &made)
	c.thread = made.ID
	expect(t, "states of a new thread", 0, len(c.history()))
	c.submit("m-1", "hello", "")
	first := c.history()
	expectContains(t, "what the first turn shows", "human true [map[text:hello type:text]]; ai true the lead", first[0].texts())
	expect(t, "nodes that an idle thread waits for", 0, len(first[0].Next))
	c.submit("m-2", "@proto and you?", string(first[0].Checkpoint))
	second := c.history()
	expect(t, "messages after the second turn, "+second[0].texts(), 4, len(second[0].Values.Messages))
	expectContains(t, "who speaks, where the page shows no names", "**@proto**", second[0].texts())
	var found []struct {
		ID string `json:"thread_id"`
	}
	c.json("POST", "/threads/search", `{"metadata":{"graph_id":"agent-named"},"limit":100}`, &found)
	if len(found) != 1 || found[0].ID != c.thread {
		t.Errorf("its list of conversations is %v", found)
	}
	oldest := second[0] // the oldest state that has the first message: its parent is where an edit begins
	for _, st := range second {
		if len(st.Values.Messages) > 0 {
			oldest = st
		}
	}
	c.submit("m-1", "hello again", string(oldest.ParentCheckpoint))
	edited := c.history()
	expect(t, "messages after the edit, "+edited[0].texts(), 2, len(edited[0].Values.Messages))
	expectContains(t, "the edit", "hello again", edited[0].texts())
	answered := edited[0]
	c.submit("", "", string(answered.ParentCheckpoint))
	anew := c.history()
	if len(anew[0].Values.Messages) != 2 || string(anew[0].Checkpoint) == string(answered.Checkpoint) {
		t.Errorf("the answer taken once more: %s", anew[0].texts())
	}
	s.end(t)
}
