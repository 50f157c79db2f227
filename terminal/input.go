package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"github.com/langrooms/langrooms"
)

// maxLine bounds a line of input in bytes: every message that the room takes fits.
const maxLine = 4*langrooms.MaxText + 2

// readLines reads plain input, a line a turn. The next line is read while a turn runs, but
// no further. A line that a person has typed goes on behind a backslash at its end.
func (c *Chat) readLines(ctx context.Context, typed bool) (<-chan line, func()) {
	lines, reading := make(chan line), new(atomic.Bool)
	over := make(chan struct{})
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer close(over)
		defer close(lines)
		r := bufio.NewReader(c.In)
		for {
			reading.Store(true)
			if ctx.Err() != nil { // looked at last, so that stop sees one or the other
				return
			}
			l, err := readLine(r)
			for typed && err == nil && l.err == nil && strings.HasSuffix(l.text, `\`) {
				var more line
				more, err = readLine(r)
				l.text, l.err = strings.TrimSuffix(l.text, `\`)+"\n"+more.text, more.err
			}
			reading.Store(false)
			if l.text == "" && l.err == nil && err != nil {
				return
			}
			l.typed, l.done = typed, func() {}
			select {
			case lines <- l:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return lines, func() {
		cancel()
		if !reading.Load() {
			<-over
		}
	}
}

// readLine returns the next line without its end. A line that is too long is skipped whole
// and comes as an error of its own; err is the end of the input.
func readLine(r *bufio.Reader) (l line, err error) {
	var b strings.Builder
	for {
		piece, more, err := r.ReadLine()
		if b.Len()+len(piece) <= maxLine {
			b.Write(piece)
		} else {
			l.err = fmt.Errorf("%w: a line longer than %d bytes", langrooms.ErrText, maxLine)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			l.err = fmt.Errorf("reading the input: %w", err)
		}
		if !more || err != nil {
			l.text = b.String()
			return l, err
		}
	}
}

// greeting says who can be addressed and how to leave.
func (c *Chat) greeting() string {
	text := "Tab completes a name · /help · Ctrl-D ends"
	if c.Complete == nil {
		return text
	}
	if names := c.Complete("@"); len(names) > 0 {
		return "@" + strings.Join(names, " @") + " · " + text
	}
	return text
}
