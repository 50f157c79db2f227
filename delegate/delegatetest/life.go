package delegatetest

import (
	"sync"
	"time"

	"github.com/langrooms/langrooms/delegate"
)

// hardTimeout is long enough for a peer to start, also a child process.
const hardTimeout = 3 * time.Second

var lifeRules = []rule{
	{"close", "Close is idempotent, from many goroutines, and legal before the first Ask", checkClose},
	{"close-after", "after Close, Ask fails with kind unreachable and Probe fails", checkAfterClose},
	{"close-asking", "Close ends a running Ask with an error, stops the peer's work and returns", checkCloseAsking},
}

func checkClose(r *run) {
	d := r.start(Script{End: EndAnswer, Pieces: pieces("hello")})
	var closes sync.WaitGroup
	for range 4 {
		closes.Go(func() {
			r.await("Close", func() {
				if err := d.Close(); err != nil {
					r.broken("Close = %v", err)
				}
			})
		})
	}
	closes.Wait()
	if err := d.Close(); err != nil {
		r.broken("a repeated Close = %v", err)
	}
}

func checkAfterClose(r *run) {
	d := r.start(Script{End: EndAnswer, Pieces: pieces("hello")})
	a, ok := r.ask(d, delegate.Request{Prompt: "hi"})
	if !ok {
		return
	}
	if a.err != nil {
		r.broken("before Close, Ask = %v", a.err)
		return
	}
	if _, ok := r.message(a); !ok {
		return
	}
	r.await("Close", func() { d.Close() })
	if a, ok := r.ask(d, delegate.Request{Prompt: "hi"}); ok {
		r.fails(a.err, "Ask", delegate.KindUnreachable)
	}
	r.await("Probe", func() {
		_, err := d.Probe(r.open)
		if err == nil {
			r.broken("Probe succeeded")
		} else {
			r.wellFormed(d, err)
		}
	})
	r.untouched("an Ask after Close")
}

func checkCloseAsking(r *run) {
	d := r.start(Script{End: EndHold, Pieces: pieces("I think ")})
	a := r.begin(r.open, d, delegate.Request{Prompt: "hi"})
	m, ok := r.message(a)
	if !ok {
		return
	}
	r.await("Close", func() { d.Close() })
	if !r.wait(a) {
		return
	}
	if a.err == nil {
		r.broken("Ask = %q, without an error", a.reply.Text)
	}
	r.stops(m)
}
