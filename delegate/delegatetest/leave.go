package delegatetest

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/langrooms/langrooms/delegate"
)

// turnRules are of what stands around an answer: what is asked before it, what comes after.
var turnRules = []rule{
	{"late-words", "what the peer says a moment after it is done belongs to that answer, and to no other", checkLateWords},
	{"leave", "what the peer asks leave for is asked of Request.Permission; without a yes it is refused, and the reply says what was", checkLeave},
	{"leave-stopped", "nobody is asked for leave any more when Ask has returned", checkLeaveStopped},
}

func checkLateWords(r *run) {
	d := r.start(Script{End: EndAnswer, Pieces: pieces("the build "), Late: "is fine"})
	req := delegate.Request{Prompt: "hi"}
	if d.Info().Conversational {
		req.Conversation = "thread"
	}
	for _, nth := range []string{"first", "second"} {
		a, ok := r.ask(d, req)
		if ok && (a.err != nil || a.reply.Text != "the build is fine") {
			r.broken("the %s Ask = %q, %v", nth, a.reply.Text, a.err)
		}
	}
}

// wanted is what the peer of these rules asks leave for.
const wanted = "rm -r build"

func checkLeave(r *run) {
	d := r.start(Script{End: EndAnswer, Pieces: pieces("done"), Leave: wanted})
	for _, given := range []delegate.PermissionAnswer{"unasked", delegate.PermissionNo, delegate.PermissionNobody, delegate.PermissionOnce} {
		var asked []string
		req := delegate.Request{Prompt: "clean up", Permission: func(_ context.Context, q delegate.PermissionRequest) delegate.PermissionAnswer {
			asked = append(asked, q.Title)
			return given
		}}
		var want []string
		if given == "unasked" {
			req.Permission = nil
		} else {
			want = []string{wanted}
		}
		a, ok := r.ask(d, req)
		if !ok {
			return
		}
		switch said := a.reply.Text + a.reply.Incomplete; {
		case a.err != nil || !slices.Equal(asked, want):
			r.broken("with the answer %q a person was asked about %q, Ask = %v", given, asked, a.err)
		case given == delegate.PermissionOnce && said != "done":
			r.broken("after a yes the reply is %q", said)
		case given != delegate.PermissionOnce && (strings.Contains(said, "done") || !strings.Contains(said, wanted)):
			r.broken("with the answer %q the reply is %q", given, said)
		}
	}
}

// leaveGrace is how long a person takes to notice that the question is over.
const leaveGrace = 100 * time.Millisecond

func checkLeaveStopped(r *run) {
	d := r.start(Script{End: EndAnswer, Pieces: pieces("done"), Leave: wanted})
	ctx, stop := context.WithCancel(r.open)
	defer stop()
	var a *asking
	begun, left := make(chan struct{}), make(chan bool, 1)
	a = r.begin(ctx, d, delegate.Request{Prompt: "clean up", Permission: func(ctx context.Context, _ delegate.PermissionRequest) delegate.PermissionAnswer {
		<-begun
		stop()
		select {
		case <-ctx.Done():
		case <-r.open.Done():
		}
		select {
		case <-a.done:
			left <- true
		case <-time.After(leaveGrace):
			left <- false
		}
		return delegate.PermissionOnce
	}})
	close(begun)
	if !r.wait(a) {
		return
	}
	select {
	case early := <-left:
		if early {
			r.broken("Ask returned while a person was being asked")
		}
	default:
		r.broken("Ask returned while a person was being asked, or nobody was")
	}
	r.fails(a.err, "Ask", delegate.KindCanceled)
	r.untouched("a refused leave")
}
