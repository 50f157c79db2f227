package delegate

import (
	"context"
	"time"

	"github.com/langrooms/langrooms"
)

// Delegate is one agent that a room can reach.
//
// What a peer sends is hostile until parsed: an implementation bounds what it reads,
// hands out valid UTF-8 only, and never puts a secret into a reply, an error or a
// progress report.
type Delegate interface {
	// Info describes the delegate; it never changes and does no I/O.
	Info() Info

	// Ask sends one message and waits for the answer. It returns when the peer has
	// answered, has failed, or when ctx ends; in the last case the peer is told to stop
	// where the protocol can say so, and the error has kind KindCanceled. Every error
	// is an *Error. Progress is reported through req.Progress, one call at a time, never
	// after Ask has returned. After Close the error has kind KindUnreachable.
	Ask(ctx context.Context, req Request) (Reply, error)

	// Probe asks the peer who it is and opens what a message needs, at no cost there: no
	// model call. A peer that does not answer, or that would not take a message, is an
	// *Error.
	Probe(ctx context.Context) (Health, error)

	// Close ends every process, connection and goroutine of the delegate and waits for
	// them. Running Asks end with an error. Idempotent.
	Close() error
}

// Info describes a roster entry.
type Info struct {
	// Name is the roster's spelling.
	Name string
	// Type is a short word for the protocol, shown to people; the built-in ones are "a2a",
	// "acp" and "openai".
	Type        string
	Description string
	// Conversational says that a conversation key is accepted. A delegate without it
	// refuses one, with an error of kind KindRefused that says why.
	Conversational bool
	// Resumable says that ResumeTask is accepted.
	Resumable bool
	// OwnReplies says that it wants to be shown its own replies with what it has missed,
	// because it keeps no conversation.
	OwnReplies bool
}

// Request is one message to a delegate.
type Request struct {
	// Prompt is the whole text to send.
	Prompt string
	// Conversation is the key of the conversation that this message continues, the
	// thread id; empty opens one of its own.
	Conversation string
	// Epoch is the life of the thread's history that the message belongs to; see
	// [ContextKey.Epoch]. It means nothing without Conversation.
	Epoch string
	// Opening returns the text to send in place of Prompt when the conversation turns out
	// to begin anew at the peer, which then knows nothing of what Prompt takes for known;
	// nil means Prompt. It is called once at most, before Ask returns.
	Opening func(context.Context) (string, error)
	// Files go with the prompt. What the peer does not take is named there; see [Request.Part].
	Files []File
	// ResumeTask is the id of a parked or running task at the peer to carry on with.
	ResumeTask string
	// Timeout is a hard wall clock for this call; 0 means the delegate's configured bound.
	Timeout time.Duration
	// Progress receives reports while the peer works; nil drops them.
	Progress func(langrooms.Progress)
	// Permission decides what the peer asks for leave to do, where the delegate is
	// configured to ask; nil, or an end of its context, refuses. Calls may overlap; none
	// goes on after Ask has returned, so it must return when its context ends.
	Permission func(context.Context, PermissionRequest) PermissionAnswer
}

// Opened puts preamble in front of the first prompt of a conversation, with a blank line between;
// an empty one changes nothing.
func Opened(preamble, prompt string) string {
	if preamble == "" {
		return prompt
	}
	return preamble + "\n\n" + prompt
}

// Reply is a delegate's answer.
type Reply struct {
	// Text is the answer, as the peer gave it.
	Text string
	// Paused means that the peer's task waits for input; Text then says so and how to
	// resume (it starts with "⏸").
	Paused bool
	// Incomplete, when set, says why the answer was cut short.
	Incomplete string
	// NewConversation says that the peer no longer had the conversation that was to be
	// continued, so that this answer is the first of a new one: the peer knows nothing of
	// what was said before.
	NewConversation bool
	// Task is the peer's id of the work, if it has one.
	Task  string
	Usage *langrooms.Usage
	// Files are what the peer returned beside its text, which names them; see [Received].
	Files []langrooms.Part
}

// Health is what a probe found.
type Health struct {
	Latency time.Duration
	// Version is the peer's own version, Protocol the one spoken with it ("A2A 1.0",
	// "ACP 1"); either may be empty.
	Version  string
	Protocol string
}
