package terminal

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/room"
)

// Printer writes answers, events and diagnostics, one at a time and each whole.
type Printer struct {
	mu      sync.Mutex
	out     io.Writer
	diag    io.Writer
	json    bool
	live    bool   // a person is watching: colours, bubbles and progress
	status  bool   // a status line is on the screen
	written []rune // the tail of an answer under way
	prompt  bool   // the operator is typing
	failed  error
}

// NewPrinter returns a printer of answers to out and diagnostics to diag. With json,
// everything goes to out as one JSON object per line.
func NewPrinter(out, diag io.Writer, json bool) *Printer {
	return &Printer{out: out, diag: diag, json: json}
}

// watchOn shows everything to a person on screen from now on.
func (p *Printer) watchOn(screen io.Writer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out, p.diag, p.live = screen, screen, true
}

// prompting says whether the prompt is on the screen, where a status line has no place.
func (p *Printer) prompting(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.prompt = on
}

// Err returns the first error of writing to out, or nil.
func (p *Printer) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
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
	p.clearStatus()
	fmt.Fprintln(p.diag, p.style(dim, Clean(text)))
}

// Event shows what happens while a turn runs.
func (p *Printer) Event(e langrooms.Event) {
	switch {
	case p.json:
		p.line(e)
	case e.Type == langrooms.EventMessage && e.Message != nil:
		p.text(bubble(e.Message.Stamp, e.Message.Text()))
	case p.live:
		p.watch(e)
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
	case p.live:
		p.conclude(r)
	case r.Text != "":
		p.text(r.Text)
	}
	if err != nil {
		p.Error(err)
	}
}

// Error says what went wrong on our side. With json it is part of the turn's last line,
// and is repeated here for people.
func (p *Printer) Error(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clearStatus()
	fmt.Fprintln(p.diag, p.style(red, "error: "+Clean(err.Error())))
}

func (p *Printer) text(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clearStatus()
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
	if err != nil && p.failed == nil {
		p.failed = err
	}
}

// The colours of a live screen.
const (
	dim   = "\x1b[2m"
	red   = "\x1b[31m"
	bold  = "\x1b[1;36m"
	reset = "\x1b[0m"
)

func (p *Printer) style(code, text string) string {
	if !p.live {
		return text
	}
	return code + text + reset
}

// watch shows a running turn to a person: a status line while a member works, its words
// as a bubble when they are there.
func (p *Printer) watch(e langrooms.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e.Type {
	case langrooms.EventDispatchStarted:
		p.written = nil
		p.setStatus("@" + e.Member + " is working")
	case langrooms.EventProgress:
		p.setStatus("@" + e.Member + " " + p.statusOf(e.Progress))
	case langrooms.EventToolCall:
		p.setStatus("the lead calls " + e.Text)
	case langrooms.EventDispatchEnded:
		p.clearStatus()
		if o := e.Outcome; o.Reply != "" {
			p.keep(fmt.Fprintf(p.out, "%s — %s\n\n", p.style(bold, "@"+Clean(o.Author)), Clean(o.Reply)))
		} else if o.Error != "" {
			text, _ := room.Compose([]string{o.Author}, []langrooms.Outcome{*o}, langrooms.Notes{})
			p.keep(fmt.Fprintf(p.out, "%s\n\n", p.style(red, Clean(text))))
		}
	}
}

// writtenTail is how many code points of an answer under way the status line shows.
const writtenTail = 56

func (p *Printer) statusOf(pr *langrooms.Progress) string {
	if pr == nil {
		return ""
	}
	text := strings.Join(strings.Fields(pr.Text), " ")
	switch pr.Kind {
	case langrooms.ProgressText:
		p.written = append(p.written, []rune(strings.NewReplacer("\r", "", "\n", " ").Replace(pr.Text))...)
		if over := len(p.written) - writtenTail; over > 0 {
			p.written = append([]rune("…"), p.written[over+1:]...)
		}
		return "writes: " + string(p.written)
	case langrooms.ProgressTool:
		return "uses " + text + " " + pr.State
	}
	return text + pr.State
}

// conclude shows what no bubble has shown.
func (p *Printer) conclude(r langrooms.Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clearStatus()
	text := r.Text
	if len(r.Outcomes) > 0 {
		text = r.Aside
	}
	if text != "" {
		p.keep(fmt.Fprintln(p.out, Clean(text)+"\n"))
	}
}

// statusWidth keeps a status line on one row of an ordinary terminal.
const statusWidth = 76

func (p *Printer) setStatus(text string) {
	if p.prompt {
		return
	}
	runes := []rune(strings.ReplaceAll(Clean(text), "\n", " "))
	if len(runes) > statusWidth {
		runes = append(runes[:statusWidth-1], '…')
	}
	fmt.Fprintf(p.out, "\r\x1b[K%s", p.style(dim, string(runes)))
	p.status = true
}

func (p *Printer) clearStatus() {
	if p.status {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.status = false
	}
}
