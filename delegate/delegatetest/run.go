package delegatetest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
)

// run is one rule being checked.
type run struct {
	testing.TB
	Harness
	rule    rule
	control *control
	// open ends with the rule, through end.
	open context.Context
	end  context.CancelFunc

	mu    sync.Mutex
	asks  []*asking
	broke int // how often broken was called
}

// A broken rule is told in few words, however often and with however much it is broken.
const (
	maxBroken     = 5
	maxBrokenText = 1500 // bytes of one report
)

// broken reports that the rule does not hold.
func (r *run) broken(format string, args ...any) {
	r.Helper()
	r.mu.Lock()
	r.broke++
	n := r.broke
	r.mu.Unlock()
	switch {
	case n <= maxBroken:
		r.Errorf("rule %s (%s): %s", r.rule.name, r.rule.want, middle(fmt.Sprintf(format, args...)))
	case n == maxBroken+1:
		r.Errorf("rule %s (%s): more of it is not shown", r.rule.name, r.rule.want)
	}
}

// middle leaves out the middle of a text that is too long to be shown.
func middle(text string) string {
	if len(text) <= maxBrokenText {
		return text
	}
	head, tail := text[:maxBrokenText/2], text[len(text)-maxBrokenText/2:]
	return strings.ToValidUTF8(fmt.Sprintf("%s … %d bytes left out … %s", head, len(text)-maxBrokenText, tail), "\uFFFD")
}

// start begins a peer for s. The delegate is closed with the rule.
func (r *run) start(s Script) delegate.Delegate { return r.startWith(s, secret) }

func (r *run) startWith(s Script, credential string) delegate.Delegate {
	s.Control, s.Secret = r.control.listener.Addr().String(), credential
	r.control.refuse(s)
	return r.own(r.Start(r, s))
}

func (r *run) own(d delegate.Delegate) delegate.Delegate {
	r.Cleanup(r.checkReports) // after Close, because the last registered runs first
	// Start's own cleanup, which is still to come, may wait for the peer: nothing is left
	// that could hold it, also when Close did nothing.
	r.Cleanup(r.control.close)
	r.Cleanup(r.end)
	r.Cleanup(func() { r.await("Close", func() { d.Close() }) })
	return d
}

// checkReports reports what was wrong with the progress of all Asks.
func (r *run) checkReports() {
	r.mu.Lock()
	asks := slices.Clone(r.asks)
	r.mu.Unlock()
	for _, a := range asks {
		for _, fault := range a.progress.faults() {
			r.broken("%s", fault)
		}
	}
	r.asks = nil
}

// await runs f and reports when it does not return in time.
func (r *run) await(what string, f func()) {
	r.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	if !r.within(done) {
		r.broken("%s did not return within %v", what, r.patience)
	}
}

// within reports whether done closes in time.
func (r *run) within(done <-chan struct{}) bool {
	limit := time.NewTimer(r.patience)
	defer limit.Stop()
	select {
	case <-done:
		return true
	case <-limit.C:
		return false
	}
}

// message waits for the message of a at the peer. The peer tells of it before it answers,
// so none is to come once Ask has returned.
func (r *run) message(a *asking) (arrival, bool) {
	r.Helper()
	limit := time.NewTimer(r.patience)
	defer limit.Stop()
	select {
	case m := <-r.control.arrived:
		return m, true
	case <-a.done:
	case <-limit.C:
	}
	select {
	case m := <-r.control.arrived:
		return m, true
	default:
		r.broken("the peer has received no message: it must play the script (Script.Play)%s", a.outcome())
		return arrival{}, false
	}
}

// stops checks that the peer's work on m ends.
func (r *run) stops(m arrival) {
	r.Helper()
	if !r.within(m.gone) {
		r.broken("the peer still worked after %v", r.patience)
	}
}

// untouched reports a message that reached the peer although none should have.
func (r *run) untouched(by string) {
	r.Helper()
	select {
	case m := <-r.control.arrived:
		r.broken("%s sent the peer a message: %q", by, m.Prompt)
	default:
	}
}

// maxShown is how many characters of a reply a failure shows.
const maxShown = 200

// asking is one Ask under way or over.
type asking struct {
	delegate delegate.Delegate
	reply    delegate.Reply
	err      error
	progress *progress
	done     chan struct{}
}

