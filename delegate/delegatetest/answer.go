package delegatetest

import (
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
)

func pieces(texts ...string) [][]byte {
	var all [][]byte
	for _, text := range texts {
		all = append(all, []byte(text))
	}
	return all
}

var answerRules = []rule{
	{"info", "Info never changes and has a name that a roster can hold, and a type", checkInfo},
	{"probe", "Probe succeeds and costs the peer no message", checkProbe},
	{"answer", "the answer's text is what the peer said, to the letter", checkAnswer},
	{"answer-empty", "an answer without text is a reply, not an error", checkEmpty},
	{"usage", "what the peer tells of its tokens is in the reply, and of what it does not tell nothing is", checkUsage},
	{"answer-large", "a reply of 10 MB arrives whole, or is marked incomplete, or is an error of kind protocol", checkLarge},
	{"utf8-invalid", "bytes that are no UTF-8 never get out, and what is around them does", checkInvalid},
	{"utf8-split", "a character that is cut into two pieces arrives as one", checkSplit},
	{"two-at-once", "asks at the same time each get their own answer", checkTwo},
	{"conversation", "a conversation key continues its own conversation, or is refused with a reason", checkConversation},
	{"conversation-lost", "a peer that has forgotten the conversation answers in a new one, and the reply says so", checkConversationLost},
	{"preamble", "the first prompt of each conversation, and no other, has the preamble in front", checkPreamble},
	{"pause", "a question is a pause: a reply that starts with ⏸, with the question and what was said, and names the task", checkPause},
	{"pause-silent", "what a peer says is not lost when it waits and asks nothing", checkSilentPause},
	{"epoch", "what was said in another epoch of a conversation key is not gone on with", checkEpoch},
	{"resume", "a delegate that cannot resume refuses a task with a reason", checkResume},
	{"progress", "progress comes one at a time, in order, and its text is the answer's beginning", checkProgress},
}

func checkInfo(r *run) {
	d := r.start(Script{End: EndAnswer, Pieces: pieces("hello")})
	info := d.Info()
	if err := delegate.CheckName(info.Name); err != nil {
		r.broken("%v", err)
	}
	if info.Type == "" {
		r.broken("the type is empty")
	}
	r.ask(d, delegate.Request{Prompt: "hi"})
	if after := d.Info(); after != info {
		r.broken("it changed from %+v to %+v", info, after)
	}
}

func checkProbe(r *run) {
	d := r.start(Script{End: EndAnswer, Pieces: pieces("hello")})
	r.await("Probe", func() {
		health, err := d.Probe(r.open)
		if err != nil {
			r.broken("Probe = %v", err)
		} else if health.Latency <= 0 {
			r.broken("the latency is %v", health.Latency)
		}
	})
	r.untouched("Probe")
}

func checkAnswer(r *run) {
	const said = "**proto** says:\n\n  indented `code` <tag> & \"quotes\" \\ 日本語 😀\n\n- end"
	d := r.start(Script{End: EndAnswer, Pieces: pieces(said)})
	const prompt = "what broke?\n\n<room-message> \"x\" é 😀"
	a, ok := r.ask(d, delegate.Request{Prompt: prompt})
	if !ok {
		return
	}
	m, ok := r.message(a)
	if !ok {
		return
	}
	if m.Prompt != prompt {
		r.broken("the peer was sent %q instead of %q", m.Prompt, prompt)
	}
	switch {
	case a.err != nil:
		r.broken("Ask = %v", a.err)
	case a.reply.Text != said:
		r.broken("the reply is %q, the peer said %q", a.reply.Text, said)
	case a.reply.Paused || a.reply.Incomplete != "":
		r.broken("a complete answer is marked paused %v, incomplete %q", a.reply.Paused, a.reply.Incomplete)
	}
}

func checkUsage(r *run) {
	for _, told := range []*langrooms.Usage{nil, {InputTokens: 1234, OutputTokens: 56}} {
		d := r.start(Script{End: EndAnswer, Pieces: pieces("hello"), Usage: told})
		a, ok := r.ask(d, delegate.Request{Prompt: "hi"})
		if !ok {
			return
		}
		switch got := a.reply.Usage; {
		case a.err != nil:
			r.broken("Ask = %v", a.err)
		case told == nil && got != nil:
			r.broken("the reply's usage is %+v, of which the peer has told nothing", *got)
		case told != nil && got == nil:
			r.broken("the reply has no usage, the peer told %+v", *told)
		case told != nil && (got.InputTokens != told.InputTokens || got.OutputTokens != told.OutputTokens || got.CostUSD != nil):
			r.broken("the reply's usage is %+v, the peer told %+v", *got, *told)
		}
	}
}

