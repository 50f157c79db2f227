package exchange

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/room"
	"github.com/langrooms/langrooms/thread"
)

// Question is one message to one member.
type Question struct {
	// Exchange is the id that the address and all answers to it share.
	Exchange string
	// Round is 1-based.
	Round int
	// From is who speaks; a frame may show it.
	From room.Speaker
	// Member is a roster name.
	Member  string
	Message string
	// Files are parts of the message beside its text: images and files for a member that takes
	// them. Other parts are no files.
	Files []langrooms.Part
	// Frame writes the prompt; nil means room.Prompt.
	Frame room.Frame
	// MayPass offers the member to pass: words that say so, and none, are then a silent
	// answer.
	MayPass bool
	// Literal, in a question that may be passed, makes no offer and takes a bare pass for an
	// answer: the message itself speaks of passing; see room.Run.About.
	Literal bool
	// Incognito keeps the content out of logs, traces, exports and summaries.
	Incognito bool
	// Timeout is a hard bound for the dispatch; 0 means the delegate's own.
	Timeout time.Duration
	// Resume is the id of a task at the member to go on with. The message is then sent as
	// it is, without a window and without a conversation key: it goes straight to that task.
	Resume string
}

// Answer is what asking a member came to.
type Answer struct {
	Outcome langrooms.Outcome
	// Record is what the answer leaves on the thread, nil for one that leaves nothing. It
	// has no position yet: whoever stores it gives it one.
	Record *langrooms.Message
	// Seen is the position up to which the member has been shown the thread.
	Seen int64
	// Late is set when the member may still be working on its answer. [Record] hands it to
	// Room.Collect.
	Late *delegate.Handle

	thread, exchange string
	id               string // of the record, if there will be one
}

// Ask asks one member and judges its answer. It reads the thread at v and needs no hold:
// others may write there meanwhile, and several members may be asked side by side. Nothing
// is stored; that is the caller's, such as by [Record].
//
// A member's failure is an outcome. When ctx ends the member is told to stop, and that is an
// outcome too. The error is ErrNoMember, or that the thread could not be read.
func Ask(ctx context.Context, r Room, v thread.View, q Question) (Answer, error) {
	p, err := prepare(ctx, r, v, q)
	if err != nil {
		return Answer{}, err
	}
	ctx, done := p.start(ctx)
	defer done()
	return p.ask(ctx), nil
}

// asking is a question on its way to its member.
type asking struct {
	Question
	room   Room
	view   thread.View
	to     delegate.Delegate
	window room.Window
	answer Answer

	mu      sync.Mutex
	written strings.Builder // the words that the member has shown while it works
}

// maxWritten bounds the words under way that are kept, in bytes.
const maxWritten = 1 << 20

// prepare reads the member's window, unless ctx has ended.
func prepare(ctx context.Context, r Room, v thread.View, q Question) (*asking, error) {
	d, ok := r.Roster.Get(q.Member)
	if !ok {
		return nil, fmt.Errorf("%w: @%s", ErrNoMember, q.Member)
	}
	window, err := q.window(ctx, r, v, d, false)
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	a := Answer{thread: v.Thread, exchange: q.Exchange, id: langrooms.NewID(), Seen: v.Next, Outcome: langrooms.Outcome{
		Author: q.Member, Round: q.Round}}
	if q.Resume != "" {
		a.Seen = 0 // who resumes a task is shown nothing
	}
	return &asking{Question: q, room: r, view: v, to: d, window: window, answer: a}, nil
}

// start tells of the dispatch. The member can be stopped from now on: the context that it returns
// then ends. done must be called.
func (p *asking) start(ctx context.Context) (asked context.Context, done func()) {
	asked, done = delegate.Steered(ctx, p.Member)
	p.answer.Outcome.Started = time.Now().UTC()
	e := langrooms.Event{Type: langrooms.EventDispatchStarted}
	if p.From.Kind == room.SpeakerLead {
		e.Text = p.Message
	}
	p.emit(e)
	return asked, done
}

// ask dispatches the question and judges the answer.
func (p *asking) ask(ctx context.Context) Answer {
	reply, err := p.dispatch(delegate.Through(ctx, p.room.Self))
	o := &p.answer.Outcome
	o.CaughtUp, o.Truncated, o.Compacted = len(p.window.Lines), p.window.Truncated, p.window.Compacted
	o.Duration = time.Since(o.Started)
	if _, reasoning := room.CutReasoning(reply.Text); err == nil && reasoning != "" {
		p.progress(langrooms.Progress{Kind: langrooms.ProgressThought, Text: reasoning})
	}
	reply.Usage = reply.Usage.Plausible().Priced(p.room.price(p.Member))
	p.judge(ctx, reply, err)
	return p.answer
}

func (p *asking) progress(of langrooms.Progress) {
	if of.Kind == langrooms.ProgressText {
		p.mu.Lock()
		if p.written.Len() < maxWritten {
			p.written.WriteString(of.Text)
		}
		p.mu.Unlock()
	}
	p.emit(langrooms.Event{Type: langrooms.EventProgress, Progress: &of})
}

func (p *asking) emit(e langrooms.Event) {
	e.Member, e.Round, e.MessageID = p.Member, p.Round, p.answer.id
	p.room.emit(p.view.Thread, p.Exchange, e)
}

// windowSlack is how many entries more than the window's limit one page holds: the
// member's own messages, and one to tell whether something was left out.
const windowSlack = 8

