package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/room"
)

// ErrNoSummary says that a compaction has no text and nobody to write one.
var ErrNoSummary = errors.New("there is no text for the summary, and no model has written one")

// pieceTokens is how much of a thread is summarized by one call of the model, unless the lead's
// bound is smaller.
const pieceTokens = 16_000

// summarize has the summary of messages written, in pieces of at most the given size: each call is
// given the summary so far and the next piece.
func (t *Threads) summarize(ctx context.Context, messages []langrooms.Message, piece int) (string, error) {
	if t.Summarize == nil {
		return "", ErrNoSummary
	}
	var shown []langrooms.Message
	for _, m := range messages {
		if m.Stamp == nil || !m.Stamp.Incognito {
			shown = append(shown, m)
		}
	}
	if len(shown) == 0 {
		return incognitoSummary, nil
	}
	text := ""
	for len(shown) > 0 {
		n := fitting(shown, piece)
		part := shown[:n:n]
		if text != "" {
			part = append([]langrooms.Message{soFar(text)}, part...)
		}
		part, _ = room.History(part, piece) // clips what alone is too long
		next, err := t.Summarize(ctx, part)
		if err == nil && strings.TrimSpace(next) == "" {
			err = ErrNoSummary
		}
		if err != nil {
			return "", fmt.Errorf("writing the summary: %w", err)
		}
		text, shown = strings.TrimSpace(next), shown[n:]
	}
	return text, nil
}

// summaryRoom is what of a piece is left for the summary so far, in tokens.
const summaryRoom = 1000

// fitting returns how many of the oldest messages fit into a piece; at least one. A tool's result
// stays with its call.
func fitting(messages []langrooms.Message, piece int) int {
	sum, n := 0, 0
	for n < len(messages) {
		if sum += room.Tokens(messages[n]); sum > piece-summaryRoom && n > 0 && messages[n].Role != langrooms.RoleTool {
			break
		}
		n++
	}
	return n
}

// soFar is the summary of what came before a piece.
func soFar(text string) langrooms.Message {
	m := langrooms.NewMessage(langrooms.RoleSystem, text)
	m.Summary = &langrooms.Summary{}
	return m
}

// incognitoSummary stands for messages of which none may be summarized.
const incognitoSummary = "(Everything that was said here was incognito.)"

// summaryOf is the message that stands for messages.
func summaryOf(messages []langrooms.Message, text string) langrooms.Message {
	s := langrooms.Summary{}
	seen := map[string]int64{}
	for _, m := range messages {
		s.Replaced++
		if m.Summary != nil {
			s.Replaced += m.Summary.Replaced - 1
			for _, member := range m.Summary.Members {
				seen[member.Name] = max(seen[member.Name], member.Seen)
			}
		}
		if st := m.Stamp; st != nil && !st.Failed && len(st.To) == 0 {
			at := st.Seen
			if at == m.Seq { // a member has seen its own reply, too
				at++
			}
			seen[st.From] = max(seen[st.From], at)
		}
	}
	for _, name := range room.Cast(messages, "") {
		s.Members = append(s.Members, langrooms.SummaryMember{Name: name, Seen: seen[name]})
	}
	m := langrooms.NewMessage(langrooms.RoleSystem, text)
	m.Summary = &s
	return m
}
