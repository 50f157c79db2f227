package terminal

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/langrooms/langrooms"
)

// Printer writes answers, events and diagnostics, one at a time and each whole.
type Printer struct {
	mu     sync.Mutex
	out    io.Writer
	diag   io.Writer
	json   bool
	busy   bool     // a turn is running
	person bool     // a person is watching: turns are shown while they run
	watch  watcher  // of the running turn
	doing  string   // what was said of it on a line of its own
	screen *display // nil when the output is no screen
	failed atomic.Pointer[error]
}

// display shows a conversation at a terminal. Its functions do not wait for the operator.
type display struct {
	print  func(text string)
	status func(s status)
}

// status is what a screen shows of a running turn.
type status struct {
	busy    bool
	doing   string
	who     string // whose words are under way, "" for nobody's
	written string // they
}

// NewPrinter returns a printer of answers to out and diagnostics to diag. With json,
// everything goes to out as one JSON object per line. The pieces of the lead's answer do
// not: the turn's last line has it whole.
func NewPrinter(out, diag io.Writer, json bool) *Printer {
	return &Printer{out: out, diag: diag, json: json}
}

// watched shows turns to a person from now on: on a screen, or as lines without one.
func (p *Printer) watched(screen *display, colours bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.person, p.screen = true, screen
	p.watch.colours = colours
}

// left takes the screen away; what follows is lines again.
func (p *Printer) left() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.screen = nil
}

// Err returns the first error of writing to out, or nil.
func (p *Printer) Err() error {
	if err := p.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// Notice tells the operator something of the program's own, such as a configuration that
// was not taken.
func (p *Printer) Notice(text string) {
	if p.json {
		p.line(langrooms.Event{Type: langrooms.EventNotice, Text: text})
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.put(p.diag, p.watch.style(dim, Clean(text)))
}

// Said shows a person a message that somebody else has put on the thread.
func (p *Printer) Said(m langrooms.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.person && !p.json {
		p.put(p.out, p.spaced(p.watch.overheard(m)))
	}
}

// Doing says what the running turn is at when no event tells, such as that it waits.
func (p *Printer) Doing(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.person && p.busy {
		p.watch.doing = Clean(text)
		p.showStatus()
	}
}

// echo shows a message that is taken as if it had been typed.
func (p *Printer) echo(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.put(p.out, echoed(text))
}

// echoed is a message as it stood behind the prompt.
func echoed(text string) string {
	return promptText + strings.ReplaceAll(Clean(text), "\n", "\n"+restText)
}

// put writes a block: on the screen when there is one, else to w.
func (p *Printer) put(w io.Writer, text string) {
	if p.screen != nil {
		p.screen.print(text)
		return
	}
	_, err := fmt.Fprintln(w, text)
	if w == p.out {
		p.keep(0, err)
	}
}

// Event shows what happens while a turn runs.
func (p *Printer) Event(e langrooms.Event) {
	switch {
	case p.json && ofLead(e):
	case p.json:
		p.line(e)
	case p.person:
		p.follow(e)
	case e.Type == langrooms.EventMessage && e.Message != nil:
		p.text(bubble(e.Message.Stamp, e.Message.Text()))
	}
}

// follow shows an event to a person.
func (p *Printer) follow(e langrooms.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if said := p.watch.event(e); said != "" {
		p.put(p.out, p.spaced(said))
	}
	p.showStatus()
}

// spaced ends a block with an empty row where a person reads a screen.
func (p *Printer) spaced(text string) string {
	if p.screen != nil {
		return text + "\n"
	}
	return text
}

// showStatus shows what the turn is at: on the screen, or as a line whenever it changes.
func (p *Printer) showStatus() {
	if !p.busy {
		return
	}
	if p.screen != nil {
		p.screen.status(p.watch.now())
		return
	}
	doing := p.watch.now().doing
	if doing != "" && doing != p.doing {
		p.put(p.diag, doing)
	}
	p.doing = doing
}

// begin says that a turn begins.
func (p *Printer) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watch.begin()
	p.busy, p.doing = true, ""
	if p.screen != nil {
		p.screen.status(status{busy: true})
	}
}

func bubble(s *langrooms.Stamp, text string) string {
	if s == nil {
		return text
	}
	return "**@" + s.From + "** — " + text
}

// done is the last line of a turn with --json.
type done struct {
	Type string `json:"type"`
	langrooms.Result
	Error string `json:"error,omitempty"`
}

// Done shows how a turn ended. An error is shown beside what the turn came to.
func (p *Printer) Done(r langrooms.Result, err error) {
	switch {
	case p.json:
		d := done{Type: "done", Result: r}
		if err != nil {
			d.Error = err.Error()
		}
		p.line(d)
	case p.person:
		p.conclude(r)
	case r.Text != "":
		p.text(r.Text)
	}
	if err != nil {
		p.Error(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy = false
	if p.screen != nil {
		p.screen.status(status{})
	}
}

// conclude shows a person what the events have not shown.
func (p *Printer) conclude(r langrooms.Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if text := p.watch.conclude(r); text != "" {
		p.put(p.out, p.spaced(text))
	}
}

// Error says what went wrong on our side. With json it is part of the turn's last line,
// and is repeated here for people.
func (p *Printer) Error(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.put(p.diag, p.watch.style(red, "error: "+Clean(err.Error())))
}

func (p *Printer) text(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keep(fmt.Fprintln(p.out, Clean(text)))
}

func (p *Printer) line(v any) {
	line, err := JSONLine(v)
	if err != nil {
		p.Error(fmt.Errorf("writing a JSON line: %w", err))
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keep(p.out.Write(line))
}

func (p *Printer) keep(_ int, err error) {
	if err != nil {
		p.failed.CompareAndSwap(nil, &err)
	}
}
