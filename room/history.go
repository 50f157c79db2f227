package room

import (
	"fmt"
	"slices"
	"strings"

	"github.com/langrooms/langrooms"
)

// The bounds of lead.history_max_tokens.
const (
	DefaultHistoryTokens = 24_000
	MaxHistoryTokens     = 2_000_000
	// LeastHistoryTokens is what a history needs to hold a question, a summary and an answer.
	LeastHistoryTokens = 1000
)

// ClampHistory returns the bound that the setting n stands for: the default for zero and below,
// else n between the least and the most.
func ClampHistory(n int) int {
	if n <= 0 {
		return DefaultHistoryTokens
	}
	return min(max(n, LeastHistoryTokens), MaxHistoryTokens)
}

// The estimate of tokens: models have tokens of their own, and none of the common ones takes more
// than this for prose in any script, or for code.
const (
	bytesPerToken    = 3
	tokensPerMessage = 16 // the role, and the envelope of a room message
	// tokensPerFile is what an image takes at the sizes that endpoints shrink it to; any other
	// file is named.
	tokensPerFile = 1500
)

// TokensOf estimates how many tokens a text takes in a model's request, rather too many than too few.
func TokensOf(text string) int { return (len(text) + bytesPerToken - 1) / bytesPerToken }

// Tokens estimates how many tokens a message takes in a model's request.
func Tokens(m langrooms.Message) int {
	n := tokensPerMessage
	for _, p := range m.Parts {
		n += TokensOf(p.Text)
		if p.Kind == langrooms.PartImageURL || p.Kind == langrooms.PartBinary {
			n += tokensPerFile
		}
		if c := p.ToolCall; c != nil {
			n += TokensOf(c.ID+c.Name+c.Arguments) + tokensPerMessage
		}
		if r := p.ToolResult; r != nil {
			n += TokensOf(r.CallID+r.Name+r.Content) + tokensPerMessage
		}
	}
	for _, extra := range m.Extra { // some endpoints are given their own fields back
		n += TokensOf(string(extra))
	}
	return n
}

// History is what of a thread the lead's model is sent when it may be sent limit tokens: the newest
// messages, and in front of them the thread's summary and, where something was left out, a notice
// that says so. left is how many messages were.
//
// What is left out changes seldom: when the limit is passed, so much is left out that half of it is
// free again. Until it is passed the next time each request begins with the one before, as a
// provider's cache wants it. A tool's result is never parted from its call, the operator's newest
// message always stays, and what alone is too long is clipped.
func History(messages []langrooms.Message, limit int) (shown []langrooms.Message, left int) {
	front := 0
	if len(messages) > 0 && messages[0].Summary != nil {
		front = 1
	}
	asked := newestQuestion(messages)
	start, sum := front, 0
	for i, m := range messages {
		sum += Tokens(m)
		if sum > limit {
			start, sum = drop(messages, front, start, i, sum, limit/2)
		}
	}
	shown = slices.Clone(messages[:front])
	if left = start - front; left > 0 {
		if asked >= front && asked < start {
			left--
		}
		if left > 0 {
			shown = append(shown, omitted(messages[start], left))
		}
		if asked >= front && asked < start {
			shown = append(shown, messages[asked])
		}
	}
	shown = append(shown, messages[start:]...)
	return clipTo(shown, limit), left
}

// Long reports whether messages are so near the limit of a history that they should be summarized
// before it is reached.
func Long(messages []langrooms.Message, limit int) bool {
	sum := 0
	for _, m := range messages {
		sum += Tokens(m)
	}
	return sum > limit-limit/4
}

// drop moves start on until what is from there to the ith message takes no more than goal tokens. A
// call stays with its results, and the ith message is never dropped.
func drop(messages []langrooms.Message, front, start, i, sum, goal int) (int, int) {
	for start < i && sum > goal {
		sum -= Tokens(messages[start])
		start++
		for start < i && messages[start].Role == langrooms.RoleTool {
			sum -= Tokens(messages[start])
			start++
		}
	}
	if messages[start].Role == langrooms.RoleTool { // the newest: its call has to come along
		for start > front && messages[start].Role == langrooms.RoleTool {
			start--
			sum += Tokens(messages[start])
		}
	}
	return start, sum
}

// newestQuestion is the index of the operator's newest message to the lead, or of what has woken it;
// -1 where there is none.
func newestQuestion(messages []langrooms.Message) int {
	for i, m := range slices.Backward(messages) {
		if m.Stamp == nil && m.Summary == nil && (m.Role == langrooms.RoleHuman || m.Role == langrooms.RoleSystem) {
			return i
		}
	}
	return -1
}

// omitted is the notice in place of messages in front of next. Its id is next's, so that it is the
// same in each request.
func omitted(next langrooms.Message, left int) langrooms.Message {
	return langrooms.Message{ID: next.ID + "-omitted", Time: next.Time, Role: langrooms.RoleSystem, Parts: []langrooms.Part{langrooms.TextPart(
		fmt.Sprintf("%d messages that came before are not shown: the thread is longer than what you are sent of it.", left))}}
}

// clipTo clips the longest texts until the messages take no more than limit tokens, as far as that
// goes: a part keeps a beginning.
func clipTo(messages []langrooms.Message, limit int) []langrooms.Message {
	sum := 0
	for _, m := range messages {
		sum += Tokens(m)
	}
	for sum > limit {
		longest, part := -1, -1
		for i, m := range messages {
			for j, p := range m.Parts {
				if longest < 0 || len(words(p)) > len(words(messages[longest].Parts[part])) {
					longest, part = i, j
				}
			}
		}
		if longest < 0 {
			return messages
		}
		m := messages[longest]
		text := words(m.Parts[part])
		short := shorten(text, max(leastShown, len(text)-bytesPerToken*(sum-limit+1)-len(clippedMark)))
		if len(short) >= len(text) {
			return messages // nothing is left to clip
		}
		sum -= TokensOf(text) - TokensOf(short)
		m.Parts = slices.Clone(m.Parts)
		m.Parts[part] = withWords(m.Parts[part], short)
		messages[longest] = m
	}
	return messages
}

const (
	// leastShown is how much of a text stays where it is clipped, in bytes.
	leastShown  = 300
	clippedMark = "\n(The rest was left out: it is too long to be sent.)"
)

func shorten(text string, n int) string {
	if len(text) <= n+len(clippedMark) {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + clippedMark
}

// words are the words of a part that may be clipped: a tool's result, or its text. What a tool was
// called with stays, because it is no prose.
func words(p langrooms.Part) string {
	if p.ToolResult != nil {
		return p.ToolResult.Content
	}
	return p.Text
}

func withWords(p langrooms.Part, text string) langrooms.Part {
	if p.ToolResult == nil {
		p.Text = text
		return p
	}
	result := *p.ToolResult
	result.Content, p.ToolResult = text, &result
	return p
}
