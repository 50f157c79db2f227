package delegatetest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
)

// reference is a delegate whose peer plays the script in the same process. With a fault
// it breaks one rule.
type reference struct {
	script Script
	absent bool
	fault  string
	// talkative also keeps conversations.
	talkative bool // and parks tasks

	mu     sync.Mutex
	infos  int
	counts map[string]int
	late   string // what the peer has said after its last answer
	life   context.Context
	end    context.CancelFunc
	asks   sync.WaitGroup
	peers  sync.WaitGroup
	once   sync.Once
}

func newReference(script Script, fault string) *reference {
	r := &reference{script: script, fault: fault, counts: map[string]int{}}
	r.life, r.end = context.WithCancel(context.Background())
	return r
}

func (r *reference) has(fault string) bool { return r.fault == fault }

func (r *reference) Info() delegate.Info {
	info := delegate.Info{Name: "mirror", Type: "test", Conversational: r.talkative, Resumable: r.talkative}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.infos++
	if r.has("info") {
		info.Description = fmt.Sprint(r.infos)
	}
	if r.has("info-name") {
		info.Name = "@mirror"
	}
	return info
}

func (r *reference) error(kind delegate.Kind, words string) error {
	name := "mirror"
	if r.has("error-names-another") {
		name = "proto"
	}
	if r.has("error-type") {
		return errors.New(words)
	}
	if !r.has("secret-error") {
		words = strings.ReplaceAll(words, secret, "***")
	}
	return &delegate.Error{Delegate: name, Kind: kind, Err: errors.New(words), Accepted: r.has("absent-accepted")}
}

func (r *reference) Ask(ctx context.Context, req delegate.Request) (delegate.Reply, error) {
	var reply delegate.Reply
	r.asks.Add(1)
	defer r.asks.Done()
	switch {
	case r.life.Err() != nil && !r.has("close-after"):
		return reply, r.error(delegate.KindUnreachable, "closed")
	case ctx.Err() != nil && !r.has("canceled-before"):
		return reply, r.error(delegate.KindCanceled, "stopped")
	case r.has("unplayed"):
		return delegate.Reply{Text: "mine"}, nil
	case r.has("never-answers"):
		<-r.life.Done()
	case r.absent:
		if r.has("absent") {
			return reply, r.error(delegate.KindFailed, "nobody there")
		}
		return reply, r.error(delegate.KindUnreachable, "nobody there")
	case req.Conversation != "" && !r.talkative && !r.has("conversation"):
		return reply, r.error(delegate.KindRefused, "stateless")
	case req.ResumeTask != "" && !r.has("resume"):
		return reply, r.error(delegate.KindRefused, "no tasks")
	}
	if err := r.admitted(ctx); err != nil {
		return reply, err
	}
	if given, err := r.leaveFor(ctx, req); err != nil {
		return reply, err
	} else if !given && r.has("leave-unsaid") {
		return reply, nil
	} else if !given {
		return delegate.Reply{Incomplete: r.script.Leave + " was refused"}, nil
	}
	if r.script.Thought != "" {
		kind := langrooms.ProgressThought
		if r.has("thought-as-text") {
			kind = langrooms.ProgressText
		}
		if !r.has("thought-lost") {
			req.Progress(langrooms.Progress{Kind: kind, Text: r.script.Thought})
		}
	}
	return r.play(ctx, req)
}

// leaveFor asks a person for what the peer asks leave for.
func (r *reference) leaveFor(ctx context.Context, req delegate.Request) (given bool, err error) {
	switch {
	case r.script.Leave == "" || r.has("leave-unasked"):
		return true, nil
	case req.Permission == nil:
		return r.has("leave-given"), nil
	}
	over := make(chan delegate.PermissionAnswer, 1)
	r.asks.Go(func() {
		over <- req.Permission(ctx, delegate.PermissionRequest{Delegate: "mirror", Title: r.script.Leave})
	})
	if r.has("leave-left") {
		select {
		case <-over:
		case <-ctx.Done():
			return false, r.error(delegate.KindCanceled, "stopped")
		}
	}
	answer := <-over
	if ctx.Err() != nil {
		return false, r.error(delegate.KindCanceled, "stopped")
	}
	return answer == delegate.PermissionOnce || r.has("leave-ignored"), nil
}

