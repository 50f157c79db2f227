package leadnode

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/room"
)

// speaker tells what the model says while it says it. Reasoning in front of its words is
// told as a thought.
type speaker struct {
	events langrooms.Sink
	event  langrooms.Event
	id     string // of the message that the words will be stored as

	held    string // the text so far, while it may be reasoning
	thought string // what of that has been told
	begun   bool   // the words have begun: all that comes is theirs
	told    bool
}

func (t *Turn) speaker() *speaker {
	id := langrooms.NewID()
	return &speaker{events: t.room.Events, id: id, event: langrooms.Event{
		Type: langrooms.EventProgress, Thread: t.turn.Thread(), Member: t.lead(), MessageID: id}}
}

// lead is the lead's name in this turn.
func (t *Turn) lead() string {
	if t.room.Lead != "" {
		return t.room.Lead
	}
	return langrooms.Assistant
}

// words is langchaingo's streaming function. Some clients call it with the pieces of tool
// calls too, which are no words.
func (s *speaker) words(_ context.Context, piece []byte) error {
	if !isCallPiece(piece) {
		s.text(string(piece))
	}
	return nil
}

// thoughts is langchaingo's streaming function for reasoning.
func (s *speaker) thoughts(_ context.Context, thought, _ []byte) error {
	s.tell(langrooms.ProgressThought, string(thought))
	return nil
}

func (s *speaker) text(piece string) {
	if s.begun {
		s.tell(langrooms.ProgressText, piece)
		return
	}
	s.held += piece
	if mayOpenReasoning(s.held) {
		return
	}
	words, reasoning := room.CutReasoning(s.held)
	if fresh, goesOn := strings.CutPrefix(reasoning, s.thought); goesOn {
		s.tell(langrooms.ProgressThought, fresh)
		s.thought = reasoning
	}
	if words != "" {
		s.begun = true
		s.tell(langrooms.ProgressText, s.held[strings.LastIndex(s.held, words):])
		s.held = ""
	}
}

// whole tells what a model that does not stream said beside its answer.
func (s *speaker) whole(choices []*llms.ContentChoice) {
	if s.told {
		return
	}
	for _, c := range choices {
		_, reasoning := room.CutReasoning(c.Content)
		s.tell(langrooms.ProgressThought, strings.TrimSpace(c.ReasoningContent+"\n"+reasoning))
	}
}

func (s *speaker) tell(kind langrooms.ProgressKind, piece string) {
	if piece == "" {
		return
	}
	s.told = true
	s.emit(kind, piece)
}

func (s *speaker) emit(kind langrooms.ProgressKind, piece string) {
	e := s.event
	e.Progress = &langrooms.Progress{Kind: kind, Text: strings.ToValidUTF8(piece, "\uFFFD")}
	s.events.Emit(e)
}

// mayOpenReasoning reports whether text can still become the tag that opens reasoning.
func mayOpenReasoning(text string) bool {
	const longest = 80
	text = strings.TrimSpace(text)
	return text != "" && len(text) < longest &&
		(text[0] == '<' && !strings.Contains(text, ">") ||
			text[0] == '[' && !strings.Contains(text, "]") ||
			strings.HasPrefix(text, "◁") && !strings.Contains(text, "▷"))
}

// isCallPiece reports whether a piece is what langchaingo's OpenAI client makes of a part of
// tool calls: a JSON list of them, or one of the older form.
func isCallPiece(piece []byte) bool {
	if len(piece) == 0 || piece[0] != '[' && piece[0] != '{' {
		return false
	}
	if piece[0] == '{' {
		piece = append(append([]byte("[{\"function\":"), piece...), "}]"...)
	}
	var calls []struct {
		Function *struct {
			Name      *string `json:"name"`
			Arguments *string `json:"arguments"`
		} `json:"function"`
	}
	if json.Unmarshal(piece, &calls) != nil || len(calls) == 0 {
		return false
	}
	for _, c := range calls {
		if c.Function == nil || c.Function.Name == nil && c.Function.Arguments == nil {
			return false
		}
	}
	return true
}
