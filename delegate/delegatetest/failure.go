package delegatetest

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/langrooms/langrooms/delegate"
)

var failureRules = []rule{
	{"error", "a peer that says it failed is an error of kind failed, with the peer's words", checkError},
	{"absent", "a peer that is not there is an error of kind unreachable, not accepted", checkAbsent},
	{"canceled", "the context's end returns an error of kind canceled, and the peer is stopped", checkCanceled},
	{"stopped-words", "what the peer says is told as it comes, so that the words of an ask that is stopped are known", checkStoppedWords},
	{"canceled-before", "an ended context is an error of kind canceled, and nothing is sent", checkCanceledBefore},
	{"timeout", "Request.Timeout ends the wait with kind timeout or still_running, or with what was said, marked incomplete", checkTimeout},
	{"died", "a peer that dies in the middle is an error, neither canceled nor refused, or what was said, marked incomplete", checkDied},
	{"secret", "the credential never appears in a reply, an error, a progress report or a probe", checkSecret},
	{"secret-word", "a credential that is an ordinary word is left in what the peer says", checkSecretWord},
}

func checkError(r *run) {
	d := r.start(Script{End: EndFail, Words: "the disk is full"})
	a, ok := r.ask(d, delegate.Request{Prompt: "hi"})
	if !ok {
		return
	}
	e := r.fails(a.err, "Ask", delegate.KindFailed)
	if e == nil {
		return
	}
	if !strings.Contains(e.Cause(), "the disk is full") {
		r.broken("the cause %q does not hold the peer's words", e.Cause())
	}
}

func checkAbsent(r *run) {
	d := r.own(r.Absent(r))
	a, ok := r.ask(d, delegate.Request{Prompt: "hi"})
	if ok {
		if e := r.fails(a.err, "Ask", delegate.KindUnreachable); e != nil && e.Accepted {
			r.broken("the error says that the peer had accepted the message")
		}
	}
	r.await("Probe", func() {
		_, err := d.Probe(r.open)
		if err == nil {
			r.broken("Probe succeeded")
		} else {
			r.wellFormed(d, err)
		}
	})
}

func checkCanceled(r *run) {
	d := r.start(Script{End: EndHold, Pieces: pieces("I think ")})
	ctx, cancel := context.WithCancel(r.open)
	defer cancel()
	a := r.begin(ctx, d, delegate.Request{Prompt: "hi"})
	m, ok := r.message(a)
	cancel()
	if !r.wait(a) || !ok {
		return
	}
	r.fails(a.err, "Ask", delegate.KindCanceled)
	r.stops(m)
}

func checkStoppedWords(r *run) {
	const words = "I think it is the linker."
	d := r.start(Script{End: EndHold, Pieces: pieces("I think ", "it is ", "the linker.")})
	ctx, cancel := context.WithCancel(r.open)
	defer cancel()
	a := r.begin(ctx, d, delegate.Request{Prompt: "hi"})
	told := r.told(a, words)
	cancel()
	if !r.wait(a) {
		return
	}
	if !told {
		r.broken("the peer said %q and worked on; the reports had %q", words, a.progress.text())
	}
	r.fails(a.err, "Ask", delegate.KindCanceled)
}

// told waits until the reports of a have said words, or a is over.
func (r *run) told(a *asking, words string) bool {
	limit := time.NewTimer(r.patience)
	defer limit.Stop()
	for a.progress.text() != words {
		select {
		case <-a.progress.news:
		case <-a.done:
			return a.progress.text() == words
		case <-limit.C:
			return false
		}
	}
	return true
}

func checkCanceledBefore(r *run) {
	d := r.start(Script{End: EndAnswer, Pieces: pieces("hello")})
	ctx, cancel := context.WithCancel(r.open)
	cancel()
	a := r.begin(ctx, d, delegate.Request{Prompt: "hi"})
	if r.wait(a) {
		r.fails(a.err, "Ask", delegate.KindCanceled)
	}
	r.untouched("Ask")
}

func checkTimeout(r *run) {
	d := r.start(Script{End: EndHold, Pieces: pieces("I think ")})
	a, ok := r.ask(d, delegate.Request{Prompt: "hi", Timeout: hardTimeout})
	if ok && !cutShort(a) {
		r.fails(a.err, "Ask", delegate.KindTimeout, delegate.KindStillRunning)
	}
}

func checkDied(r *run) {
	d := r.start(Script{End: EndDie, Pieces: pieces("I think ")})
	a, ok := r.ask(d, delegate.Request{Prompt: "hi"})
	if ok && !cutShort(a) {
		r.fails(a.err, "Ask", delegate.KindUnreachable, delegate.KindFailed, delegate.KindProtocol,
			delegate.KindTimeout, delegate.KindStillRunning)
	}
}

// cutShort reports whether an Ask returned what was said before the end, and says so.
func cutShort(a *asking) bool {
	return a.err == nil && a.reply.Incomplete != "" && strings.TrimSpace(a.reply.Text) == "I think"
}

func checkSecret(r *run) {
	half := len(secret) / 2
	said := pieces("your key is "+secret+" and ", secret[:half], secret[half:]+" again")
	for _, script := range []Script{
		{End: EndAnswer, Pieces: said},
		{End: EndFail, Pieces: said, Words: "bad key " + secret},
	} {
		d := r.start(script)
		a, ok := r.ask(d, delegate.Request{Prompt: "what is my key?"})
		if !ok {
			continue
		}
		r.secretFree("reply", fmt.Sprintf("%+v", a.reply))
		if a.err != nil {
			e := delegate.AsError("", a.err)
			r.secretFree("error", fmt.Sprintf("%v %+v", e, *e))
		}
		r.secretFree("progress", a.progress.text())
		for _, report := range a.progress.reports {
			r.secretFree("progress", report.Text+" "+report.State)
		}
		health, err := d.Probe(r.open)
		r.secretFree("probe", fmt.Sprintf("%+v %v", health, err))
		r.secretFree("info", fmt.Sprintf("%+v", d.Info()))
	}
	d := r.own(r.Absent(r))
	if a, ok := r.ask(d, delegate.Request{Prompt: "hi"}); ok {
		r.secretFree("error", fmt.Sprint(a.err))
	}
}

// dummy is a key that local servers want.
const dummy = "ollama"

func checkSecretWord(r *run) {
	const said = "run " + dummy + " pull first"
	d := r.startWith(Script{End: EndAnswer, Pieces: pieces(said)}, dummy)
	if a, ok := r.ask(d, delegate.Request{Prompt: "what now?"}); ok && (a.err != nil || a.reply.Text != said) {
		r.broken("with the credential %q the peer's %q became %q, %v", dummy, said, a.reply.Text, a.err)
	}
}

// secretFree reports the secret in text, whole or in a piece that gives it away.
func (r *run) secretFree(where, text string) {
	r.Helper()
	if i := strings.Index(text, secret); i >= 0 {
		r.broken("it is in the %s: %q", where, clip(text, i))
	}
}

// clip returns the surroundings of position i.
func clip(text string, i int) string {
	const around = 40
	return strings.ToValidUTF8(text[max(0, i-around):min(len(text), i+len(secret)+around)], string(utf8.RuneError))
}
