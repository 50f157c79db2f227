package a2aagent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/langrooms/langrooms/delegate"
)

// envelope is an answer with the binding taken off.
type envelope struct {
	result json.RawMessage
	err    *rpcError
}

// readEnvelope takes the binding off. It reports false when body is no JSON object, or no
// JSON-RPC response where one is due. The response's id is not looked at: over HTTP the
// answer is the one to the request.
func readEnvelope(body []byte, binding a2a.TransportProtocol) (envelope, bool) {
	var w struct{ Result, Error json.RawMessage }
	if !bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) || loose(body, &w) != nil {
		return envelope{}, false
	}
	env := envelope{result: body, err: readRPCError(w.Error)}
	if binding == a2a.TransportProtocolJSONRPC {
		env.result = w.Result
		return env, env.err != nil || present(w.Result)
	}
	return env, true
}

// readRPCError reads an error object. A string in its place, as plain HTTP servers send, is
// none of the protocol's.
func readRPCError(data json.RawMessage) *rpcError {
	if !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		return nil
	}
	var e rpcError
	if loose(data, &e) != nil {
		return nil
	}
	return &e
}

func present(data json.RawMessage) bool {
	return len(data) > 0 && !bytes.Equal(bytes.TrimSpace(data), []byte("null"))
}

// wireMessage, wireTask and wireArtifact have the fields of both versions.
type wireMessage struct {
	Role      string
	TaskID    string
	ContextID string
	Parts     []wirePart
	Metadata  json.RawMessage
}

type wireTask struct {
	Kind      string
	ID        string
	TaskID    string
	ContextID string
	Snake     string `json:"context_id"` // 0.3 over HTTP+JSON
	Status    *struct {
		State   string
		Message wireMessage
	}
	Artifacts []wireArtifact
	History   []wireMessage
	// An update of a subscription.
	Artifact *wireArtifact
	Append   bool
	Metadata json.RawMessage
}

type wireArtifact struct {
	ArtifactID string
	Parts      []wirePart
	Metadata   json.RawMessage
}

// wireResult is what a call can return: a task or message as such (0.3, and every
// GetTask), or one in a field that names it (1.0).
type wireResult struct {
	wireTask
	Parts []wirePart

	Task           *wireTask
	Message        *wireMessage
	StatusUpdate   *wireTask
	ArtifactUpdate *wireTask
}

// readResult reads the task or message of a result.
func readResult(data json.RawMessage) (task, error) {
	var w wireResult
	if err := loose(data, &w); err != nil {
		return task{}, err
	}
	switch {
	case w.Task != nil:
		return w.Task.read(), nil
	case w.Message != nil && w.Status == nil:
		return w.Message.read(), nil
	case w.Status != nil || w.Kind == "task":
		return w.wireTask.read(), nil
	case w.Kind == "message" || w.Parts != nil:
		m := wireMessage{TaskID: w.TaskID, ContextID: w.ContextID, Parts: w.Parts, Metadata: w.Metadata}
		return m.read(), nil
	case w.ID != "" || w.Artifacts != nil:
		return w.wireTask.read(), nil
	}
	return task{}, errNeither
}

var errNeither = errors.New("it holds neither a task nor a message")

// read reads a message that stands in a task's place: an answer.
func (m *wireMessage) read() task {
	return task{bare: true, id: bounded(m.TaskID), contextID: bounded(m.ContextID), state: a2a.TaskStateCompleted,
		artifacts: render(m.Parts), thought: thoughts(m.Parts), spent: spentOf(m.Metadata), returned: &m.Parts}
}

func (w *wireTask) read() task {
	t := task{id: bounded(first(w.ID, w.TaskID))}
	var parts []wirePart
	for _, artifact := range w.Artifacts {
		parts = append(parts, artifact.Parts...)
		t.artifacts = paragraph(t.artifacts, render(artifact.Parts))
	}
	t.said = lastWords(w.History)
	said := ""
	if w.Status != nil {
		t.state = readState(w.Status.State)
		t.status = render(w.Status.Message.Parts)
		parts = append(parts, w.Status.Message.Parts...)
		t.id = first(t.id, bounded(w.Status.Message.TaskID))
		said = w.Status.Message.ContextID
	}
	t.contextID = first(bounded(w.ContextID), bounded(w.Snake), bounded(said))
	t.files, t.thought = digestFiles(parts), thoughts(parts)
	t.spent, t.returned = w.spent(), &parts
	return t
}

// spent is what the task, its newest message or its newest artifact says of its cost.
func (w *wireTask) spent() spent {
	told := []json.RawMessage{w.Metadata}
	if w.Status != nil {
		told = append(told, w.Status.Message.Metadata)
	}
	if n := len(w.Artifacts); n > 0 {
		told = append(told, w.Artifacts[n-1].Metadata)
	}
	if n := len(w.History); n > 0 && !strings.HasSuffix(strings.ToLower(w.History[n-1].Role), "user") {
		told = append(told, w.History[n-1].Metadata)
	}
	return spentOf(told...)
}

// bounded returns an id that can be kept and shown, else "".
func bounded(id string) string {
	if len(id) > delegate.MaxContextID {
		return ""
	}
	return id
}

// readState reads a state in the spelling of either version, and in some others.
func readState(spelt string) a2a.TaskState {
	name := strings.ReplaceAll(strings.ToUpper(spelt), "-", "_")
	name = "TASK_STATE_" + strings.TrimPrefix(name, "TASK_STATE_")
	if name == "TASK_STATE_CANCELLED" {
		return a2a.TaskStateCanceled
	}
	return a2a.TaskState(name)
}

// stateWord returns a state for people.
func stateWord(s a2a.TaskState) string {
	word := strings.ToLower(strings.TrimPrefix(string(s), "TASK_STATE_"))
	if word == "" {
		return "unknown"
	}
	return delegate.OneLine(strings.ReplaceAll(word, "_", "-"), 40)
}

func first(ids ...string) string {
	for _, id := range ids {
		if id != "" {
			return id
		}
	}
	return ""
}

// sizeOf says how large data is.
func sizeOf(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}
