package openaiagent

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/tmc/langchaingo/llms"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
)

// maxReply is the longest answer that is taken, in bytes of text.
const maxReply = 16 << 20

// maxBody bounds a whole answer or one event of a stream: the text may be escaped.
const maxBody = 2*maxReply + 1<<20

var (
	errTooLong    = fmt.Errorf("the answer is longer than %d MiB", maxReply>>20)
	errNoAnswer   = errors.New("the answer has no choices")
	errBroken     = errors.New("the answer broke off before it was complete")
	errNotAnswer  = errors.New("the answer is no chat completion")
	errUnreadable = errors.New("the answer cannot be read")
)

// peerFailure is an error object inside an answer with a good status.
type peerFailure struct{ message string }

func (e *peerFailure) Error() string { return e.message }

// answer is a completion with what is used of it.
type answer struct {
	text    string
	finish  string
	refused bool
	usage   usage
}

type usage struct {
	Prompt     float64 `json:"prompt_tokens"`
	Completion float64 `json:"completion_tokens"`
}

// completion is a whole answer or one event of a stream (OpenAI API reference, "The chat
// completion object" and "The chat completion chunk object").
type completion struct {
	Choices []struct {
		Message *content `json:"message"`
		Delta   *content `json:"delta"`
		Finish  *string  `json:"finish_reason"`
	} `json:"choices"`
	Usage *usage          `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type content struct {
	Content   json.RawMessage `json:"content"`
	Refusal   json.RawMessage `json:"refusal"`
	Reasoning json.RawMessage `json:"reasoning_content"`
	// Thinking is the same under the name that some endpoints have for it.
	Thinking json.RawMessage `json:"reasoning"`
}

// readAnswer reads a whole answer or a stream, whichever the first character shows: an
// endpoint may ignore what was asked for. Text of a stream goes to r as it comes.
func readAnswer(body io.Reader, r *reporter) (*answer, error) {
	in := bufio.NewReaderSize(body, 32<<10)
	first, err := firstByte(in)
	switch {
	case err == io.EOF:
		return nil, fmt.Errorf("%w: it is empty", errNotAnswer)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errBroken, err)
	case first == '{' || first == '[':
		return readWhole(in, r)
	case first == '<':
		return nil, fmt.Errorf("%w: it looks like HTML", errNotAnswer)
	}
	return readStream(in, r)
}

// firstByte skips a byte order mark and white space, and returns the character after it,
// unread.
func firstByte(in *bufio.Reader) (byte, error) {
	if mark, _ := in.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
		in.Discard(len(byteOrderMark))
	}
	for {
		b, err := in.ReadByte()
		if err != nil {
			return 0, err
		}
		if b != ' ' && b != '\n' && b != '\r' && b != '\t' {
			return b, in.UnreadByte()
		}
	}
}

const byteOrderMark = "\uFEFF"

// readWhole reads an answer that was not streamed.
func readWhole(in io.Reader, r *reporter) (*answer, error) {
	body, err := io.ReadAll(io.LimitReader(in, maxBody+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	if len(body) > maxBody {
		return nil, errTooLong
	}
	f := folder{reporter: r, quiet: true}
	if err := f.event(body); err != nil {
		return nil, err
	}
	return f.answer()
}

// The finish reasons that an answer is cut for.
const (
	finishLength = "length"
	finishFilter = "content_filter"
)

// encode returns a as the completion that langchaingo reads: one choice, no null, no call
// of a function or tool. The client dereferences what a finish reason promises, so only
// those go on that promise nothing.
func (a *answer) encode() ([]byte, error) {
	finish := a.finish
	if finish != finishLength && finish != finishFilter {
		finish = "stop"
	}
	return json.Marshal(map[string]any{
		"object": "chat.completion",
		"choices": []any{map[string]any{
			"message":       map[string]any{"role": "assistant", "content": a.text},
			"finish_reason": finish,
		}},
		"usage": map[string]any{"prompt_tokens": count(a.usage.Prompt), "completion_tokens": count(a.usage.Completion)},
	})
}

// count makes a number of tokens of what a peer sent.
func count(n float64) int {
	if !(n > 0) || n > 1<<40 {
		return 0
	}
	return int(n)
}

// reply returns what langchaingo made of an answer.
func (c *call) reply(response *llms.ContentResponse) delegate.Reply {
	choice := response.Choices[0]
	reply := delegate.Reply{Text: c.secrets.Text(choice.Content)}
	reply.Incomplete = c.incomplete(choice.StopReason)
	input, _ := choice.GenerationInfo["PromptTokens"].(int)
	output, _ := choice.GenerationInfo["CompletionTokens"].(int)
	if input > 0 || output > 0 {
		reply.Usage = &langrooms.Usage{InputTokens: input, OutputTokens: output}
	}
	return reply
}

// incomplete says why the answer is not whole; empty when it is.
func (c *call) incomplete(finish string) string {
	switch {
	case c.cut != nil:
		return c.cut.Cause()
	case finish == finishLength:
		return fmt.Sprintf("it was cut at the limit of %d tokens (max_tokens)", c.agent.cfg.MaxTokens)
	case finish == finishFilter:
		return "it was cut by the endpoint's content filter"
	case c.refused:
		return "the model refused to answer"
	}
	return ""
}

// maxModels bounds what is read of a list of models, in bytes.
const maxModels = 4 << 20

// readModels checks that body begins as a list of models does, and returns the names that
// can be read of it.
func readModels(body io.Reader) ([]string, error) {
	in := bufio.NewReader(io.LimitReader(body, maxModels))
	if first, err := firstByte(in); err != nil || first != '{' && first != '[' {
		return nil, fmt.Errorf("%w: no list of models", errUnreadable)
	}
	data, err := io.ReadAll(in)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	var object struct {
		Error json.RawMessage
		Data  []struct{ ID string }
	}
	if json.Unmarshal(data, &object) != nil {
		json.Unmarshal(data, &object.Data) // some give the list alone
	}
	if message, _, said := peerError(object.Error); said {
		return nil, &peerFailure{message}
	}
	var names []string
	for _, m := range object.Data {
		if m.ID != "" {
			names = append(names, m.ID)
		}
	}
	return names, nil
}
