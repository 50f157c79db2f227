package completion

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// MaxReply is the longest answer that is taken, in bytes of text.
const MaxReply = 16 << 20

// MaxBody bounds a whole answer or one event of a stream: the text may be escaped.
const MaxBody = 2*MaxReply + 1<<20

// ErrTooLong says that an answer is longer than [MaxReply].
var ErrTooLong = fmt.Errorf("the answer is longer than %d MiB", MaxReply>>20)

var (
	errNoAnswer   = errors.New("the answer has no choices")
	errBroken     = errors.New("the answer broke off before it was complete")
	errNotAnswer  = errors.New("the answer is no chat completion")
	errUnreadable = errors.New("the answer cannot be read")
)

// Failure is an error object inside an answer with a good status.
type Failure struct{ Message string }

func (e *Failure) Error() string { return e.Message }

// Answer is a completion with what is used of it.
type Answer struct {
	Text string
	// Finish is the endpoint's finish reason; see [FinishLength], [FinishFilter].
	Finish string
	// Refused: some of the text is a refusal of the model's.
	Refused bool
	// Input and Output count tokens; 0 when the endpoint does not.
	Input, Output int
	// CostUSD is what the endpoint says that the answer cost; nil where it does not.
	CostUSD *float64
	// Calls are the tools that the model wants run, each with an id of its own.
	Calls []Call
	// Kept are the fields of the message that are none of these.
	Kept Kept
}

// Call is a call of a tool. Arguments are as the model wrote them.
type Call struct{ ID, Name, Arguments string }

// completion is a whole answer or one event of a stream (OpenAI API reference, "The chat
// completion object" and "The chat completion chunk object").
type completion struct {
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type choice struct {
	Index   float64 `json:"index"`
	Message fields  `json:"message"`
	Delta   fields  `json:"delta"`
	Finish  *string `json:"finish_reason"`
}

// fields is a JSON object, such as a message or a piece of one.
type fields = map[string]json.RawMessage

type usage struct {
	Prompt     float64 `json:"prompt_tokens"`
	Completion float64 `json:"completion_tokens"`
	// Cost is in US dollars, at OpenRouter and what follows it.
	Cost json.RawMessage `json:"cost"`
}

// dollars is the cost, if it is a number.
func (u usage) dollars() *float64 {
	var cost *float64
	if json.Unmarshal(u.Cost, &cost) != nil || cost == nil || *cost < 0 {
		return nil
	}
	return cost
}

// Read reads a whole answer or a stream, whichever the first character shows: an
// endpoint may ignore what was asked for. Text of a stream goes to r as it comes.
func Read(body io.Reader, r *Reporter) (*Answer, error) {
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
func readWhole(in io.Reader, r *Reporter) (*Answer, error) {
	body, err := io.ReadAll(io.LimitReader(in, MaxBody+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	if len(body) > MaxBody {
		return nil, ErrTooLong
	}
	f := folder{reporter: r, quiet: true}
	if err := f.event(body); err != nil {
		return nil, err
	}
	return f.answer()
}

// The finish reasons that an answer is cut for.
const (
	FinishLength = "length"
	FinishFilter = "content_filter"
)

// Encode returns the text of a as the completion that langchaingo reads: one choice, no null,
// no call of a function or tool. The client dereferences what a finish reason promises, so
// only those go on that promise nothing.
func (a *Answer) Encode() ([]byte, error) {
	finish := a.Finish
	if finish != FinishLength && finish != FinishFilter {
		finish = "stop"
	}
	return json.Marshal(map[string]any{
		"object": "chat.completion",
		"choices": []any{map[string]any{
			"message":       map[string]any{"role": "assistant", "content": a.Text},
			"finish_reason": finish,
		}},
		"usage": map[string]any{"prompt_tokens": a.Input, "completion_tokens": a.Output},
	})
}

// count makes a number of tokens of what a peer sent.
func count(n float64) int {
	if !(n > 0) || n > 1<<40 {
		return 0
	}
	return int(n)
}

// maxModels bounds what is read of a list of models, in bytes.
const maxModels = 4 << 20

// Models reads a list of models: it checks that body begins as a list of models does, and returns the names that
// can be read of it.
func Models(body io.Reader) ([]string, error) {
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
		return nil, &Failure{message}
	}
	var names []string
	for _, m := range object.Data {
		if m.ID != "" {
			names = append(names, m.ID)
		}
	}
	return names, nil
}

// Listed reports whether a list of models has model, also with the tag that a server adds
// (":latest") or below a folder ("models/").
func Listed(model string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return name == model || name == model+":latest" || strings.HasSuffix(name, "/"+model)
	})
}
