package openaiagent

import (
	"strings"

	"github.com/langrooms/langrooms"
)

// mask stands where a peer repeated the key.
const mask = "[secret]"

// minSecret is the shortest key that is looked for in what a peer says; a shorter one
// would be found in ordinary words.
const minSecret = 4

// scrub returns text without the key.
func scrub(text, key string) string {
	if len(key) < minSecret {
		return text
	}
	return strings.ReplaceAll(text, key, mask)
}

// reporter passes progress on without the key, also when a peer spreads it over pieces.
type reporter struct {
	emit           func(langrooms.Progress)
	words, thinker scrubber
}

func (c *call) reporter() *reporter {
	return &reporter{emit: c.progress, words: scrubber{key: c.key}, thinker: scrubber{key: c.key}}
}

func (r *reporter) text(piece string) { r.tell(langrooms.ProgressText, r.words.next(piece)) }

func (r *reporter) thought(piece string) { r.tell(langrooms.ProgressThought, r.thinker.next(piece)) }

// rest tells the last piece of the text and what was held back of it.
func (r *reporter) rest(piece string) {
	r.tell(langrooms.ProgressText, r.words.next(piece)+r.words.held)
}

func (r *reporter) tell(kind langrooms.ProgressKind, piece string) {
	if piece != "" && r.emit != nil {
		r.emit(langrooms.Progress{Kind: kind, Text: piece})
	}
}

// scrubber takes the key out of a text that comes in pieces.
type scrubber struct {
	key string
	// held is the end of the text so far that may begin the key.
	held string
}

// next returns what can be shown after piece has come.
func (s *scrubber) next(piece string) string {
	text := scrub(s.held+piece, s.key)
	s.held = ""
	if len(s.key) < minSecret {
		return text
	}
	for n := min(len(s.key)-1, len(text)); n > 0; n-- {
		if strings.HasSuffix(text, s.key[:n]) {
			s.held = text[len(text)-n:]
			return text[:len(text)-n]
		}
	}
	return text
}
