package completion

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tmaxmax/go-sse"

	"github.com/langrooms/langrooms/delegate"
)

// readStream folds a stream of server-sent events into one answer. "[DONE]" or a finish
// reason ends the answer, and a stream that ends without either has broken off. An end
// without the blank line after the last event, which the format wants, is forgiven.
func readStream(in io.Reader, r *Reporter) (*Answer, error) {
	f := folder{reporter: r}
	for e, err := range sse.Read(io.MultiReader(in, strings.NewReader("\n\n")), &sse.ReadConfig{MaxEventSize: MaxBody}) {
		switch {
		case errors.Is(err, bufio.ErrTooLong):
			return nil, ErrTooLong
		case err != nil:
			return f.partial(fmt.Errorf("%w: %w", errBroken, err))
		}
		data, last := cutDone(e.Data)
		if err := f.events(data); err != nil {
			return nil, err
		}
		if last {
			return f.answer()
		}
	}
	switch {
	case f.finish != "":
		return f.answer()
	case !f.began:
		return nil, fmt.Errorf("%w: no event of a stream and no JSON object", errNotAnswer)
	}
	return f.partial(errBroken)
}

// cutDone takes the word that ends a stream off the end of an event.
func cutDone(data string) (rest string, last bool) {
	return strings.CutSuffix(strings.TrimSpace(data), "[DONE]")
}

// folder puts an answer together from its pieces.
type folder struct {
	reporter *Reporter
	// quiet reports no progress: the answer came whole.
	quiet     bool
	began     bool
	text      text
	reasoning text
	finish    string
	refused   bool
	usage     usage
	kept      keeper
	calls     []*building
	size      int // of the calls, in bytes
}

// events takes the data of one event: a chunk, or several where an endpoint leaves out the
// blank lines between its events. Data that is no JSON is skipped.
func (f *folder) events(data string) error {
	if data == "" || data[0] != '{' && data[0] != '[' {
		return nil
	}
	for dec := json.NewDecoder(strings.NewReader(data)); ; {
		var chunk json.RawMessage
		switch err := dec.Decode(&chunk); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%w: %w", errUnreadable, delegate.DecodeCause(err))
		}
		if err := f.event(chunk); err != nil {
			return err
		}
	}
}

// event takes one chunk of a stream or a whole completion, or an array with an error.
func (f *folder) event(data []byte) error {
	var c completion
	if data[0] == '[' {
		var list []completion
		if json.Unmarshal(data, &list) != nil || len(list) == 0 {
			return fmt.Errorf("%w: it is a list", errNotAnswer)
		}
		c = list[0]
	} else if err := json.Unmarshal(data, &c); err != nil {
		return fmt.Errorf("%w: %w", errUnreadable, delegate.DecodeCause(err))
	}
	if message, _, said := peerError(c.Error); said {
		return &Failure{message}
	}
	if c.Usage != nil {
		f.usage = *c.Usage
	}
	if len(c.Choices) == 0 {
		return nil
	}
	f.began = true
	for _, choice := range c.Choices {
		if err := f.choice(choice); err != nil {
			return err
		}
	}
	return nil
}

// choice takes the first choice's piece. Others are answers beside it, or hold the calls that
// some endpoints part from the words.
func (f *folder) choice(c choice) error {
	for _, piece := range []fields{c.Message, c.Delta} {
		if err := f.call(piece["tool_calls"]); err != nil {
			return err
		}
		if c.Index > 0 {
			continue
		}
		f.kept.message(piece)
		if err := f.add(piece); err != nil {
			return err
		}
	}
	if c.Index <= 0 && c.Finish != nil && *c.Finish != "" {
		f.finish = *c.Finish
	}
	return nil
}

func (f *folder) add(piece fields) error {
	words, err := f.text.add(piece["content"])
	if err != nil {
		return err
	}
	refusal, err := f.text.add(piece["refusal"])
	if err != nil {
		return err
	}
	f.refused = f.refused || refusal != ""
	if words += refusal; f.quiet {
		return nil
	}
	thought, err := f.reasoning.add(piece["reasoning_content"])
	if err == nil && thought == "" {
		thought, err = f.reasoning.add(piece["reasoning"]) // its name at some endpoints
	}
	if err != nil {
		return err
	}
	f.reporter.thought(thought)
	f.reporter.text(words)
	return nil
}

// answer returns the whole. It reports what was held back of the text.
func (f *folder) answer() (*Answer, error) {
	if !f.began {
		return nil, errNoAnswer
	}
	words, err := f.text.rest()
	if err != nil {
		return nil, err
	}
	if !f.quiet {
		f.reporter.rest(words)
	}
	a := &Answer{Text: f.text.whole.String(), Finish: f.finish, Refused: f.refused,
		Input: count(f.usage.Prompt), Output: count(f.usage.Completion), CostUSD: f.usage.dollars()}
	a.Calls, a.Kept = f.finishCalls()
	return a, nil
}

// partial is what there is of an answer that broke off with err; nil where nothing was said.
func (f *folder) partial(err error) (*Answer, error) {
	if f.text.whole.Len() == 0 {
		return nil, err
	}
	a, _ := f.answer()
	return a, err
}
