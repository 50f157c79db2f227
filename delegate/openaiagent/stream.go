package openaiagent

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/langrooms/langrooms/delegate"
)

// readStream folds a stream of server-sent events into one answer. Each event is one
// data line with a chunk; "[DONE]" or a finish reason ends the answer, and a stream that
// ends without either has broken off.
func readStream(in *bufio.Reader, r *reporter) (*answer, error) {
	f := folder{reporter: r}
	for {
		line, err := readLine(in)
		if err != nil && err != io.EOF {
			return nil, err
		}
		data, isData := bytes.CutPrefix(line, []byte("data:"))
		data = bytes.TrimSpace(data)
		switch {
		case isData && bytes.Equal(data, []byte("[DONE]")):
			return f.answer()
		case isData && len(data) > 0 && data[0] == '{':
			if err := f.event(data); err != nil {
				return nil, err
			}
		}
		if err == io.EOF {
			break
		}
	}
	switch {
	case f.finish != "":
		return f.answer()
	case !f.began:
		return nil, fmt.Errorf("%w: no event of a stream and no JSON object", errNotAnswer)
	}
	return nil, errBroken
}

// readLine reads up to a line break or the end. A longer line than an answer may be is
// errTooLong, a break of the connection errBroken.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		piece, err := in.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case len(line) > maxBody:
			return nil, errTooLong
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && err != io.EOF:
			return nil, fmt.Errorf("%w: %w", errBroken, err)
		}
		return line, err
	}
}

// folder puts an answer together from its pieces.
type folder struct {
	reporter *reporter
	// quiet reports no progress: the answer came whole.
	quiet     bool
	began     bool
	text      text
	reasoning text
	finish    string
	usage     usage
}

// event takes one chunk of a stream or a whole completion.
func (f *folder) event(data []byte) error {
	var c completion
	if err := json.Unmarshal(data, &c); err != nil {
		return fmt.Errorf("%w: %w", errUnreadable, delegate.DecodeCause(err))
	}
	if message, _, said := peerError(c.Error); said {
		return &peerFailure{message}
	}
	if c.Usage != nil {
		f.usage = *c.Usage
	}
	if len(c.Choices) == 0 {
		return nil
	}
	f.began = true
	choice := c.Choices[0]
	if choice.Finish != nil && *choice.Finish != "" {
		f.finish = *choice.Finish
	}
	for _, piece := range []*content{choice.Message, choice.Delta} {
		if piece == nil {
			continue
		}
		if err := f.add(piece); err != nil {
			return err
		}
	}
	return nil
}

func (f *folder) add(piece *content) error {
	words, err := f.text.add(piece.Content)
	if err != nil || f.quiet {
		return err
	}
	thought, err := f.reasoning.add(piece.Reasoning)
	if err != nil {
		return err
	}
	f.reporter.thought(thought)
	f.reporter.text(words)
	return nil
}

// answer returns the whole. It reports what was held back of the text.
func (f *folder) answer() (*answer, error) {
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
	return &answer{text: f.text.whole.String(), finish: f.finish, usage: f.usage}, nil
}