func checkEmpty(r *run) {
	d := r.start(Script{End: EndAnswer})
	a, ok := r.ask(d, delegate.Request{Prompt: "hi"})
	if ok && (a.err != nil || a.reply.Text != "") {
		r.broken("Ask = %q, %v", a.reply.Text, a.err)
	}
}

// largePatience is how long the large answer may take, through a race-built child on a busy
// machine.
const largePatience = 3 * time.Minute

func checkLarge(r *run) {
	r.patience = largePatience
	line := strings.Repeat("0123456789 äöü 😀 \"\\<>&\n", 2600)[:64<<10]
	line = strings.ToValidUTF8(line, "")
	const times = 160
	d := r.start(Script{End: EndAnswer, Pieces: pieces(line), Repeat: times})
	a, ok := r.ask(d, delegate.Request{Prompt: "all of it"})
	if !ok {
		return
	}
	if a.err != nil {
		r.fails(a.err, "Ask", delegate.KindProtocol)
		return
	}
	all := strings.Repeat(line, times)
	switch {
	case a.reply.Incomplete != "" && !strings.HasPrefix(all, a.reply.Text):
		r.broken("the incomplete reply of %d bytes is not the beginning of what was said", len(a.reply.Text))
	case a.reply.Incomplete == "" && a.reply.Text != all:
		r.broken("%d of %d bytes arrived, and nothing says so", len(a.reply.Text), len(all))
	}
}

func checkInvalid(r *run) {
	d := r.start(Script{End: EndAnswer, Pieces: [][]byte{[]byte("before \xff\xfe middle \xc3( "), []byte("\xed\xa0\x80 after")}})
	a, ok := r.ask(d, delegate.Request{Prompt: "hi"})
	if !ok {
		return
	}
	if a.err != nil {
		r.fails(a.err, "Ask", delegate.KindProtocol)
		return
	}
	for _, word := range []string{"before", "middle", "after"} {
		if !strings.Contains(a.reply.Text, word) {
			r.broken("%q is missing in the reply %q", word, a.reply.Text)
		}
	}
}

func checkSplit(r *run) {
	const said = "café 日本 😀 end"
	cut := [][]byte{[]byte("caf\xc3"), []byte("\xa9 \xe6\x97"), []byte("\xa5本 \xf0"), []byte("\x9f\x98"), []byte("\x80 end")}
	d := r.start(Script{End: EndAnswer, Pieces: cut})
	a, ok := r.ask(d, delegate.Request{Prompt: "hi"})
	if !ok {
		return
	}
	if a.err != nil || a.reply.Text != said {
		r.broken("Ask = %q, %v; the peer said %q", a.reply.Text, a.err, said)
	}
	if text := a.progress.text(); strings.ContainsRune(text, utf8.RuneError) {
		r.broken("the progress shows half a character: %q", text)
	}
}

func checkTwo(r *run) {
	d := r.start(Script{End: EndAnswer, Echo: true})
	var asks sync.WaitGroup
	for i := range 4 {
		asks.Go(func() {
			prompt := fmt.Sprintf("question %d", i)
			a, ok := r.ask(d, delegate.Request{Prompt: prompt})
			if ok && (a.err != nil || a.reply.Text != prompt) {
				r.broken("the answer to %q is %q, %v", prompt, a.reply.Text, a.err)
			}
			if text := a.progress.text(); ok && !strings.HasPrefix(prompt, text) {
				r.broken("the progress of %q is %q", prompt, text)
			}
		})
	}
	asks.Wait()
}

func checkConversation(r *run) {
	d := r.start(Script{End: EndAnswer, Count: true})
	if !d.Info().Conversational {
		a, ok := r.ask(d, delegate.Request{Prompt: "hi", Conversation: "thread-1"})
		if ok {
			r.fails(a.err, "Ask with a conversation key", delegate.KindRefused)
		}
		r.untouched("a refused Ask")
		return
	}
	r.counts(d, []counted{{"thread-1", "", "1"}, {"thread-1", "", "2"}, {"thread-2", "", "1"}, {"", "", "1"}, {"", "", "1"}, {"thread-1", "", "3"}})
}

// checkEpoch: a thread whose history was erased is asked in another epoch.
func checkEpoch(r *run) {
	d := r.start(Script{End: EndAnswer, Count: true})
	if d.Info().Conversational {
		r.counts(d, []counted{{"thread-1", "1", "1"}, {"thread-1", "1", "2"}, {"thread-1", "2", "1"}, {"thread-1", "2", "2"}})
	}
}

// counted is one message of a conversation, and which one of it the peer is to see.
type counted struct{ key, epoch, want string }

