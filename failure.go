package langrooms

import (
	"context"
	"errors"
	"strings"
)

// ErrorKind says what kind of failure kept an answer from coming, in a word that is stored and
// shown. Code branches on it, never on the words of a cause (spec: rooms, section 6).
type ErrorKind string

// What a delegate can report.
const (
	// ErrorUnreachable: nothing accepted the message: the peer is not there, or the delegate
	// is closed.
	ErrorUnreachable ErrorKind = "unreachable"
	// ErrorTimeout: the peer accepted the message and gave no answer in time.
	ErrorTimeout ErrorKind = "timeout"
	// ErrorStillRunning: the peer accepted the message and may still be working on it; only
	// our wait has ended.
	ErrorStillRunning ErrorKind = "still_running"
	// ErrorRefused: the peer, or the delegate for it, would not take the message: a 4xx
	// status, a credential, a protocol version, a conversation that it cannot keep.
	ErrorRefused ErrorKind = "refused"
	// ErrorFailed: the peer says that it failed, in the words that are the cause.
	ErrorFailed ErrorKind = "failed"
	// ErrorProtocol: the peer answered with what its protocol does not allow or what is too
	// large to be read.
	ErrorProtocol ErrorKind = "protocol"
	// ErrorCanceled: the peer stopped the work itself. A delegate says it of its context's
	// end too; whoever ended that knows better, see [StopOf].
	ErrorCanceled ErrorKind = "canceled"
)

// What ends an ask from our side; see [ErrorKind.Ours].
const (
	// ErrorStopped: somebody stopped it, the operator unless Outcome.StoppedBy names another.
	ErrorStopped ErrorKind = "stopped"
	// ErrorDisconnected: the client that waited for the answer went away.
	ErrorDisconnected ErrorKind = "disconnected"
	// ErrorDeadline: the time that the caller had for it was up.
	ErrorDeadline ErrorKind = "deadline"
	// ErrorShutdown: the program ended, in order.
	ErrorShutdown ErrorKind = "shutdown"
	// ErrorInterrupted: the process died in the middle of it, or lost the thread to another.
	ErrorInterrupted ErrorKind = "interrupted"
	// ErrorUnasked: the run ended before it was the member's turn.
	ErrorUnasked ErrorKind = "unasked"
)

// Ours reports whether the ask ended from our side, which is no failure of the delegate's.
func (k ErrorKind) Ours() bool {
	switch k {
	case ErrorStopped, ErrorDisconnected, ErrorDeadline, ErrorShutdown, ErrorInterrupted, ErrorUnasked:
		return true
	}
	return false
}

// Stop says why the work under a context was ended: the cause that a caller gives to a
// context.CancelCauseFunc, read again by [StopOf].
type Stop struct {
	Kind ErrorKind `json:"kind"`
	// By is who stopped it, where that was not the operator.
	By string `json:"by,omitempty"`
}

// The causes of those who do not stop it on purpose.
var (
	ErrDisconnected = Stop{Kind: ErrorDisconnected}
	ErrShutdown     = Stop{Kind: ErrorShutdown}
	// ErrHoldLost: another writer has the thread.
	ErrHoldLost = Stop{Kind: ErrorInterrupted}
)

// Error says it in words.
func (s Stop) Error() string {
	switch {
	case s.Kind != ErrorStopped:
		return stopWords[s.Kind]
	case s.By != "":
		return "stopped by " + s.By
	}
	return "stopped by " + "the operator"
}

var stopWords = map[ErrorKind]string{
	ErrorDisconnected: "stopped: the client went away",
	ErrorDeadline:     "stopped: the time for it was up",
	ErrorShutdown:     "stopped: the program ended",
	ErrorInterrupted:  "stopped: the hold on the thread was lost",
}

// Sentence says it as a sentence of its own.
func (s Stop) Sentence() string { return strings.Replace(s.Error(), "stopped", "Stopped", 1) + "." }

// StopOf says why the work under ctx, which has ended, was ended: by the [Stop] that is its
// cause, else by a deadline, else by the operator.
func StopOf(ctx context.Context) Stop {
	var s Stop
	switch cause := context.Cause(ctx); {
	case errors.As(cause, &s):
		return s
	case errors.Is(cause, context.DeadlineExceeded):
		return Stop{Kind: ErrorDeadline}
	}
	return Stop{Kind: ErrorStopped}
}
