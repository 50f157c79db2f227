package acpserver

import (
	"strings"

	"github.com/coder/acp-go-sdk"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/room"
	"github.com/langrooms/langrooms/runs"
	"github.com/langrooms/langrooms/thread"
)

// writer shows one run to the client.
type writer struct {
	s       *Server
	update  func(acp.SessionUpdate)
	spoken  bool   // something has been said
	last    string // message that was written to last
	open    string // message whose pieces are shown; the others wait for its end
	waiting []langrooms.Message
	shown   map[string]string // text of each message
	held    map[string]string // text that may still turn out to be a pass
	calls   map[string]bool   // tool calls that have been shown
}

func (w *writer) take(e runs.Event) {
	if e.Type == runs.EventResult || e.Type == runs.EventStatus {
		w.ended(w.open)
	}
	switch {
	case e.Type == runs.EventTurn && e.Turn.Type == langrooms.EventProgress:
		w.progress(*e.Turn)
	case e.Type == runs.EventTurn && e.Turn.Type == langrooms.EventDispatchEnded:
		w.ended(e.Turn.MessageID)
	case e.Type == runs.EventStored:
		w.stored(*e.Message)
	case e.Type == runs.EventResult && e.Result.Aside != "":
		w.say("", "", e.Result.Aside)
	case e.Type == runs.EventResult && !w.spoken && e.Result.Text != "":
		w.say("", "", e.Result.Text)
	}
}

// say writes a piece of a message. Each message begins a paragraph with its author's name,
// where that is not the lead.
func (w *writer) say(id, author, piece string) {
	if w.last != id || id == "" {
		if author != "" && author != w.s.lead() {
			piece = "**@" + author + "** — " + piece
		}
		if w.spoken {
			piece = "\n\n" + piece
		}
	}
	w.spoken, w.last = true, id
	w.update(acp.UpdateAgentMessageText(piece))
}

func (w *writer) progress(e langrooms.Event) {
	p := e.Progress
	switch p.Kind {
	case langrooms.ProgressText:
		if e.MessageID == "" {
			return
		}
		piece := p.Text
		if _, begun := w.shown[e.MessageID]; !begun {
			w.held[e.MessageID] += piece
			if piece = w.held[e.MessageID]; w.open != "" || room.MayBePass(piece) {
				return
			}
		}
		w.open = e.MessageID
		w.shown[e.MessageID] += piece
		w.say(e.MessageID, e.Member, piece)
	case langrooms.ProgressThought:
		w.update(acp.UpdateAgentThoughtText(p.Text))
	case langrooms.ProgressTool:
		w.tool(e)
	case langrooms.ProgressPlan:
		var entries []acp.PlanEntry
		for line := range strings.Lines(p.Text) {
			entries = append(entries, acp.PlanEntry{Content: "@" + e.Member + ": " + strings.TrimSpace(line),
				Priority: acp.PlanEntryPriorityMedium, Status: acp.PlanEntryStatusPending})
		}
		w.update(acp.UpdatePlan(entries...))
	}
}

// tool shows a tool call of a member's own; its title tells it from others.
func (w *writer) tool(e langrooms.Event) {
	id := acp.ToolCallId(e.MessageID + "/" + e.Progress.Text)
	status := acp.ToolCallStatusInProgress
	switch acp.ToolCallStatus(e.Progress.State) {
	case acp.ToolCallStatusCompleted, acp.ToolCallStatusFailed, acp.ToolCallStatusPending:
		status = acp.ToolCallStatus(e.Progress.State)
	}
	if w.calls[string(id)] {
		w.update(acp.UpdateToolCall(id, acp.WithUpdateStatus(status)))
		return
	}
	w.calls[string(id)] = true
	w.update(acp.StartToolCall(id, "@"+e.Member+": "+e.Progress.Text, acp.WithStartStatus(status)))
}

// ended says that no more pieces of a message come.
func (w *writer) ended(id string) {
	if w.open != id {
		return
	}
	waiting := w.waiting
	w.open, w.waiting = "", nil
	for _, m := range waiting {
		w.stored(m)
	}
}

// stored shows a message of which nothing was shown while it came.
func (w *writer) stored(m langrooms.Message) {
	w.ended(m.ID)
	if text, operator := w.s.said(m); operator || text == "" || thread.IsNote(m) {
		return
	}
	switch _, begun := w.shown[m.ID]; {
	case begun:
		w.files(m)
		return
	case w.open != "":
		w.waiting = append(w.waiting, m)
		return
	}
	w.shown[m.ID] = m.Text()
	w.say(m.ID, w.s.author(m), m.Text())
	w.files(m)
}

// files shows what came with a message beside its text.
func (w *writer) files(m langrooms.Message) {
	for _, f := range m.Files() {
		w.update(acp.UpdateAgentMessage(blockOf(f)))
	}
}

// author is who a message is from.
func (s *Server) author(m langrooms.Message) string {
	if m.Stamp != nil && m.Stamp.From != "" {
		return m.Stamp.From
	}
	return s.lead()
}

// said is a message as text with its author in front, and whether it is the operator's; empty
// for one that is not shown.
func (s *Server) said(m langrooms.Message) (text string, operator bool) {
	text = m.Text()
	switch {
	case text == "", m.Role != langrooms.RoleHuman && m.Role != langrooms.RoleAI:
		return "", false
	case m.Role == langrooms.RoleHuman && (m.Stamp == nil || m.Stamp.From == langrooms.Operator):
		if m.Stamp != nil && len(m.Stamp.To) > 0 {
			text = "@" + strings.Join(m.Stamp.To, " @") + " " + text
		}
		return text, true
	}
	if author := s.author(m); author != s.lead() {
		text = "**@" + author + "** — " + text
	}
	return text, false
}
