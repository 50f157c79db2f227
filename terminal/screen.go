package terminal

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// converse is the conversation at a terminal: an editor at the bottom that always takes what
// is typed, the running turn above it, and everything else scrolling away over them.
func (c *Chat) converse(ctx context.Context, in, out *os.File) (<-chan line, func()) {
	colours := os.Getenv("NO_COLOR") == ""
	lines := make(chan line)
	ctx, cancel := context.WithCancel(ctx)
	ed := newEditor(openHistory(c.History))
	ed.complete = c.suggest
	s := &screen{chat: c, ctx: ctx, ed: ed, lines: lines, paper: painter{w: out}, look: watcher{colours: colours},
		tty: &tty{in: in, out: out}, width: 80, height: 24}
	// The library reads keys and pastes; what is written is the painter's.
	program := tea.NewProgram(s, tea.WithInput(in), tea.WithOutput(out), tea.WithoutSignalHandler(), tea.WithoutRenderer())
	s.send = program.Send
	if w, h, err := s.tty.size(); err == nil {
		s.resize(tea.WindowSizeMsg{Width: w, Height: h})
	}
	if err := s.tty.raw(); err != nil {
		c.Printer.Error(fmt.Errorf("the terminal: %w", err))
	}
	var beside sync.WaitGroup
	beside.Go(func() { s.tty.sizes(ctx, func(w, h int) { s.send(tea.WindowSizeMsg{Width: w, Height: h}) }) })
	beside.Go(func() {
		if _, err := program.Run(); err != nil {
			c.Printer.left()
			c.Printer.Error(fmt.Errorf("the terminal: %w", err))
			c.leave()
		}
	})
	c.Printer.watched(&display{
		print:  func(text string) { program.Send(printMsg(text)) },
		status: func(st status) { program.Send(st) },
	}, colours)
	c.open()
	return lines, func() {
		cancel()
		program.Send(quitMsg{})
		beside.Wait()
		s.tty.restore()
		c.Printer.left()
	}
}

// What the screen is told, beside the terminal's own messages and status.
type (
	printMsg     string   // a block to print above
	overMsg      struct{} // the line that was handed over is done with
	tickMsg      struct{}
	typedMsg     struct{} // what was typed is to be shown
	quitMsg      struct{}
	draftMsg     string
	performedMsg Reply
)

// screen is the state of the conversation's bottom rows.
type screen struct {
	chat *Chat
	ctx  context.Context
	send func(tea.Msg)
	look watcher // for its styles

	ed            *editor
	typed         string // and not in the editor yet
	width, height int
	sized         bool
	st            status
	since         time.Time
	now           time.Time
	ticking       bool

	lines  chan<- line
	queue  []string // what waits for its turn
	handed bool     // a line is with the chat
	ending bool     // no more is taken; closed says that the chat knows
	closed bool

	paper    painter
	tty      *tty
	out      []string // rows that are to be printed
	shown    []string // the last blocks that were, for a screen of another width
	broken   bool     // the screen is to be written whole
	quitting bool
}

// Init implements tea.Model.
func (s *screen) Init() tea.Cmd { return nil }

// Update implements tea.Model. What has changed is painted at once.
func (s *screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if k, ok := msg.(tea.KeyPressMsg); ok && s.ed.types(k) {
		return s, s.gather(k.Text)
	}
	s.settle()
	cmd := s.take(msg)
	if s.quitting {
		cmd = tea.Quit
	}
	if err := s.paint(); err != nil { // nobody sees anything any more
		s.chat.Printer.failed.Store(&err)
		s.chat.leave()
	}
	return s, cmd
}

// typing is how long characters are gathered before they are shown: a terminal without
// bracketed paste sends a paste as thousands of keys.
const typing = 5 * time.Millisecond

func (s *screen) gather(text string) tea.Cmd {
	s.typed += text
	if len(s.typed) > len(text) {
		return nil
	}
	return tea.Tick(typing, func(time.Time) tea.Msg { return typedMsg{} })
}

// settle puts what was gathered into the editor.
func (s *screen) settle() {
	if s.typed != "" {
		s.ed.enterText(s.typed)
		s.typed = ""
	}
}

// View implements tea.Model; the painter has the rows.
func (s *screen) View() tea.View { return tea.View{} }