// outcome says what Ask returned, for a failure that it may explain.
func (a *asking) outcome() string {
	select {
	case <-a.done:
		return fmt.Sprintf("; Ask returned %q, %v", delegate.OneLine(a.reply.Text, maxShown), a.err)
	default:
		return "; Ask has not returned"
	}
}

// begin starts an Ask.
func (r *run) begin(ctx context.Context, d delegate.Delegate, req delegate.Request) *asking {
	a := &asking{delegate: d, progress: &progress{news: make(chan struct{}, 1)}, done: make(chan struct{})}
	req.Progress = a.progress.note
	r.mu.Lock()
	r.asks = append(r.asks, a)
	r.mu.Unlock()
	go func() {
		defer close(a.done)
		a.reply, a.err = d.Ask(ctx, req)
		a.progress.end()
	}()
	return a
}

// wait returns when the Ask has, or false when it does not in time. It also checks what
// holds for every reply and error.
func (r *run) wait(a *asking) bool {
	r.Helper()
	if !r.within(a.done) {
		r.broken("Ask did not return within %v", r.patience)
		return false
	}
	if a.err != nil {
		return r.wellFormed(a.delegate, a.err)
	}
	if !utf8.ValidString(a.reply.Text) || !utf8.ValidString(a.reply.Incomplete) {
		r.broken("the reply is not valid UTF-8")
		return false
	}
	return true
}

// ask is begin and wait.
func (r *run) ask(d delegate.Delegate, req delegate.Request) (*asking, bool) {
	r.Helper()
	a := r.begin(r.open, d, req)
	return a, r.wait(a)
}

// wellFormed checks what holds for every error of a delegate.
func (r *run) wellFormed(d delegate.Delegate, err error) bool {
	r.Helper()
	var e *delegate.Error
	switch name := d.Info().Name; {
	case !errors.As(err, &e):
		r.broken("the error is a %T, not a *delegate.Error: %v", err, err)
	case e.Delegate != name:
		r.broken("the error names the delegate %q, not %q", e.Delegate, name)
	case e.Err == nil || e.Cause() == "":
		r.broken("the error of kind %s says no cause", e.Kind)
	case !utf8.ValidString(e.Err.Error()):
		r.broken("the error is not valid UTF-8: %q", e.Err)
	default:
		return true
	}
	return false
}

// fails checks that err has one of kinds, and returns it.
func (r *run) fails(err error, what string, kinds ...delegate.Kind) *delegate.Error {
	r.Helper()
	var e *delegate.Error
	if !errors.As(err, &e) {
		r.broken("%s returned %v, want an error of kind %v", what, err, kinds)
		return nil
	}
	for _, kind := range kinds {
		if e.Kind == kind {
			return e
		}
	}
	r.broken("%s failed with kind %q (%v), want %v", what, e.Kind, e.Cause(), kinds)
	return e
}

// progress watches the reports of one Ask.
type progress struct {
	mu      sync.Mutex
	reports []langrooms.Progress
	busy    bool
	over    bool
	fault   []string
	news    chan struct{} // holds one when there are new reports
}

func (p *progress) note(report langrooms.Progress) {
	p.mu.Lock()
	if p.busy {
		p.fault = append(p.fault, "two progress reports at once")
	}
	if p.over {
		p.fault = append(p.fault, fmt.Sprintf("a progress report after Ask had returned: %+v", report))
	}
	if !utf8.ValidString(report.Text) || !utf8.ValidString(report.State) {
		p.fault = append(p.fault, fmt.Sprintf("a progress report that is not valid UTF-8: %q", report.Text))
	}
	if report.Kind == "" {
		p.fault = append(p.fault, "a progress report without a kind")
	}
	p.reports = append(p.reports, report)
	p.busy = true
	p.mu.Unlock()
	select {
	case p.news <- struct{}{}:
	default:
	}
	runtime.Gosched() // lets a report from another goroutine in, to be noticed
	p.mu.Lock()
	p.busy = false
	p.mu.Unlock()
}

func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
}

func (p *progress) faults() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fault
}

// text joins the pieces of the answer that were reported.
func (p *progress) text() string { return p.of(langrooms.ProgressText) }

// of joins what was reported of a kind.
func (p *progress) of(kind langrooms.ProgressKind) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var b strings.Builder
	for _, report := range p.reports {
		if report.Kind == kind {
			b.WriteString(report.Text)
		}
	}
	return b.String()
}
