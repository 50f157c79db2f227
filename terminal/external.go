package terminal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/langrooms/langrooms"
)

// editedMsg is what the person's own editor has left.
type editedMsg struct {
	text string
	err  error
}

// edit opens the text in $VISUAL, $EDITOR or vi.
func (s *screen) edit(text string) tea.Cmd {
	path, err := draftFile(text)
	if err != nil {
		return func() tea.Msg { return editedMsg{err: err} }
	}
	program := os.Getenv("VISUAL")
	if program == "" {
		program = os.Getenv("EDITOR")
	}
	if program == "" {
		program = "vi"
	}
	s.chat.editing.Store(true)
	// The variable may hold arguments, as a shell reads them.
	cmd := exec.Command("sh", "-c", program+` "$1"`, "sh", path)
	return tea.Exec(&onTerminal{cmd, s.tty}, func(err error) tea.Msg {
		defer os.Remove(path) //nolint:errcheck // it lies in the folder for what may go
		s.chat.editing.Store(false)
		if err != nil {
			return editedMsg{err: fmt.Errorf("%s: %w", program, err)}
		}
		text, err := readDraft(path)
		return editedMsg{text, err}
	})
}

// onTerminal runs a program that has the terminal to itself.
type onTerminal struct {
	*exec.Cmd
	tty *tty
}

// SetStdin, SetStdout and SetStderr implement tea.ExecCommand.
func (o *onTerminal) SetStdin(r io.Reader)  { o.Stdin = r }
func (o *onTerminal) SetStdout(w io.Writer) { o.Stdout = w }
func (o *onTerminal) SetStderr(w io.Writer) { o.Stderr = w }

// Run implements tea.ExecCommand.
func (o *onTerminal) Run() error {
	o.tty.restore()
	return errors.Join(o.Cmd.Run(), o.tty.raw())
}

// edited takes the text back.
func (s *screen) edited(msg editedMsg) {
	s.paper.rows, s.paper.y = nil, 0 // where they were the other program has written
	if msg.err != nil {
		s.ed.hint = Clean(msg.err.Error())
		return
	}
	s.ed.set(msg.text)
}

// draftFile makes a file that only the person can read.
func draftFile(text string) (string, error) {
	f, err := os.CreateTemp("", "message-*.md")
	if err != nil {
		return "", err
	}
	_, err = io.WriteString(f, text)
	return f.Name(), errors.Join(err, f.Close())
}

// readDraft reads such a file, without the line break that editors put at its end.
func readDraft(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxLine+1))
	if err != nil {
		return "", err
	}
	if len(data) > maxLine {
		return "", fmt.Errorf("%w: longer than %d bytes", langrooms.ErrText, maxLine)
	}
	return strings.TrimRight(strings.ToValidUTF8(string(data), "�"), "\n"), nil
}
