package completion

import (
	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/internal/redact"
)

// Reporter passes progress on without the key, also when a peer spreads it over pieces.
type Reporter struct {
	emit           func(langrooms.Progress)
	words, thinker *redact.Stream
}

// NewReporter returns one that tells emit, which may be nil.
func NewReporter(secrets redact.Set, emit func(langrooms.Progress)) *Reporter {
	return &Reporter{emit: emit, words: secrets.Stream(), thinker: secrets.Stream()}
}

func (r *Reporter) text(piece string) { r.tell(langrooms.ProgressText, r.words.Next(piece)) }

func (r *Reporter) thought(piece string) { r.tell(langrooms.ProgressThought, r.thinker.Next(piece)) }

// rest tells the last piece of the text and what was held back of it.
func (r *Reporter) rest(piece string) {
	r.tell(langrooms.ProgressText, r.words.Next(piece)+r.words.Rest())
}

func (r *Reporter) tell(kind langrooms.ProgressKind, piece string) {
	if piece != "" && r.emit != nil {
		r.emit(langrooms.Progress{Kind: kind, Text: piece})
	}
}
