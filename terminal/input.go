package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/langrooms/langrooms"
)

// maxLine bounds a line of input in bytes: every message that the room takes fits.
const maxLine = 4*langrooms.MaxText + 2

// readLines reads plain input, a line a turn. The next line is read while a turn runs, but
// no further.
func (c *Chat) readLines(ctx context.Context) (<-chan line, func()) {
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
			reading.Store(false)
			if l.text == "" && l.err == nil && err != nil {
				return
			}
			l.done = func() {}
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

// converse reads from a terminal, with line editing, history and completion. The terminal is
// raw only while a line is read, so that an interrupt reaches a running turn as a signal.
func (c *Chat) converse(ctx context.Context, f *os.File) (<-chan line, func()) {
	screen := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{f, c.Printer.out}, "› ")
	screen.AutoCompleteCallback = c.complete
	c.Printer.watchOn(screen)
	c.Printer.Notice(c.greeting())
	lines := make(chan line)
	ctx, cancel := context.WithCancel(ctx)
	before, _ := term.GetState(int(f.Fd())) // f is a terminal
	go func() {
		defer close(lines)
		for ctx.Err() == nil {
			c.Printer.prompting(true)
			text, err := readRaw(f, screen)
			c.Printer.prompting(false)
			if err != nil {
				return
			}
			over := make(chan struct{})
			select {
			case lines <- line{text: text, err: cutShort(text), done: func() { close(over) }}:
				<-over
			case <-ctx.Done():
				return
			}
		}
	}()
	// A read from a terminal cannot be broken off. When the program ends by itself the
	// reader ends with it, and leaves the terminal to this.
	return lines, func() {
		cancel()
		if before != nil {
			term.Restore(int(f.Fd()), before) //nolint:errcheck // nothing better can be done
		}
	}
}

// maxTyped is how many characters the terminal's line editor takes; it drops what follows.
const maxTyped = 4096

// cutShort is the error of a line of which the editor has dropped the end.
func cutShort(text string) error {
	if utf8.RuneCountInString(text) < maxTyped {
		return nil
	}
	return fmt.Errorf("%w: a line typed here holds fewer than %d characters; a longer message can come from a file", langrooms.ErrText, maxTyped)
}

func readRaw(f *os.File, screen *term.Terminal) (string, error) {
	state, err := term.MakeRaw(int(f.Fd()))
	if err != nil {
		return "", err
	}
	defer term.Restore(int(f.Fd()), state) //nolint:errcheck // nothing better can be done
	if w, h, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
		screen.SetSize(w, h) //nolint:errcheck // it redraws an empty line
	}
	return screen.ReadLine()
}

// greeting says who can be addressed and how to leave.
func (c *Chat) greeting() string {
	text := "Tab completes a name · Ctrl-D ends"
	if c.Complete == nil {
		return text
	}
	if names := c.Complete("@"); len(names) > 0 {
		return "@" + strings.Join(names, " @") + " · " + text
	}
	return text
}

// complete turns the last token before the cursor into the next name when Tab is hit: the
// only match, or as much as all matches share.
func (c *Chat) complete(text string, pos int, key rune) (string, int, bool) {
	if key != '\t' || c.Complete == nil {
		return "", 0, false
	}
	names := c.Complete(text[:pos])
	if len(names) == 0 {
		return "", 0, false
	}
	start := strings.LastIndexFunc(text[:pos], unicode.IsSpace) + 1
	for !utf8.RuneStart(text[start]) { // the white space was longer than a byte
		start++
	}
	word := "@" + common(names)
	if len(word) < pos-start {
		return "", 0, false // the matches differ in case from what was typed
	}
	if len(names) == 1 {
		word += " "
	}
	return text[:start] + word + text[pos:], start + len(word), true
}

// common returns the longest prefix of all names, by whole characters.
func common(names []string) string {
	prefix := []rune(names[0])
	for _, name := range names[1:] {
		runes := []rune(name)
		n := 0
		for n < len(prefix) && n < len(runes) && prefix[n] == runes[n] {
			n++
		}
		prefix = prefix[:n]
	}
	return string(prefix)
}
