package a2aserver

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/room"
	"github.com/langrooms/langrooms/runs"
	"github.com/langrooms/langrooms/thread"
)

// roomName is the name of what the room itself says.
const roomName = "room"

// stateOf is a run's status as a task's.
func stateOf(s runs.Status) a2a.TaskState {
	switch s {
	case runs.Pending:
		return a2a.TaskStateSubmitted
	case runs.Running:
		return a2a.TaskStateWorking
	case runs.Success:
		return a2a.TaskStateCompleted
	case runs.Interrupted:
		return a2a.TaskStateCanceled
	default:
		return a2a.TaskStateFailed
	}
}

// assembly makes a task of a run's events.
type assembly struct {
	*a2a.Task
	lead   string
	held   map[string]string // text that may still turn out to be a pass, by message
	result *langrooms.Result
}

func (s *Server) newAssembly(r runs.Run) *assembly {
	updated := r.Updated
	return &assembly{lead: s.lead(), held: map[string]string{}, Task: &a2a.Task{ID: taskID(r), ContextID: r.Thread,
		Status: a2a.TaskStatus{State: stateOf(r.Status), Timestamp: &updated}}}
}

// take brings the task up to an event, and returns the updates that say so.
func (x *assembly) take(e runs.Event) []a2a.Event {
	switch e.Type {
	case runs.EventStatus:
		return x.status(e)
	case runs.EventTurn:
		if e.Turn.Type == langrooms.EventProgress && e.Turn.Progress.Kind == langrooms.ProgressText && e.Turn.MessageID != "" {
			return x.piece(e.Turn.MessageID, e.Turn.Member, e.Turn.Progress.Text)
		}
	case runs.EventStored:
		return x.stored(*e.Message)
	case runs.EventResult:
		return x.ended(*e.Result)
	}
	return nil
}

func (x *assembly) status(e runs.Event) []a2a.Event {
	when := e.Time
	x.Status = a2a.TaskStatus{State: stateOf(e.Status), Timestamp: &when}
	words := e.Error
	if e.Status == runs.Success && x.result != nil && nobodyAnswered(*x.result) {
		x.Status.State, words = a2a.TaskStateFailed, x.result.Text
	}
	if words != "" {
		x.Status.Message = a2a.NewMessageForTask(a2a.MessageRoleAgent, x.Task, a2a.NewTextPart(words))
	}
	return []a2a.Event{&a2a.TaskStatusUpdateEvent{TaskID: x.ID, ContextID: x.ContextID, Status: x.Status, Metadata: x.Metadata}}
}

// nobodyAnswered reports whether all that were asked have failed.
func nobodyAnswered(r langrooms.Result) bool {
	return len(r.Outcomes) > 0 && !slices.ContainsFunc(r.Outcomes, func(o langrooms.Outcome) bool { return o.OK })
}

// find returns the artifact of a message, or nil.
func (x *assembly) find(id string) *a2a.Artifact {
	for _, a := range x.Artifacts {
		if string(a.ID) == id {
			return a
		}
	}
	return nil
}

// piece takes a piece of a reply. It is held back while the reply may still be a pass.
func (x *assembly) piece(id, author, piece string) []a2a.Event {
	a := x.find(id)
	if a == nil {
		x.held[id] += piece
		if room.MayBePass(x.held[id]) {
			return nil
		}
		piece = x.held[id]
		delete(x.held, id)
		return x.put(id, author, piece, false)
	}
	a.Parts = a2a.ContentParts{a2a.NewTextPart(a.Parts[0].Text() + piece)}
	return []a2a.Event{&a2a.TaskArtifactUpdateEvent{TaskID: x.ID, ContextID: x.ContextID, Append: true,
		Artifact: &a2a.Artifact{ID: a.ID, Name: a.Name, Parts: a2a.ContentParts{a2a.NewTextPart(piece)}}}}
}

// put sets the whole text of an artifact.
func (x *assembly) put(id, author, whole string, last bool, files ...*a2a.Part) []a2a.Event {
	a := x.find(id)
	if a == nil {
		a = &a2a.Artifact{ID: a2a.ArtifactID(id), Name: author}
		x.Artifacts = append(x.Artifacts, a)
	}
	a.Parts = append(a2a.ContentParts{a2a.NewTextPart(whole)}, files...)
	copied := *a
	return []a2a.Event{&a2a.TaskArtifactUpdateEvent{TaskID: x.ID, ContextID: x.ContextID, LastChunk: last, Artifact: &copied}}
}

