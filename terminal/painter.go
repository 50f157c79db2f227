package terminal

import (
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// painter writes the conversation and the rows at its bottom to a terminal. It knows where
// the bottom begins from what it has drawn itself and from nothing else, so that output of
// any length, and of any width up to the screen's, leaves the right screen.
type painter struct {
	w    io.Writer
	rows []string // the bottom as it is drawn
	x, y int      // the cursor in it
}

// The sequences of one frame. Terminals that do not know the first pair leave it out.
const (
	beginFrame = ansi.SetModeSynchronizedOutput + ansi.HideCursor
	endFrame   = ansi.SetModeAutoWrap + ansi.ShowCursor + ansi.ResetModeSynchronizedOutput
)

// paint writes rows of the conversation, which stay, and the bottom anew. Nothing is written
// when nothing has changed.
func (p *painter) paint(said []string, b bottom) error {
	if len(said) == 0 && slices.Equal(b.rows, p.rows) && b.x == p.x && b.y == p.y {
		return nil
	}
	var out strings.Builder
	out.WriteString(beginFrame + "\r")
	if p.y > 0 {
		out.WriteString(ansi.CursorUp(p.y))
	}
	out.WriteString(ansi.EraseScreenBelow)
	return p.finish(&out, said, b)
}

// anew clears the screen and writes it whole: after the terminal has broken its rows in its
// own way, nobody knows where they are.
func (p *painter) anew(said []string, b bottom) error {
	var out strings.Builder
	out.WriteString(beginFrame + ansi.EraseEntireScreen + ansi.CursorHomePosition)
	return p.finish(&out, said, b)
}

func (p *painter) finish(out *strings.Builder, said []string, b bottom) error {
	for _, row := range said {
		out.WriteString(row + "\r\n")
	}
	out.WriteString(ansi.ResetModeAutoWrap + strings.Join(b.rows, "\r\n"))
	if up := len(b.rows) - 1 - b.y; up > 0 {
		out.WriteString(ansi.CursorUp(up))
	}
	out.WriteString("\r")
	if b.x > 0 {
		out.WriteString(ansi.CursorForward(b.x))
	}
	out.WriteString(endFrame)
	p.rows, p.x, p.y = b.rows, b.x, b.y
	_, err := io.WriteString(p.w, out.String())
	return err
}
