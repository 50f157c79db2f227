package delegatetest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
)

var refusalRules = []rule{
	{"credential-refused", "401 is an error of kind refused that is ErrCredential and not ErrBusy, with the status", checkCredentialRefused},
	{"credential-probed", "Probe fails with ErrCredential when the peer does not accept the credential", checkCredentialProbed},
	{"busy", "429 is an error that is ErrBusy and not ErrCredential, with the status and how long to wait, after few tries", checkBusy},
	{"busy-once", "a message that was refused with 429, or with 503 that says when, is sent again after what Retry-After says", checkBusyOnce},
	{"busy-long", "a peer that asks to be left alone for an hour is not waited for", checkBusyLong},
	{"elsewhere", "a redirect to another origin is an error, and nothing is sent there", checkElsewhere},
	{"parts", "what the peer says in two messages stands in two paragraphs", checkParts},
	{"thought", "reasoning is progress of its own kind and no part of the answer", checkThought},
}

func checkCredentialRefused(r *run) {
	d := r.start(Script{End: EndAnswer, Pieces: pieces("hello"), Status: http.StatusUnauthorized})
	a, ok := r.ask(d, delegate.Request{Prompt: "hi"})
	if ok {
		r.refuses(a.err, "Ask", http.StatusUnauthorized, delegate.ErrCredential, delegate.ErrBusy)
		r.fails(a.err, "Ask", delegate.KindRefused)
	}
	r.untouched("a refused Ask")
}

func checkCredentialProbed(r *run) {
	d := r.start(Script{End: EndAnswer, Pieces: pieces("hello"), Status: http.StatusUnauthorized})
	r.await("Probe", func() {
		_, err := d.Probe(r.open)
		r.refuses(err, "Probe", http.StatusUnauthorized, delegate.ErrCredential, delegate.ErrBusy)
	})
}

// maxTries is more often than anybody would try again.
const maxTries = 10

func checkBusy(r *run) {
	d := r.start(Script{End: EndAnswer, Pieces: pieces("hello"), Status: http.StatusTooManyRequests, RetryAfter: 1})
	a, ok := r.ask(d, delegate.Request{Prompt: "hi"})
	if !ok {
		return
	}
	r.refuses(a.err, "Ask", http.StatusTooManyRequests, delegate.ErrBusy, delegate.ErrCredential)
	var e *delegate.Error
	if errors.As(a.err, &e) && e.RetryAfter <= 0 {
		r.broken("the error does not say how long the peer asks to be left alone")
	}
	if n := r.control.refused(); n > maxTries {
		r.broken("the peer was asked %d times", n)
	}
}

func checkBusyOnce(r *run) {
	for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		d := r.start(Script{End: EndAnswer, Pieces: pieces("hello"), Status: status, RetryAfter: 1, Times: 1})
		a, ok := r.ask(d, delegate.Request{Prompt: "hi"})
		if ok && (a.err != nil || a.reply.Text != "hello") {
			r.broken("after %d Ask = %q, %v", status, a.reply.Text, a.err)
		}
	}
}

func checkBusyLong(r *run) {
	const asked = time.Hour
	d := r.start(Script{End: EndAnswer, Pieces: pieces("hello"), Status: http.StatusTooManyRequests, RetryAfter: int(asked.Seconds())})
	a, ok := r.ask(d, delegate.Request{Prompt: "hi"})
	if !ok {
		return
	}
	r.refuses(a.err, "Ask", http.StatusTooManyRequests, delegate.ErrBusy, delegate.ErrCredential)
	var e *delegate.Error
	if errors.As(a.err, &e) && e.RetryAfter < asked/2 {
		r.broken("the error says that the peer asks for %v", e.RetryAfter)
	}
}

// refuses checks that err says so by status and identity.
func (r *run) refuses(err error, what string, status int, is, not error) {
	r.Helper()
	var e *delegate.Error
	switch {
	case !errors.As(err, &e):
		r.broken("%s returned %v, want an error", what, err)
	case e.Status != status:
		r.broken("%s failed with status %d (%v), the peer's was %d", what, e.Status, e.Cause(), status)
	case !errors.Is(err, is) || errors.Is(err, not):
		r.broken("%s failed with %v, which is to be %q and not %q", what, e.Cause(), is, not)
	}
}

func checkElsewhere(r *run) {
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.Fatalf("delegatetest: %v", err)
	}
	reached := make(chan struct{})
	go func() {
		defer close(reached)
		for {
			conn, err := other.Accept()
			if err != nil {
				return
			}
			r.broken("a request went to the other origin")
			conn.Close()
		}
	}()
	r.Cleanup(func() {
		other.Close()
		<-reached
	})
	d := r.start(Script{End: EndAnswer, Pieces: pieces("hello"), Status: http.StatusTemporaryRedirect, Location: fmt.Sprintf("http://%s/", other.Addr())})
	a, ok := r.ask(d, delegate.Request{Prompt: "hi"})
	if ok && a.err == nil {
		r.broken("Ask = %q, without an error", a.reply.Text)
	}
}

func checkParts(r *run) {
	d := r.start(Script{End: EndAnswer, Pieces: pieces("Let me look first.", "The file says hi."), Apart: true})
	a, ok := r.ask(d, delegate.Request{Prompt: "what does it say?"})
	const want = "Let me look first.\n\nThe file says hi."
	if ok && (a.err != nil || a.reply.Text != want) {
		r.broken("Ask = %q, %v; want %q", a.reply.Text, a.err, want)
	}
}

func checkThought(r *run) {
	const thought = "it may be auth"
	d := r.start(Script{End: EndAnswer, Pieces: pieces("auth did"), Thought: thought})
	a, ok := r.ask(d, delegate.Request{Prompt: "what broke?"})
	if !ok {
		return
	}
	if a.err != nil || a.reply.Text != "auth did" {
		r.broken("Ask = %q, %v", a.reply.Text, a.err)
	}
	if text := a.progress.text(); strings.Contains(text, thought) {
		r.broken("the reasoning is reported as the answer: %q", text)
	}
	if text := a.progress.of(langrooms.ProgressThought); r.Streams && !strings.Contains(text, thought) {
		r.broken("the reasoning is not reported: %q", text)
	}
}

// Refusal is how a peer is to refuse a request.
type Refusal struct {
	// Status is an HTTP status.
	Status int
	// RetryAfter goes into the header of that name, in seconds, when it is not 0, and
	// Location into its own.
	RetryAfter int
	Location   string
}

// Write sends the refusal.
func (f *Refusal) Write(w http.ResponseWriter) {
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(f.RetryAfter))
	}
	if f.Location != "" {
		w.Header().Set("Location", f.Location)
	}
	w.WriteHeader(f.Status)
}

// Refusal says whether the request that a peer has just received is to be refused, and how;
// nil means that it is served. A peer over HTTP calls it before it looks at a request, but
// for documents that need no credential, such as an agent card.
func (s Script) Refusal(ctx context.Context) (*Refusal, error) {
	if s.Status == 0 {
		return nil, nil
	}
	suite, verdict, err := s.tell(ctx, note{Refusable: true})
	if err != nil {
		return nil, err
	}
	defer suite.Close()
	if verdict != refuseIt {
		return nil, nil
	}
	return &Refusal{s.Status, s.RetryAfter, s.Location}, nil
}