// admitted asks the peer until it takes the message, twice at most.
func (r *reference) admitted(ctx context.Context) error {
	for try := 1; ; try++ {
		refusal, err := r.script.Refusal(ctx)
		switch {
		case err != nil:
			return r.error(delegate.KindProtocol, err.Error())
		case refusal == nil:
			return nil
		case refusal.Location != "" && r.has("elsewhere"):
			http.Get(refusal.Location)
		case refusal.Location != "" && r.has("elsewhere-served"):
			return nil
		case refusal.RetryAfter > 1000 && r.has("busy-long"):
			<-r.life.Done()
		case refusal.Status == http.StatusServiceUnavailable && r.has("unavailable-once"):
		case refusal.RetryAfter > 0 && !r.has("busy-once") && (try == 1 || r.has("busy-tries") && try < 20):
			continue
		}
		e := r.error(delegate.KindRefused, "no").(*delegate.Error)
		e.Status, e.RetryAfter = refusal.Status, time.Duration(refusal.RetryAfter)*time.Second
		switch {
		case r.has("status"):
			e.Status = 0
		case r.has("credential-kind"):
			e.Kind = delegate.KindFailed
		case r.has("busy-wait"):
			e.RetryAfter = 0
		}
		return e
	}
}

// play runs the peer and waits for it.
func (r *reference) play(ctx context.Context, req delegate.Request) (delegate.Reply, error) {
	peer, stopPeer := context.WithCancel(context.Background())
	defer stopPeer()
	if r.has("canceled-peer-left") {
		peer = context.Background()
	}
	if r.has("canceled-before") {
		ctx = context.WithoutCancel(ctx)
	}
	var limit <-chan time.Time
	if req.Timeout > 0 && !r.has("timeout-kind") {
		limit = time.After(req.Timeout / 100)
	}
	var said strings.Builder
	over := make(chan error, 1)
	pieces := make(chan []byte)
	r.peers.Go(func() {
		over <- r.script.Play(peer, r.message(req), func(piece []byte) error {
			select {
			case pieces <- piece:
				return nil
			case <-peer.Done():
				return peer.Err()
			case <-r.life.Done():
				return errors.New("closed")
			}
		})
	})
	closed := r.life.Done()
	if r.has("close-after") || r.has("close-nothing") {
		closed = nil
	}
	reported := 0
	for {
		select {
		case piece := <-pieces:
			said.Write(piece)
			if !r.has("stopped-words") {
				reported = r.report(req, said.String(), reported)
			}
		case err := <-over:
			return r.finish(req, said.String(), reported, err)
		case <-ctx.Done():
			return r.leave(req, delegate.KindCanceled)
		case <-limit:
			return r.leave(req, delegate.KindTimeout)
		case <-closed:
			if r.has("close-asking") {
				return delegate.Reply{Text: said.String()}, nil
			}
			return delegate.Reply{}, r.error(delegate.KindUnreachable, "closed")
		}
	}
}

// message is what the peer is sent, spoilt by a fault.
func (r *reference) message(req delegate.Request) Message {
	sent, stead := req.Part(func(f delegate.File) bool { return delegate.Takes(r.script.Accepts, f.MIMEType) })
	m := Message{Prompt: req.Prompt + stead, Nth: r.count(req), Files: sent}
	switch {
	case r.has("files-lost"):
		m.Files = nil
	case r.has("files-unnamed"):
		m.Prompt = req.Prompt
	}
	if m.Nth == 1 && !r.has("preamble-lost") || r.has("preamble-again") {
		m.Prompt = delegate.Opened(r.script.Preamble, m.Prompt)
	}
	return m
}

