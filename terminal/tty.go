package terminal

import (
	"context"
	"io"
	"os"
	"os/signal"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"
)

// tty is the terminal itself: how it takes keys, and how large it is.
type tty struct {
	in, out *os.File
	before  *term.State
}

// raw makes every key and paste come as it is.
func (t *tty) raw() error {
	state, err := term.MakeRaw(int(t.in.Fd()))
	if err != nil {
		return err
	}
	if t.before == nil {
		t.before = state
	}
	_, err = io.WriteString(t.out, ansi.SetModeBracketedPaste)
	return err
}

// restore leaves the terminal as it was.
func (t *tty) restore() {
	if t.before != nil {
		io.WriteString(t.out, ansi.ResetModeBracketedPaste) //nolint:errcheck // nothing better can be done
		term.Restore(int(t.in.Fd()), t.before)              //nolint:errcheck // nor here
	}
}

// size returns columns and rows; a terminal that does not know them says zero.
func (t *tty) size() (width, height int, err error) { return term.GetSize(int(t.out.Fd())) }

// sizes reports the terminal's size now and whenever it changes, until ctx ends.
func (t *tty) sizes(ctx context.Context, report func(width, height int)) {
	changes := make(chan os.Signal, 1)
	signal.Notify(changes, resized...)
	defer signal.Stop(changes)
	for {
		if w, h, err := t.size(); err == nil {
			report(w, h)
		}
		select {
		case <-changes:
		case <-ctx.Done():
			return
		}
	}
}
