package leadnode

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tmc/langchaingo/llms"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/langchain"
	"github.com/langrooms/langrooms/middleware/cast"
	"github.com/langrooms/langrooms/room"
)

// generate calls the model and returns its answer; ok is false when it said nothing. An
// endpoint that does not take the history is asked once more with its plain form, so that no
// message of the past holds up the thread for good.
func (n *Node) generate(ctx context.Context, t *Turn) (answer langrooms.Message, ok bool, err error) {
	if t.plain {
		return n.ask(ctx, t)
	}
	answer, ok, err = n.ask(ctx, t)
	if !errors.Is(err, langchain.ErrHistory) || ctx.Err() != nil {
		return answer, ok, err
	}
	t.plain = true
	answer, ok, again := n.ask(ctx, t)
	if again != nil {
		t.plain = false
		return answer, false, err
	}
	t.room.Events.Emit(langrooms.Event{Type: langrooms.EventNotice, Thread: t.turn.Thread(), Text: fmt.Sprintf(
		"The endpoint of the lead's model refused the thread as it stands; it was sent the newest part as plain text (%v).", err)})
	return answer, ok, nil
}

// ask calls the model once, with what it says told as it comes.
func (n *Node) ask(ctx context.Context, t *Turn) (answer langrooms.Message, ok bool, err error) {
	var prompt []llms.MessageContent
	if n.cfg.System != "" {
		prompt = append(prompt, llms.TextParts(llms.ChatMessageTypeSystem, n.cfg.System))
	}
	thread, shown := t.messages, n.history(t.messages)
	if t.plain {
		prompt, thread = append(prompt, langchain.Plain(shown)...), withoutExtra(thread)
	} else {
		prompt = append(prompt, langchain.ToModel(shown)...)
	}
	options := n.cfg.Options[:len(n.cfg.Options):len(n.cfg.Options)]
	if len(n.cfg.Tools) > 0 {
		options = append(options, llms.WithTools(n.definitions()))
	}
	said := t.speaker()
	if t.room.Events != nil {
		said.emit(langrooms.ProgressThought, "") // it is at work
		options = append(options, llms.WithStreamingFunc(said.words), llms.WithStreamingReasoningFunc(said.thoughts))
	}
	resp, err := t.model.GenerateContent(cast.WithThread(ctx, thread), prompt, options...)
	switch {
	case err != nil:
		return answer, false, fmt.Errorf("%w: %w", ErrModel, err)
	case len(resp.Choices) == 0:
		return answer, false, fmt.Errorf("%w: its response holds no choice", ErrModel)
	}
	answer, ok = langchain.FromChoices(resp.Choices)
	answer.ID = said.id
	answer.Usage = langchain.UsageOf(resp.Choices)
	if t.room.Price != nil {
		answer.Usage = answer.Usage.Priced(t.room.Price(t.lead()))
	}
	t.turn.Charge(t.lead(), answer.Usage)
	said.whole(resp.Choices)
	return answer, ok, nil
}

// castTokens is what is left for the words about who is in the room.
const castTokens = 500

// history is what the model is sent of the thread.
func (n *Node) history(messages []langrooms.Message) []langrooms.Message {
	limit := n.maxTokens()
	if limit <= 0 {
		return messages
	}
	shown, _ := room.History(messages, max(room.LeastHistoryTokens/2, limit-room.TokensOf(n.cfg.System)-castTokens))
	return shown
}

func (n *Node) maxTokens() int {
	if n.cfg.MaxTokens == nil {
		return 0
	}
	return n.cfg.MaxTokens()
}

// withoutExtra returns messages without what belongs to their full form.
func withoutExtra(messages []langrooms.Message) []langrooms.Message {
	plain := slices.Clone(messages)
	for i := range plain {
		plain[i].Extra = nil
	}
	return plain
}

func (n *Node) definitions() []llms.Tool {
	defs := make([]llms.Tool, len(n.cfg.Tools))
	for i, tool := range n.cfg.Tools {
		defs[i] = tool.Definition()
	}
	return defs
}