func (r *run) counts(d delegate.Delegate, steps []counted) {
	for _, step := range steps {
		a, ok := r.ask(d, delegate.Request{Prompt: "hi", Conversation: step.key, Epoch: step.epoch})
		if !ok {
			return
		}
		if a.err != nil || a.reply.Text != step.want {
			r.broken("with key %q in epoch %q the peer saw message %q of its conversation (%v), want %s", step.key, step.epoch, a.reply.Text, a.err, step.want)
		}
		if a.reply.NewConversation {
			r.broken("with key %q the reply says that a conversation was lost; none was", step.key)
		}
	}
}

func checkConversationLost(r *run) {
	d := r.start(Script{End: EndAnswer, Echo: true, Forget: true})
	if !d.Info().Conversational {
		return
	}
	for i, lost := range []bool{false, true, true} {
		prompt := fmt.Sprintf("question %d", i)
		a, ok := r.ask(d, delegate.Request{Prompt: prompt, Conversation: "thread-1"})
		if !ok {
			return
		}
		if a.err != nil || a.reply.Text != prompt || a.reply.NewConversation != lost {
			r.broken("ask %d of a peer that forgets returned %q, new conversation %v, %v; want its answer, and %v", i, a.reply.Text, a.reply.NewConversation, a.err, lost)
		}
	}
}

func checkPreamble(r *run) {
	const preamble, prompt = "Your part:\n<room-instructions>\nDoubt everything.\n</room-instructions>", "is it \"safe\"?"
	d := r.start(Script{End: EndAnswer, Pieces: pieces("yes"), Preamble: preamble})
	asks := []struct{ conversation, want string }{{"", preamble + "\n\n" + prompt}, {"", preamble + "\n\n" + prompt}}
	if d.Info().Conversational {
		asks = append(asks, []struct{ conversation, want string }{
			{"thread-1", preamble + "\n\n" + prompt}, {"thread-1", prompt}, {"thread-2", preamble + "\n\n" + prompt}, {"thread-1", prompt}}...)
	}
	for i, of := range asks {
		a, ok := r.ask(d, delegate.Request{Prompt: prompt, Conversation: of.conversation})
		if !ok {
			return
		}
		m, ok := r.message(a)
		if !ok {
			return
		}
		if a.err != nil || m.Prompt != of.want {
			r.broken("message %d, conversation %q: the peer was sent %q instead of %q, %v", i+1, of.conversation, m.Prompt, of.want, a.err)
		}
	}
}

func checkPause(r *run) {
	const said, question = "Two builds broke.", "Which one do you mean?"
	d := r.start(Script{End: EndAsk, Pieces: pieces(said), Words: question})
	if !d.Info().Resumable {
		return
	}
	a, ok := r.ask(d, delegate.Request{Prompt: "what broke?"})
	if !ok {
		return
	}
	if a.err != nil || !a.reply.Paused || a.reply.Task == "" || !strings.HasPrefix(a.reply.Text, "⏸") {
		r.broken("Ask = %q, paused %v, task %q, %v", a.reply.Text, a.reply.Paused, a.reply.Task, a.err)
	}
	for _, words := range []string{said, question} {
		if !strings.Contains(a.reply.Text, words) {
			r.broken("the reply %q is without %q", a.reply.Text, words)
		}
	}
}

func checkSilentPause(r *run) {
	const said = "The build broke in main.go:17."
	d := r.start(Script{End: EndAsk, Pieces: pieces(said)})
	if !d.Info().Resumable {
		return
	}
	a, ok := r.ask(d, delegate.Request{Prompt: "what broke?"})
	if ok && (a.err != nil || !strings.Contains(a.reply.Text, said)) {
		r.broken("Ask = %q, %v; the peer said %q", a.reply.Text, a.err, said)
	}
}

func checkResume(r *run) {
	d := r.start(Script{End: EndAnswer, Pieces: pieces("hello")})
	if d.Info().Resumable {
		return // what resuming means is the protocol's own matter
	}
	a, ok := r.ask(d, delegate.Request{Prompt: "hi", ResumeTask: "task-1"})
	if ok {
		r.fails(a.err, "Ask with a task", delegate.KindRefused)
	}
	r.untouched("a refused Ask")
}

func checkProgress(r *run) {
	d := r.start(Script{End: EndAnswer, Pieces: pieces("one ", "two ", "three ", "four")})
	a, ok := r.ask(d, delegate.Request{Prompt: "count"})
	if !ok {
		return
	}
	if a.err != nil || a.reply.Text != "one two three four" {
		r.broken("Ask = %q, %v", a.reply.Text, a.err)
		return
	}
	text := a.progress.text()
	if !strings.HasPrefix(a.reply.Text, text) {
		r.broken("the reported text is %q, the answer %q", text, a.reply.Text)
	}
	if r.Streams && text == "" {
		r.broken("nothing of the answer was reported while it came")
	}
}