// stored takes a message that stands on the thread.
func (x *assembly) stored(m langrooms.Message) []a2a.Event {
	delete(x.held, m.ID)
	text := m.Text()
	switch {
	case thread.IsNote(m), text == "": // a note comes with the result
		return nil
	case m.Role == langrooms.RoleHuman && (m.Stamp == nil || m.Stamp.From == langrooms.Operator):
		if m.Stamp != nil && len(m.Stamp.To) > 0 {
			text = "@" + strings.Join(m.Stamp.To, " @") + " " + text
		}
		x.History = append(x.History, &a2a.Message{ID: m.ID, Role: a2a.MessageRoleUser, ContextID: x.ContextID, TaskID: x.ID,
			Parts: a2a.ContentParts{a2a.NewTextPart(text)}})
		return nil
	case m.Role != langrooms.RoleAI && m.Stamp == nil:
		return nil
	}
	author := x.lead
	if m.Stamp != nil && m.Stamp.From != "" {
		author = m.Stamp.From
	}
	return x.put(m.ID, author, text, true, filesOf(m)...)
}

// ended takes what the turn came to: what the room itself says, and words that no message has.
func (x *assembly) ended(r langrooms.Result) (out []a2a.Event) {
	x.result, x.Metadata = &r, usageOf(r.Spent)
	id := string(x.ID) + "/" + roomName
	switch {
	case r.Aside != "":
		return x.put(id, roomName, r.Aside, true)
	case len(x.Artifacts) == 0 && r.Text != "" && !nobodyAnswered(r):
		return x.put(id, roomName, r.Text, true)
	}
	return nil
}

// task is a run as it stands.
func (h *handler) task(ctx context.Context, r runs.Run) (*a2a.Task, error) {
	x := h.newAssembly(r)
	until, err := h.cfg.Runs.Position(ctx, r.Thread, r.ID)
	if err != nil {
		return nil, h.failed(err)
	}
	if until == 0 && !r.Status.Live() {
		return x.Task, h.failed(h.recall(ctx, x, r))
	}
	for e, err := range h.cfg.Runs.Events(ctx, r.Thread, r.ID, 0) {
		if until == 0 || errors.Is(err, runs.ErrGone) {
			break
		}
		if err != nil {
			return nil, h.failed(err)
		}
		if x.take(e); e.Seq+1 >= until {
			break
		}
	}
	return x.Task, nil
}

// recall makes the task of a run whose events are not kept any more, of what stands on its
// thread from where it began up to the next message of the caller's.
func (h *handler) recall(ctx context.Context, x *assembly, r runs.Run) error {
	if r.Error != "" {
		x.Status.Message = a2a.NewMessageForTask(a2a.MessageRoleAgent, x.Task, a2a.NewTextPart(r.Error))
	}
	if r.Status == runs.Interrupted && r.Base == "" && r.Length == 0 {
		return nil // it may never have begun
	}
	for m, err := range h.cfg.Saver.Messages(ctx, checkpointer.Ref{Thread: r.Thread}, checkpointer.Range{From: r.Length}) {
		if errors.Is(err, checkpointer.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		asked := m.Role == langrooms.RoleHuman && (m.Stamp == nil || m.Stamp.From == langrooms.Operator)
		if asked && len(x.History) > 0 {
			return nil
		}
		x.stored(m)
	}
	return nil
}

// cut leaves so much of a task's history; nil is all.
func cut(t *a2a.Task, history *int) {
	if history != nil && *history >= 0 && *history < len(t.History) {
		t.History = t.History[len(t.History)-*history:]
	}
}

// follow tells how a run stands, and then what becomes of it until it has ended.
func (h *handler) follow(ctx context.Context, r runs.Run, yield func(a2a.Event, error) bool) {
	x := h.newAssembly(r)
	until, err := h.cfg.Runs.Position(ctx, r.Thread, r.ID)
	if err != nil {
		yield(nil, h.failed(err))
		return
	}
	shown := until == 0
	if shown && !yield(x.snapshot(), nil) {
		return
	}
	for e, err := range h.cfg.Runs.Events(ctx, r.Thread, r.ID, 0) {
		if err != nil {
			if ctx.Err() == nil {
				yield(nil, h.failed(err))
			}
			return
		}
		updates := x.take(e)
		if !shown {
			if shown = e.Seq+1 >= until; shown && !yield(x.snapshot(), nil) {
				return
			}
			continue
		}
		for _, u := range updates {
			if !yield(u, nil) {
				return
			}
		}
	}
}

// snapshot is the task as it is now, which later events do not change.
func (x *assembly) snapshot() *a2a.Task {
	t := *x.Task
	t.Artifacts = nil
	for _, a := range x.Artifacts {
		copied := *a
		t.Artifacts = append(t.Artifacts, &copied)
	}
	return &t
}
