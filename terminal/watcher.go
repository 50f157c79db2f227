package terminal

import (
	"slices"
	"strings"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/room"
)

// The styles of a screen with colours.
const (
	dim   = "\x1b[2m"
	red   = "\x1b[31m"
	bold  = "\x1b[1;36m"
	reset = "\x1b[0m"
)

// watcher turns the events of a turn into what a person reads: words that are whole, and
// what is being done meanwhile. It holds no terminal.
type watcher struct {
	colours bool
	doing   string   // what the program itself is at, such as waiting; empty when it is nothing
	members []worker // who is being asked, in the order in which they were
	lead    worker
	said    string // the lead's last whole words of this turn
}

// worker is a voice at work.
type worker struct {
	who     string
	doing   string // "@proto is working"; empty when nothing is known
	written string // the tail of the words under way, cleaned
}

// now is what the turn is at: what is done, and whose words are under way. Of several members
// that write, the words of the first are shown: they are recorded first.
func (w *watcher) now() status {
	s := status{busy: true, doing: w.doing}
	for _, m := range w.members {
		s.doing += " · " + m.doing
		if s.written == "" && m.written != "" {
			s.who, s.written = m.who, m.written
		}
	}
	if len(w.members) == 0 {
		s.who, s.written = w.lead.who, w.lead.written
		s.doing += " · " + w.lead.doing
	}
	s.doing = strings.Trim(s.doing, " ·")
	return s
}

// worker returns the voice of that name, which is the lead's unless a member of the name is at work.
func (w *watcher) worker(who string) *worker {
	for i := range w.members {
		if w.members[i].who == who {
			return &w.members[i]
		}
	}
	w.lead.who = who
	return &w.lead
}

// maxWritten bounds the words under way that are kept, in bytes: a screen shows its end.
const maxWritten = 8 << 10

func (w *watcher) style(code, text string) string {
	if !w.colours || text == "" {
		return text
	}
	return code + text + reset
}

// begin forgets the turn before.
func (w *watcher) begin() { *w = watcher{colours: w.colours} }

// ofLead reports whether e is the lead's own progress.
func ofLead(e langrooms.Event) bool { return e.Type == langrooms.EventProgress && e.Exchange == "" }

// event takes one event. It returns what has been said whole, "" for nothing.
func (w *watcher) event(e langrooms.Event) (said string) {
	who := "the lead"
	if e.Member != "" && !ofLead(e) {
		who = "@" + e.Member
	}
	switch e.Type {
	case langrooms.EventDispatchStarted:
		w.doing, w.lead = "", worker{}
		w.members = append(w.members, worker{who: who, doing: who + " is working"})
		if e.Text != "" {
			return w.bubble(langrooms.Assistant+" → "+e.Member, e.Text)
		}
	case langrooms.EventProgress:
		w.doing = ""
		w.worker(who).progress(e.Progress)
	case langrooms.EventToolCall:
		w.doing, w.lead = "", worker{doing: "the lead calls " + e.Text}
	case langrooms.EventLeadText:
		w.lead.written, w.said = "", e.Text
		return Clean(e.Text)
	case langrooms.EventDispatchEnded:
		w.members = slices.DeleteFunc(w.members, func(m worker) bool { return m.who == who })
		return w.outcome(e.Outcome)
	case langrooms.EventMessage:
		if e.Message != nil {
			return w.message(*e.Message)
		}
	}
	return ""
}

func (w *watcher) outcome(o *langrooms.Outcome) string {
	switch {
	case o == nil:
	case o.Reply != "":
		said := w.bubble(o.Author, o.Reply)
		if len(o.Files) > 0 {
			said += "\n" + w.style(dim, Clean("with "+strings.Join(o.Files, ", ")+"; /save lists and saves files"))
		}
		return said
	case o.Error != "":
		text, _ := room.Compose([]string{o.Author}, []langrooms.Outcome{*o}, langrooms.Notes{})
		return w.style(red, Clean(text))
	}
	return ""
}

func (w *watcher) bubble(author, text string) string {
	return w.style(bold, "@"+Clean(author)) + " — " + Clean(text)
}

// message is one that landed outside of a turn.
func (w *watcher) message(m langrooms.Message) string {
	if m.Stamp == nil {
		return Clean(m.Text())
	}
	return w.bubble(m.Stamp.From, m.Text())
}

// overheard is a message of a turn that is not ours.
func (w *watcher) overheard(m langrooms.Message) string {
	who := map[langrooms.Role]string{langrooms.RoleHuman: langrooms.Operator, langrooms.RoleAI: langrooms.Assistant}[m.Role]
	if m.Stamp != nil {
		who = m.Stamp.From
	}
	if who == "" {
		who = string(m.Role)
	}
	if m.Stamp != nil && len(m.Stamp.To) > 0 {
		who += " → @" + strings.Join(m.Stamp.To, " @")
	}
	return w.style(dim, "elsewhere, "+Clean(who)) + " — " + Clean(m.Text())
}

func (w *worker) progress(p *langrooms.Progress) {
	if p == nil {
		return
	}
	text := strings.Join(strings.Fields(Clean(p.Text)), " ")
	switch p.Kind {
	case langrooms.ProgressText:
		w.written += Clean(p.Text)
		if over := len(w.written) - maxWritten; over > 0 {
			w.written = strings.ToValidUTF8(w.written[over:], "")
		}
		w.doing = w.who + " is writing"
	case langrooms.ProgressTool:
		w.doing = strings.TrimSpace(w.who + " uses " + text + " " + Clean(p.State))
	case langrooms.ProgressThought:
		w.doing = w.who + " is thinking"
	default:
		if what := strings.TrimSpace(text + " " + Clean(p.State)); what != "" {
			w.doing = w.who + ": " + what
		}
	}
}

// conclude returns what of a turn's result has not been said yet.
func (w *watcher) conclude(r langrooms.Result) string {
	text := r.Text
	if len(r.Outcomes) > 0 {
		text = r.Aside
	} else if w.said != "" && strings.HasPrefix(text, w.said) {
		text = strings.TrimSpace(strings.TrimPrefix(text, w.said))
	}
	w.doing, w.members, w.lead = "", nil, worker{}
	return Clean(text)
}
