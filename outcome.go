package langrooms

import "time"

// The authors that are not delegates.
const (
	// Operator is the author of what the person at the keyboard says.
	Operator = "operator"
	// Assistant is the author of what the lead says, unless its name is configured.
	Assistant = "assistant"
)

// Outcome is what one dispatch to one member came to.
type Outcome struct {
	Author string `json:"author"`
	// Round is 1-based.
	Round int `json:"round"`
	// OK means that the member answered, with words or silently.
	OK bool `json:"ok"`
	// Silent means that the member passed or had nothing to say in a run of several
	// rounds; nothing was recorded. In a run of one round an answer without text is not
	// silent, and its Reply is empty.
	Silent bool `json:"silent"`
	// Paused means that the member has asked something and waits for the answer: it takes no
	// further part in the run. Reply holds its question and how to go on.
	Paused bool `json:"paused,omitempty"`
	// Reply is the member's words, trimmed at both ends.
	Reply string `json:"reply,omitempty"`
	// Incomplete means that the words were cut short; Reply ends by saying why. One that was
	// stopped while it wrote has Error set besides, and OK not.
	Incomplete bool `json:"incomplete,omitempty"`
	// Files names what came with the reply, each with its type and size; the contents are parts of
	// its record.
	Files []string `json:"files,omitempty"`
	// NewConversation means that the peer had forgotten the conversation that was to be
	// continued and began a new one with this dispatch.
	NewConversation bool `json:"new_conversation,omitempty"`
	// Error is the cause of a failure without the delegate's name, in words, and ErrorKind its
	// kind. StoppedBy is who stopped it, where that was not the operator.
	Error     string    `json:"error,omitempty"`
	ErrorKind ErrorKind `json:"error_kind,omitempty"`
	StoppedBy string    `json:"stopped_by,omitempty"`
	// Task is the peer's id of the work that may still be going on after a failure, or of a
	// paused task.
	Task string `json:"task,omitempty"`
	// CaughtUp is the number of messages in the window that the member was shown, and
	// Truncated says that something was left out of it. Compacted says that this is the
	// messages which a compaction has replaced, and that the window holds their summary.
	CaughtUp  int  `json:"caught_up"`
	Truncated bool `json:"truncated"`
	Compacted bool `json:"compacted,omitempty"`
	// Collecting means that the member's answer is still being waited for in the
	// background.
	Collecting bool `json:"collecting"`
	// Kept means that nobody waits for the member's answer now, but that it is looked for
	// when the thread is next taken up.
	Kept     bool          `json:"kept,omitempty"`
	Started  time.Time     `json:"started"`
	Duration time.Duration `json:"duration_ns"`
	// Usage is what the answer cost; nil when nothing of it is known. A pass has its cost too.
	Usage *Usage `json:"usage,omitempty"`
	// Unrecorded means that the reply, although shown, could not be stored, for
	// UnrecordedCause.
	Unrecorded      bool   `json:"unrecorded,omitempty"`
	UnrecordedCause string `json:"unrecorded_cause,omitempty"`
}

// Reason says how a run ended, not whether anybody answered: that is in its outcomes.
type Reason string

// How a run can end.
const (
	// ReasonAnswered: a run of one round, also when its asks failed; [Outcome.OK] says
	// who answered.
	ReasonAnswered Reason = "answered"
	// ReasonSettled: a whole round was silent.
	ReasonSettled Reason = "settled"
	// ReasonCapped: the round cap was reached while members still spoke.
	ReasonCapped Reason = "capped"
	// ReasonExhausted: fewer than two members were left.
	ReasonExhausted Reason = "exhausted"
	// ReasonStopped: the run was stopped; [Result.Stopped] says by what.
	ReasonStopped Reason = "stopped"
	// ReasonMaxCost: the message has cost what it may, room.max_cost_usd; who had not been
	// asked by then was not asked.
	ReasonMaxCost Reason = "max_cost"
	// ReasonUnknown: the address names nobody on the roster. Nobody was asked and nothing
	// was recorded.
	ReasonUnknown Reason = "unknown_delegate"
	// ReasonNotWaiting: whom an answer is for waits for none. Nobody was asked and nothing was
	// recorded.
	ReasonNotWaiting Reason = "not_waiting"
	// ReasonNoMessage: the address has no message. Nobody was asked and nothing was recorded.
	ReasonNoMessage Reason = "no_message"
)

// Notes are what the room itself has to say about a run.
type Notes struct {
	// Group is "all" or "others" where the address named one, Meant whom it was taken for, and Left
	// how many of these were not asked because they are too many.
	Group string   `json:"group,omitempty"`
	Meant []string `json:"meant,omitempty"`
	Left  int      `json:"left,omitempty"`
	// Truncated names the members that answered with words on a clipped window.
	Truncated []string `json:"truncated,omitempty"`
	// Compacted names those of them that lacked nothing but what a compaction has replaced.
	Compacted []string `json:"compacted,omitempty"`
	// Paused names the members that wait for an answer to a question of theirs.
	Paused []string `json:"paused,omitempty"`
	// Collecting names the members whose late answer is waited for.
	Collecting []string `json:"collecting,omitempty"`
	// Kept names the members whose late answer the next process on the thread takes up.
	Kept []string `json:"kept,omitempty"`
	// Cap is the round cap that stopped an unsettled room; 0 when none did.
	Cap int `json:"cap,omitempty"`
	// Cost is what the message had cost, in US dollars, when that kept members from being
	// asked, and MaxCost the bound that it had reached; 0 when none did.
	Cost    float64 `json:"cost_usd,omitempty"`
	MaxCost float64 `json:"max_cost_usd,omitempty"`
	// NewConversation names the members whose peers had forgotten the conversation.
	NewConversation []string `json:"new_conversation,omitempty"`
	// Unrecorded names the members whose words could not be stored.
	Unrecorded []string `json:"unrecorded,omitempty"`
	// Interrupted names the members whose dispatch an earlier, dead process left open
	// on this thread and that this turn recorded as failed.
	Interrupted []string `json:"interrupted,omitempty"`
}

// Result is what one turn came to, for the person who took it.
type Result struct {
	Thread string `json:"thread"`
	// Handled is true when no lead turn ran: an address, the roster answer, the usage
	// hint.
	Handled  bool   `json:"handled"`
	Exchange string `json:"exchange,omitempty"`
	Reason   Reason `json:"reason,omitempty"`
	// Stopped says why a turn was stopped; nil when it was not.
	Stopped *Stop `json:"stopped,omitempty"`
	// Text is the whole visible answer.
	Text string `json:"text"`
	// Aside is the part of Text that nobody said: notes, the roster answer, the usage hint,
	// who answered without text. Where there are outcomes, their replies and errors and
	// Aside are the whole of Text: a client that draws each outcome as its own bubble shows
	// Aside beside the bubbles and leaves Text alone. Without outcomes Text is to be shown.
	Aside    string    `json:"aside,omitempty"`
	Notes    Notes     `json:"notes,omitzero"`
	Outcomes []Outcome `json:"outcomes,omitempty"`
	// Spent is what the turn cost, the lead's own answers and passes included; nil when
	// nothing of it is known.
	Spent *Spending `json:"spent,omitempty"`
}
