package consent

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
)

var (
	// ErrUnknown: there is no such question on the thread, or its turn has ended.
	ErrUnknown = errors.New("no such question is open")
	// ErrAnswered: somebody was first.
	ErrAnswered = errors.New("the question has been answered")
	// ErrChoice: the answer is none of the question's choices.
	ErrChoice = errors.New("the answer is none of the choices")
)

// Open is a question that waits for its answer.
type Open struct {
	langrooms.Question
	Thread string
	Member string
	Since  time.Time
}

// Desk holds open questions. The zero value is ready.
type Desk struct {
	mu   sync.Mutex
	open map[string]*asked
	done map[string]*asked // answered ones of turns that have not ended
}

type asked struct {
	Open
	given  langrooms.Question      // once it is answered
	answer chan langrooms.Question // takes one
}

type turn struct {
	desk   *Desk
	thread string
	sink   langrooms.Sink

	mu  sync.Mutex
	ids []string
}

type turnKey struct{}

// InTurn returns a context for a turn in which people may be asked: [Desk.Permission] finds it
// there. sink is told of questions and answers and must be safe for concurrent use. end is to
// be called when the turn is over.
func (d *Desk) InTurn(ctx context.Context, thread string, sink langrooms.Sink) (_ context.Context, end func()) {
	t := &turn{desk: d, thread: thread, sink: sink}
	return context.WithValue(ctx, turnKey{}, t), func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		t.mu.Lock()
		defer t.mu.Unlock()
		for _, id := range t.ids {
			delete(d.done, id)
		}
	}
}

// Permission asks whoever looks at the thread of the turn that ctx belongs to, and waits for
// the first answer or for the end of ctx, which is [delegate.PermissionNo]. Outside of such a
// turn it is [delegate.PermissionNobody]. It is a [delegate.Request.Permission].
func (d *Desk) Permission(ctx context.Context, r delegate.PermissionRequest) delegate.PermissionAnswer {
	t, ok := ctx.Value(turnKey{}).(*turn)
	if !ok || t.desk != d {
		return delegate.PermissionNobody
	}
	a := &asked{answer: make(chan langrooms.Question, 1), Open: Open{Thread: t.thread, Member: r.Delegate, Since: time.Now().UTC(),
		Question: langrooms.Question{ID: langrooms.NewID(), Title: r.Title, Kind: cmp.Or(r.Kind, "other"), Choices: choices(r)}}}
	d.enter(t, a)
	t.sink.Emit(langrooms.Event{Type: langrooms.EventQuestion, Thread: t.thread, Member: r.Delegate, Question: &a.Question})
	var given langrooms.Question
	select {
	case given = <-a.answer:
	case <-ctx.Done():
		if given = d.leave(a); given.Answer == "" {
			given = langrooms.Question{ID: a.ID, Answer: string(ChoiceNone)}
		}
	}
	t.sink.Emit(langrooms.Event{Type: langrooms.EventAnswered, Thread: t.thread, Member: r.Delegate, Question: &given})
	switch Choice(given.Answer) {
	case ChoiceOnce:
		return delegate.PermissionOnce
	case ChoiceConversation:
		return delegate.PermissionConversation
	}
	return delegate.PermissionNo
}

// Choice is an answer.
type Choice string

// The answers.
const (
	ChoiceOnce         Choice = "once"         // this one call
	ChoiceConversation Choice = "conversation" // this call and later ones like it in this conversation
	ChoiceNo           Choice = "no"
	ChoiceNone         Choice = "none" // nobody answered before the member gave up; not for a person
)

// choices are what a person may answer: what the member offers of our own words.
func choices(r delegate.PermissionRequest) []string {
	all := []string{string(ChoiceOnce)}
	if r.Title != "" {
		all = append(all, string(ChoiceConversation)) // without a title one call cannot be told from another
	}
	return append(all, string(ChoiceNo))
}

// List returns the open questions of a thread, oldest first.
func (d *Desk) List(thread string) []Open {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := []Open{}
	for _, a := range d.open {
		if a.Thread == thread {
			list = append(list, a.Open)
		}
	}
	slices.SortFunc(list, func(a, b Open) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID)) })
	return list
}

// Answer answers a question; by says who does. Where somebody was first it is [ErrAnswered],
// with what was answered.
func (d *Desk) Answer(thread, id string, answer Choice, by string) (langrooms.Question, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if before, ok := d.done[id]; ok && before.Thread == thread {
		return before.given, ErrAnswered
	}
	a, ok := d.open[id]
	if !ok || a.Thread != thread {
		return langrooms.Question{}, ErrUnknown
	}
	if !slices.Contains(a.Choices, string(answer)) {
		return langrooms.Question{}, ErrChoice
	}
	a.given = langrooms.Question{ID: id, Answer: string(answer), By: by}
	delete(d.open, id)
	d.done[id] = a
	a.answer <- a.given
	return a.given, nil
}

func (d *Desk) enter(t *turn, a *asked) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open == nil {
		d.open, d.done = map[string]*asked{}, map[string]*asked{}
	}
	d.open[a.ID] = a
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ids = append(t.ids, a.ID)
}

// leave takes a question back; an answer that has come meanwhile stands.
func (d *Desk) leave(a *asked) langrooms.Question {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.open, a.ID)
	select {
	case given := <-a.answer:
		return given
	default:
		return langrooms.Question{}
	}
}
