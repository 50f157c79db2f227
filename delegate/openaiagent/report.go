package openaiagent

import (
	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/internal/redact"
)

// reporter passes progress on without the key, also when a peer spreads it over pieces.
type reporter struct {
	emit           func(langrooms.Progress)
	words, thinker *redact.Stream
}

func (c *call) reporter() *reporter {
	return &reporter{emit: c.progress, words: c.secrets.Stream(), thinker: c.secrets.Stream()}
}

func (r *reporter) text(piece string) { r.tell(langrooms.ProgressText, r.words.Next(piece)) }

func (r *reporter) thought(piece string) { r.tell(langrooms.ProgressThought, r.thinker.Next(piece)) }

// rest tells the last piece of the text and what was held back of it.
func (r *reporter) rest(piece string) {
	r.tell(langrooms.ProgressText, r.words.Next(piece)+r.words.Rest())
}

func (r *reporter) tell(kind langrooms.ProgressKind, piece string) {
	if piece != "" && r.emit != nil {
		r.emit(langrooms.Progress{Kind: kind, Text: piece})
	}
}