func (s *screen) take(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.resize(msg)
	case tea.PasteMsg:
		s.ed.enterText(msg.Content)
	case tea.KeyPressMsg:
		return s.press(msg)
	case printMsg:
		s.put(string(msg))
	case status:
		return s.setStatus(msg)
	case tickMsg:
		s.now, s.ticking = time.Now(), false
		return s.tick()
	case overMsg:
		s.handed = false
		return s.feed()
	case draftMsg:
		s.ed.set(string(msg))
	case performedMsg:
		if msg.Draft != "" {
			s.ed.set(msg.Draft)
		}
		if msg.Send != "" {
			s.queue = append([]string{msg.Send}, s.queue...)
		}
		if msg.stop {
			s.chat.interrupt()
		}
		return s.feed()
	case editedMsg:
		s.edited(msg)
	case quitMsg:
		s.quitting = true
	}
	return nil
}

func (s *screen) press(k tea.KeyPressMsg) tea.Cmd {
	switch act, text := s.ed.press(k); act {
	case actSubmit:
		return s.submit(text)
	case actInterrupt:
		if !s.st.busy && !s.handed {
			return s.end()
		}
		s.takeBack()
		s.chat.interrupt()
	case actEnd:
		if s.st.busy || s.handed {
			s.ed.hint = "The chat ends when this turn is over."
		}
		return s.end()
	case actEdit:
		if s.st.busy || s.handed {
			s.ed.hint = "The editor opens when no turn is running."
			return nil
		}
		return s.edit(text)
	}
	return nil
}

// submit queues what was typed; a command that may run beside a turn runs at once.
func (s *screen) submit(text string) tea.Cmd {
	if s.ending {
		return nil
	}
	if name, args, ok := slash(text); ok {
		if cmd, known := s.chat.command(name); !known || cmd.Beside {
			s.put(echoed(text))
			return func() tea.Msg {
				return performedMsg(s.chat.perform(s.ctx, name, args))
			}
		}
	}
	s.queue = append(s.queue, text)
	return s.feed()
}

// takeBack puts what is queued before the cursor again: an interrupt is no time to send it.
func (s *screen) takeBack() {
	if len(s.queue) > 0 {
		s.ed.set(strings.Join(s.queue, "\n"))
		s.queue = nil
	}
}

// end takes no more input; the chat is told when what is queued is done.
func (s *screen) end() tea.Cmd {
	s.ending = true
	return s.feed()
}

// feed hands the next line over when the chat is free.
func (s *screen) feed() tea.Cmd {
	switch {
	case s.handed || s.st.busy || s.closed:
		return nil
	case len(s.queue) == 0:
		if s.ending {
			s.closed = true
			close(s.lines)
		}
		return nil
	}
	text := s.queue[0]
	s.queue, s.handed = s.queue[1:], true
	s.put(echoed(text))
	l := line{text: text, typed: true, done: func() { s.send(overMsg{}) }, draft: func(text string) { s.send(draftMsg(text)) }}
	return func() tea.Msg {
		select {
		case s.lines <- l:
		case <-s.ctx.Done():
		}
		return nil
	}
}

func (s *screen) setStatus(st status) tea.Cmd {
	if st.busy && !s.st.busy {
		s.since = time.Now()
		s.now = s.since
	}
	s.st = st
	if !st.busy {
		return s.feed()
	}
	return s.tick()
}

// tick counts the seconds of a turn.
func (s *screen) tick() tea.Cmd {
	if s.ticking || !s.st.busy {
		return nil
	}
	s.ticking = true
	return tea.Tick(time.Second, func(time.Time) tea.Msg { return tickMsg{} })
}

// keptBlocks is how many blocks can be shown anew.
const keptBlocks = 64

// put takes a block that is to be printed.
func (s *screen) put(text string) {
	s.out = append(s.out, rows(text, s.width-1)...)
	if s.shown = append(s.shown, text); len(s.shown) > keptBlocks {
		s.shown = s.shown[1:]
	}
}

// resize takes a new size. A terminal breaks the rows that it shows in its own way when its
// width changes: the end of what stood there is then written for the new one.
func (s *screen) resize(msg tea.WindowSizeMsg) {
	if msg.Width <= 0 || msg.Height <= 0 { // the library's own, which has no renderer
		return
	}
	changed := s.sized && msg.Width != s.width
	s.width, s.height, s.sized = msg.Width, msg.Height, true
	s.ed.resize(msg.Width)
	if !changed {
		return
	}
	s.out = nil
	for _, block := range s.shown {
		s.out = append(s.out, rows(block, s.width-1)...)
	}
	s.out = s.out[max(0, len(s.out)-max(s.height-len(s.below().rows), 0)):]
	s.broken = true
}

// paint brings the screen up to what it should be.
func (s *screen) paint() error {
	var b bottom
	if !s.quitting {
		b = s.below()
	}
	said, broken := s.out, s.broken
	s.out, s.broken = nil, false
	if broken {
		return s.paper.anew(said, b)
	}
	return s.paper.paint(said, b)
}
