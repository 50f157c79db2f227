package langrooms

// EventType says what happened.
type EventType string

// The events of a turn, in the order in which they can come.
const (
	// EventDispatchStarted: a member is being asked. Text is what the lead asks it, in a
	// delegation of the lead's; empty when the operator addressed it.
	EventDispatchStarted EventType = "dispatch_started"
	// EventProgress: the member works; Progress says what it reported. Without an Exchange
	// it is the lead that works: Member is then the lead's name.
	EventProgress EventType = "progress"
	// EventDispatchEnded: the dispatch is over, by an answer or an error; Outcome is set.
	EventDispatchEnded EventType = "dispatch_ended"
	// EventToolCall: the lead calls a tool; Text is the tool's name.
	EventToolCall EventType = "tool_call"
	// EventLeadText: the lead has said Text beside a tool call, and goes on. Its progress has
	// said the same before, where the model streams.
	EventLeadText EventType = "lead_text"
	// EventMessage: a message has landed on the thread outside of a turn, such as a
	// late answer; Message is set.
	EventMessage EventType = "message"
	// EventQuestion: the member asks a person's leave and waits; Question is set. Only in turns
	// whose surface can ask.
	EventQuestion EventType = "question"
	// EventAnswered: a question has its answer, or is not open any more; Question has its ID,
	// Answer and By.
	EventAnswered EventType = "answered"
	// EventNotice: the program has something to tell the operator; Text is set.
	EventNotice EventType = "notice"
)

// Event is one thing that happened in a turn. Events of one turn arrive in order and
// one at a time.
type Event struct {
	Type     EventType `json:"type"`
	Thread   string    `json:"thread,omitempty"`
	Exchange string    `json:"exchange,omitempty"`
	Member   string    `json:"member,omitempty"`
	Round    int       `json:"round,omitempty"`
	Text     string    `json:"text,omitempty"`
	Progress *Progress `json:"progress,omitempty"`
	Outcome  *Outcome  `json:"outcome,omitempty"`
	Message  *Message  `json:"message,omitempty"`
	Question *Question `json:"question,omitempty"`
	// MessageID, on the events of a dispatch, is the id under which its record is stored; on
	// the lead's, that of its message.
	MessageID string `json:"message_id,omitempty"`
}

// Question is what a member asks a person's leave for. Its texts are the member's: one line
// each, bounded.
type Question struct {
	ID string `json:"id"`
	// Title says what the member wants to do, Kind is its protocol's word for the kind of it
	// ("execute", "edit").
	Title string `json:"title,omitempty"`
	Kind  string `json:"kind,omitempty"`
	// Choices are the answers that can be given.
	Choices []string `json:"choices,omitempty"`
	// Answer is what was answered, and By who did.
	Answer string `json:"answer,omitempty"`
	By     string `json:"by,omitempty"`
}

// ProgressKind says what a delegate reports while it works.
type ProgressKind string

// What can be reported.
const (
	// ProgressText: a piece of the answer, partial and not yet stored.
	ProgressText ProgressKind = "text"
	// ProgressThought: a piece of the delegate's reasoning; no part of the answer.
	ProgressThought ProgressKind = "thought"
	// ProgressTool: a tool call of the delegate's own; Text is its title, State its state.
	ProgressTool ProgressKind = "tool"
	// ProgressPlan: the delegate's plan, a line an entry.
	ProgressPlan ProgressKind = "plan"
	// ProgressStatus: the delegate's state changed. Of members that are asked side by side one that
	// is done before its turn to be recorded has the State "answered", or the kind of its failure.
	ProgressStatus ProgressKind = "status"
)

// Progress is one report of a delegate that is still working.
type Progress struct {
	Kind  ProgressKind `json:"kind"`
	Text  string       `json:"text,omitempty"`
	State string       `json:"state,omitempty"`
}

// Sink receives events. It must not block for long and must not be called after the
// turn that was given it has returned. A nil Sink drops them.
type Sink func(Event)

// Emit calls s unless it is nil.
func (s Sink) Emit(e Event) {
	if s != nil {
		s(e)
	}
}

// Arrival is a message that has landed on a thread outside of a turn, such as a late
// answer.
type Arrival struct {
	Thread  string
	Message Message
	// Notice, when set, is what the lead is woken with; empty wakes nobody.
	Notice string
	// Missed counts arrivals before this one that were dropped because their reader was too
	// far behind. What they are stands on their threads.
	Missed int
}