func (r *reference) count(req delegate.Request) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := r.key(req)
	if key == "" && !r.has("conversation-shared") {
		return 1
	}
	if r.has("conversation-forgotten") {
		return 1
	}
	r.counts[key]++
	return r.counts[key]
}

// key is what the peer's conversations are told apart by.
func (r *reference) key(req delegate.Request) string {
	if req.Conversation == "" || r.has("epoch-ignored") {
		return req.Conversation
	}
	return req.Conversation + " " + req.Epoch
}

func (r *reference) leave(req delegate.Request, kind delegate.Kind) (delegate.Reply, error) {
	if r.has("canceled-kind") && kind == delegate.KindCanceled {
		kind = delegate.KindFailed
	}
	if r.has("progress-after-return") {
		r.asks.Go(func() {
			<-r.life.Done()
			req.Progress(langrooms.Progress{Kind: langrooms.ProgressStatus, State: "late"})
		})
	}
	return delegate.Reply{}, r.error(kind, "the wait is over")
}

// report tells what is new and whole of the text, and returns how much has been told.
func (r *reference) report(req delegate.Request, said string, told int) int {
	if r.has("secret-progress") {
		req.Progress(langrooms.Progress{Kind: langrooms.ProgressText, Text: said[told:]})
		return len(said)
	}
	if r.has("progress-at-once") {
		var reports sync.WaitGroup
		for range 8 {
			reports.Go(func() {
				for range 1000 {
					req.Progress(langrooms.Progress{Kind: langrooms.ProgressStatus})
				}
			})
		}
		reports.Wait()
	}
	if r.has("progress-order") && told > 0 {
		req.Progress(langrooms.Progress{Kind: langrooms.ProgressText, Text: "x"})
	}
	if r.has("progress-silent") || strings.Contains(said, secret[:4]) {
		return told
	}
	end := len(said)
	for end > told && !r.has("utf8-split") && !utf8.ValidString(said[told:end]) {
		end--
	}
	if end-told > 0 && !r.has("progress-utf8") {
		req.Progress(langrooms.Progress{Kind: langrooms.ProgressText, Text: strings.ToValidUTF8(said[told:end], "\uFFFD")})
	} else if end-told > 0 {
		req.Progress(langrooms.Progress{Kind: langrooms.ProgressText, Text: said})
	}
	return end
}

func (r *reference) finish(req delegate.Request, said string, told int, err error) (delegate.Reply, error) {
	var failure *Failure
	var question *Question
	switch {
	case errors.As(err, &question):
		return r.pause(said, question.Words), nil
	case errors.As(err, &failure) && r.has("error-words"):
		return delegate.Reply{}, r.error(delegate.KindFailed, "it failed")
	case errors.As(err, &failure) && r.has("error-swallowed"):
		return delegate.Reply{Text: failure.Words}, nil
	case errors.As(err, &failure):
		return delegate.Reply{}, r.error(delegate.KindFailed, failure.Words)
	case errors.Is(err, ErrDie) && r.has("died"):
		return delegate.Reply{Text: said}, nil
	case err != nil:
		return delegate.Reply{}, r.error(delegate.KindProtocol, err.Error())
	case r.has("late-next"):
		r.mu.Lock()
		said, r.late = r.late+said, r.script.Late
		r.mu.Unlock()
	case !r.has("late-lost"):
		said += r.script.Late
	}
	switch {
	case said == "" && r.has("answer-empty"):
		return delegate.Reply{}, r.error(delegate.KindFailed, "no text")
	}
	return delegate.Reply{Text: r.text(req, said), NewConversation: r.lost(req), Usage: r.usage(), Files: r.returned()}, nil
}

// returned is the file that came with the answer, spoilt by a fault.
func (r *reference) returned() []langrooms.Part {
	f := r.script.Returns
	switch {
	case f == nil || r.has("returned-lost"):
		return nil
	case r.has("returned-believed"):
		return []langrooms.Part{{Kind: langrooms.PartBinary, Name: "a.png", MIMEType: f.MIMEType, Data: f.Data}}
	}
	var got delegate.Received
	got.Add(f.Name, f.MIMEType, f.Data)
	if r.has("returned-name") {
		got.Files()[0].Name = f.Name
	}
	return got.Files()
}

