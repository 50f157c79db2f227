package langgraphapi

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/room"
	"github.com/langrooms/langrooms/runs"
	"github.com/langrooms/langrooms/thread"
)

// sent is one event of a stream.
type sent struct {
	event string
	data  func(context.Context) (any, error) // made only when it is sent
}

// expander turns the events of a run into those of LangGraph's stream. What it makes depends
// on the run alone, never on the reader, so that an event has one id for all of them.
type expander struct {
	s     *Server
	run   runs.Run
	known known
	graph string
	modes []string
	step  int
	live  map[string]*piece // replies under way, by message id
	heard map[string]bool   // who has spoken in the thread, for the named graph
}

// piece is a reply of which pieces come in.
type piece struct {
	member string
	round  int
	text   string
	shown  int  // how much of text has been sent
	told   bool // its metadata has been sent
}

func (s *Server) newExpander(r runs.Run, k known) *expander {
	kw := kwargsOf(r)
	return &expander{s: s, run: r, known: k, graph: kw.Graph, modes: kw.StreamMode, live: map[string]*piece{}, heard: map[string]bool{}}
}

func (x *expander) wants(mode string) bool { return slices.Contains(x.modes, mode) }

func now(v any) func(context.Context) (any, error) {
	return func(context.Context) (any, error) { return v, nil }
}

// begin is the first event of every stream.
func (x *expander) begin() sent {
	return sent{"metadata", now(map[string]any{"run_id": x.run.ID, "attempt": 1})}
}

// expand returns what one event of the run becomes.
func (x *expander) expand(e runs.Event) []sent {
	switch {
	case e.Type == runs.EventStatus && e.Status == runs.Failed:
		return []sent{{"error", now(map[string]string{"error": "Error", "message": e.Error})}}
	case e.Type == runs.EventStatus && !e.Status.Live() && x.wants(modeValues):
		return []sent{{"values", x.values("")}}
	case e.Type == runs.EventTurn:
		return x.turn(*e.Turn)
	case e.Type == runs.EventStored:
		return x.stored(*e.Message, e.Checkpoint)
	}
	return nil
}

func (x *expander) turn(e langrooms.Event) []sent {
	switch e.Type {
	case langrooms.EventProgress:
		if e.Member == "" { // the lead's pieces: its message comes whole
			return nil
		}
		if e.Progress.Kind == langrooms.ProgressText {
			return x.text(e)
		}
		return x.custom(map[string]any{"type": "progress", "member": e.Member, "exchange": e.Exchange, "round": e.Round, "progress": e.Progress})
	case langrooms.EventDispatchStarted, langrooms.EventDispatchEnded:
		facts := map[string]any{"type": string(e.Type), "member": e.Member, "exchange": e.Exchange, "round": e.Round}
		if e.Outcome != nil {
			facts["outcome"] = e.Outcome
		}
		return x.custom(facts)
	case langrooms.EventQuestion, langrooms.EventAnswered:
		return x.custom(map[string]any{"type": string(e.Type), "member": e.Member, "question": e.Question})
	case langrooms.EventToolCall, langrooms.EventNotice:
		return x.custom(map[string]any{"type": string(e.Type), "text": e.Text})
	}
	return nil
}

func (x *expander) custom(v map[string]any) []sent {
	if !x.wants(modeCustom) {
		return nil
	}
	return []sent{{"custom", now(v)}}
}

// text takes a piece of a reply. It is held back while the reply may still turn out to be a
// pass, which is no message.
func (x *expander) text(e langrooms.Event) []sent {
	p := x.live[e.MessageID]
	if p == nil {
		p = &piece{member: e.Member, round: e.Round}
		x.live[e.MessageID] = p
	}
	p.text += e.Progress.Text
	if room.MayBePass(p.text) {
		return nil
	}
	return x.show(e.MessageID, p)
}