// window reads what the member has not been shown, or, fromStart, does not know any more.
func (q *Question) window(ctx context.Context, r Room, v thread.View, d delegate.Delegate, fromStart bool) (room.Window, error) {
	if q.Resume != "" {
		return room.Window{}, nil
	}
	page := r.Limits.Clamp().Messages + windowSlack
	w, err := room.ReadWindow(v.NewestFirst(ctx, page), room.WindowQuery{
		Member: q.Member, Lead: r.Lead, Exchange: q.Exchange, Limits: r.Limits, Own: d.Info().OwnReplies, FromStart: fromStart})
	if err != nil {
		return room.Window{}, fmt.Errorf("reading the window of @%s on the thread %q: %w", q.Member, v.Thread, err)
	}
	return w, nil
}

// dispatch sends the question to the member, unless ctx has ended. The
// window is then the one that the member was shown.
func (p *asking) dispatch(ctx context.Context) (delegate.Reply, error) {
	if err := ctx.Err(); err != nil {
		return delegate.Reply{}, err
	}
	req := delegate.Request{Prompt: p.prompt(), Files: filesOf(p.Files), Timeout: p.Timeout, Permission: p.room.Permission, Progress: p.progress}
	switch {
	case p.Resume != "":
		req.ResumeTask, req.Prompt = p.Resume, p.Message
	case p.to.Info().Conversational:
		req.Conversation, req.Epoch = p.view.Thread, p.view.Epoch
		if p.window.Continues {
			req.Opening = func(ctx context.Context) (_ string, err error) {
				p.window, err = p.Question.window(ctx, p.room, p.view, p.to, true)
				return p.prompt(), err
			}
		}
	}
	reply, err := p.to.Ask(ctx, req)
	if p.room.Health != nil && (err == nil || ctx.Err() == nil) { // a stop is no failure of the delegate's
		p.room.Health.Note(p.to, err)
	}
	return reply, err
}

// prompt is what the member is sent, with the window that it is shown.
func (p *asking) prompt() string {
	frame := p.Frame
	if frame == nil {
		frame = room.Prompt
	}
	return frame(room.PromptInput{Member: p.Member, From: p.From, Message: p.Message, Window: p.window, MultiRound: p.MayPass, NoOffer: p.Literal})
}

// judge fills in the outcome and the record that it leaves on the thread.
func (p *asking) judge(ctx context.Context, reply delegate.Reply, err error) {
	q, a, v := &p.Question, &p.answer, p.view
	o := &a.Outcome
	stamp := langrooms.Stamp{From: o.Author, Exchange: q.Exchange, Round: o.Round, Incognito: q.Incognito, Seen: a.Seen}
	switch {
	case err != nil && ctx.Err() != nil:
		stop := langrooms.StopOf(ctx)
		o.Error, o.ErrorKind, o.StoppedBy = stop.Error(), stop.Kind, stop.By
		if words := p.words(); words != "" {
			o.Reply, o.Incomplete = room.Incomplete(words, o.Error), true
		}
	case err != nil:
		e := delegate.AsError(o.Author, err)
		o.Error, o.ErrorKind = e.Cause(), e.Kind
		if e.Working() {
			o.Task = e.Task
			a.Late = &delegate.Handle{Epoch: v.Epoch, Thread: v.Thread, Delegate: o.Author, Task: e.Task, Stamp: stamp, Silence: q.MayPass}
		}
	default:
		o.OK, o.Usage, o.Reply = true, reply.Usage, ReplyText(reply)
		o.NewConversation, o.Paused, o.Incomplete = reply.NewConversation, reply.Paused, reply.Incomplete != "" && o.Reply != ""
		if o.Silent = q.MayPass && !o.Paused && room.Silent(o.Reply) && !(q.Literal && o.Reply != ""); o.Silent {
			o.Reply = ""
		}
		if o.Reply == "" {
			return
		}
	}
	stamp.Incomplete = o.Incomplete
	var m langrooms.Message
	switch {
	case err != nil && o.Incomplete:
		stamp.ErrorKind, stamp.Seen = o.ErrorKind, 0 // its peer may not know what it was shown
		m = room.NewReply(stamp, o.Reply)
	case err != nil:
		m = room.NewFailure(stamp, o.ErrorKind, o.Error)
	default:
		if o.Paused {
			o.Task = reply.Task
			stamp.Task = o.Task
		}
		stamp.Usage = o.Usage
		m = room.NewReply(stamp, o.Reply)
		m.Parts = append(m.Parts, reply.Files...)
		for _, f := range reply.Files {
			o.Files = append(o.Files, room.FileLabel(f))
		}
	}
	m.ID = a.id
	a.Record = &m
}

// words are what the member had written when it was stopped, without reasoning, and without the
// beginning of a pass.
func (p *asking) words() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	words, _ := room.CutReasoning(strings.ToValidUTF8(p.written.String(), "\uFFFD"))
	if p.MayPass && room.MayBePass(words) {
		return ""
	}
	return words
}

// ReplyText is what is recorded of a reply: its words, without reasoning that a model wrote
// in front of them, and that they were cut short.
func ReplyText(r delegate.Reply) string {
	text, _ := room.CutReasoning(strings.ToValidUTF8(r.Text, "\uFFFD"))
	if text != "" && r.Incomplete != "" {
		text = room.Incomplete(text, delegate.OneLine(r.Incomplete, delegate.MaxCause))
	}
	return text
}