// usage is what the peer tells, spoilt by a fault.
func (r *reference) usage() *langrooms.Usage {
	switch {
	case r.has("usage-lost"):
		return nil
	case r.has("usage-zero") && r.script.Usage == nil:
		return &langrooms.Usage{}
	}
	return r.script.Usage
}

// lost reports whether the reply says that the conversation had been lost: each is, but the
// first, with a peer that forgets.
func (r *reference) lost(req delegate.Request) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.has("conversation-new") || r.script.Forget && r.counts[r.key(req)] > 1 && !r.has("conversation-lost")
}

// pause is the reply of a peer that waits, spoilt by a fault.
func (r *reference) pause(said, question string) delegate.Reply {
	switch {
	case r.has("pause-words"):
		said = ""
	case r.has("pause-question"):
		question = ""
	case question == "" && r.has("pause-silent"):
		return delegate.Reply{Text: "⏸ @mirror needs input.", Paused: true, Task: "task-1"}
	case question == "":
		return delegate.Reply{Text: said}
	}
	reply := delegate.Reply{Text: "⏸ @mirror needs input.\n" + said + "\n" + question, Paused: !r.has("pause-unmarked"), Task: "task-1"}
	if r.has("pause-task") {
		reply.Task = ""
	}
	return reply
}

// text is the reply, spoilt by a fault.
func (r *reference) text(req delegate.Request, said string) string {
	if r.has("secret-word") {
		said = strings.ReplaceAll(said, r.script.Secret, "***")
	}
	if !r.has("secret-reply") {
		said = strings.ReplaceAll(said, secret, "***")
	}
	if !r.has("utf8-invalid") {
		said = strings.ToValidUTF8(said, "\uFFFD")
	}
	switch {
	case r.script.Apart && !r.has("parts"):
		return strings.Replace(said, ".T", ".\n\nT", 1)
	case r.has("thought-in-answer"):
		return r.script.Thought + said
	case r.has("answer"):
		return strings.Join(strings.Fields(said), " ")
	case r.has("answer-large"):
		return said[:min(len(said), 1<<20)]
	case r.has("utf8-dropped") && strings.ContainsRune(said, utf8.RuneError):
		return ""
	case r.has("two-at-once") && strings.HasPrefix(req.Prompt, "question"):
		return "question 0"
	}
	return said
}

func (r *reference) Probe(ctx context.Context) (delegate.Health, error) {
	switch {
	case r.has("probe-message"):
		r.script.Play(ctx, Message{Prompt: "who are you?"}, func([]byte) error { return nil })
	case r.has("probe"):
		return delegate.Health{}, r.error(delegate.KindFailed, "no")
	case r.has("close-after-probe"):
	case r.absent, r.life.Err() != nil:
		return delegate.Health{}, r.error(delegate.KindUnreachable, "nobody there")
	}
	if err := r.admitted(ctx); err != nil && !r.has("credential-probed") {
		return delegate.Health{}, err
	}
	health := delegate.Health{Latency: time.Millisecond}
	if r.has("secret-probe") {
		health.Version = secret
	}
	return health, nil
}

func (r *reference) Close() error {
	var again error
	if r.has("close-nothing") {
		return nil
	}
	if r.has("close-again") {
		again = errors.New("already closed")
	}
	r.once.Do(func() { again = nil })
	r.end()
	r.asks.Wait()
	return again
}

// harness is a harness whose delegates have fault.
func harness(fault string, talkative bool) Harness {
	return Harness{
		Streams: true,
		Start: func(t testing.TB, script Script) delegate.Delegate {
			r := newReference(script, fault)
			t.Cleanup(r.peers.Wait) // as a server waits for its requests
			r.talkative = talkative
			return r
		},
		Absent: func(testing.TB) delegate.Delegate {
			r := newReference(Script{}, fault)
			r.absent = true
			return r
		},
	}
}