// show sends what has come of a reply and was not sent.
func (x *expander) show(id string, p *piece) (out []sent) {
	fresh := p.text[p.shown:]
	if fresh == "" {
		return nil
	}
	if p.shown == 0 {
		fresh = x.prefix(p.member) + fresh
	}
	p.shown = len(p.text)
	if x.wants(modeTuple) {
		out = append(out, sent{"messages", now([]any{x.chunk(id, p.member, fresh, false), x.facts(p)})})
	}
	if x.wants(modeMessages) {
		if !p.told {
			p.told = true
			out = append(out, sent{"messages/metadata", now(map[string]any{id: map[string]any{"metadata": x.facts(p)}})})
		}
		whole := x.chunk(id, p.member, x.prefix(p.member)+p.text, false)
		out = append(out, sent{"messages/partial", now([]any{whole})})
	}
	return out
}

// prefix is what a text has in front in the graph that names its authors.
func (x *expander) prefix(member string) string {
	others := len(x.heard)
	if x.heard[member] {
		others--
	}
	if x.graph != graphNamed || others == 0 {
		return ""
	}
	return namedPrefix(member)
}

// chunk is a piece of an AI message. Clients add pieces up, so a piece carries no facts.
func (x *expander) chunk(id, member, text string, last bool) map[string]any {
	response := map[string]any{}
	if last {
		response["finish_reason"] = "stop"
	}
	return map[string]any{"type": "AIMessageChunk", "id": id, "name": member, "content": text, "tool_calls": []any{}, "tool_call_chunks": []any{},
		"additional_kwargs": map[string]any{}, "response_metadata": response}
}

// facts is the metadata of pieces, by which a client tells whose they are.
func (x *expander) facts(p *piece) map[string]any {
	return map[string]any{"langgraph_node": p.member, "langgraph_step": x.step, "langgraph_checkpoint_ns": p.member + ":" + x.run.ID,
		"run_id": x.run.ID, "thread_id": x.run.Thread, "graph_id": x.graph, "assistant_id": assistantID(x.graph)}
}

// stored takes a message that now stands on the thread.
func (x *expander) stored(m langrooms.Message, checkpoint string) (out []sent) {
	x.step++
	v := view{lead: x.s.lead(), named: x.graph == graphNamed}
	rendered := v.message(m, clone(x.heard))
	if rendered.Type == "ai" {
		out = append(out, x.close(m, rendered)...)
		if !thread.IsNote(m) {
			x.heard[rendered.Name] = true
		}
	}
	if x.wants(modeUpdates) && rendered.Type != "human" {
		node := rendered.Name
		if node == "" {
			node = x.s.lead()
		}
		out = append(out, sent{"updates", now(map[string]any{node: map[string]any{"messages": []message{rendered}}})})
	}
	if x.wants(modeValues) {
		out = append(out, sent{"values", x.values(checkpoint)})
	}
	return out
}

// close sends what was held back of a reply, or all of one that came whole, and its end.
func (x *expander) close(m langrooms.Message, rendered message) (out []sent) {
	p := x.live[m.ID]
	if p == nil {
		p = &piece{member: rendered.Name}
		if m.Stamp != nil {
			p.round = m.Stamp.Round
		}
	}
	delete(x.live, m.ID)
	if p.shown == 0 {
		p.text = addressText(m)
	}
	out = x.show(m.ID, p)
	if x.wants(modeTuple) {
		out = append(out, sent{"messages", now([]any{x.chunk(m.ID, p.member, "", true), x.facts(p)})})
	}
	if x.wants(modeMessages) {
		out = append(out, sent{"messages/complete", now([]message{rendered})})
	}
	return out
}

func clone(m map[string]bool) map[string]bool {
	c := make(map[string]bool, len(m))
	for k := range m {
		c[k] = true
	}
	return c
}

// values reads the state at a checkpoint, or at the head.
func (x *expander) values(checkpoint string) func(context.Context) (any, error) {
	return func(ctx context.Context) (any, error) {
		if checkpoint == "" {
			st, err := x.s.stateOf(ctx, x.known, "")
			return st.Values, err
		}
		stored, err := x.s.storedAt(ctx, checkpointer.Ref{Thread: x.run.Thread, ID: checkpoint})
		return values{view{lead: x.s.lead(), named: x.graph == graphNamed}.messages(stored)}, err
	}
}

func marshal(v any) ([]byte, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return []byte(strings.TrimSuffix(b.String(), "\n")), err
}
