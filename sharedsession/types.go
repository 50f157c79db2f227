package sharedsession

import "time"

// Kind is what a member is.
type Kind string

// The kinds of members. A user called proto is not the agent proto (spec 1.2).
const (
	User  Kind = "user"
	Agent Kind = "agent"
)

// Party is one identity.
type Party struct {
	Kind Kind   `json:"kind"`
	Name string `json:"name"`
}

// shown is a party's name in a line of the room's own.
func (p Party) shown() string {
	if p.Kind == Agent {
		return "@" + p.Name
	}
	return p.Name
}

// Caller is who asks (spec 1). It comes from the credential, never from what is sent.
type Caller struct {
	Party
	// Admin users may read and manage every room.
	Admin bool
	// Agents are those that the caller reaches; nil means all on the roster.
	Agents []string
	// Owner is the user that an agent acts for; it becomes moderator of what the agent
	// creates.
	Owner string
}

// Role is what a member may do (spec 6).
type Role string

// The roles.
const (
	Moderator Role = "moderator"
	Member    Role = "member"
	Observer  Role = "observer"
	Scribe    Role = "scribe"
)

// Status says whether a room takes messages.
type Status string

// The statuses.
const (
	Open   Status = "open"
	Closed Status = "closed"
)

// State is how far a turn has come.
type State string

// The states of a turn. The first two are those of turns that are not over.
const (
	Queued  State = "queued"
	Running State = "running"
	Done    State = "done"
	Passed  State = "passed"
	Failed  State = "failed"
	Stopped State = "stopped"
	Dropped State = "dropped"
)

// Why a room closes by itself, and the reason of a close that gives none (spec 5).
const (
	ReasonUser     = "user_closed"
	ReasonMessages = "max_messages"
	ReasonCost     = "max_cost"
	ReasonExpired  = "expired"
)

// Room is a room as its reader sees it (spec 7). Absent values are null.
type Room struct {
	ID               string     `json:"id"`
	Name             string     `json:"name"`
	Topic            *string    `json:"topic"`
	Status           Status     `json:"status"`
	StopReason       *string    `json:"stop_reason"`
	CreatedAt        time.Time  `json:"created_at"`
	CreatedBy        Party      `json:"created_by"`
	ClosedAt         *time.Time `json:"closed_at"`
	ExpiresAt        *time.Time `json:"expires_at"`
	LastMessageAt    *time.Time `json:"last_message_at"`
	MaxMessages      int        `json:"max_messages"`
	MaxCostUSD       *float64   `json:"max_cost_usd"`
	TTLHours         float64    `json:"ttl_hours"`
	MessageCount     int        `json:"message_count"`
	CostUSD          float64    `json:"cost_usd"`
	CostKnown        bool       `json:"cost_known"`
	BudgetUsed       float64    `json:"budget_used"`
	HeadSeq          int64      `json:"head_seq"`
	ParticipantCount int        `json:"participant_count"`
	Agents           []string   `json:"agents"`
	Role             *Role      `json:"role"`
	Unread           int        `json:"unread"`
	UnreadMentions   int        `json:"unread_mentions"`
	Summary          *string    `json:"summary"`
}

// Detail is a room that one has asked for.
type Detail struct {
	Room
	Participants []Participant `json:"participants"`
	Messages     []Message     `json:"messages"`
	HasMore      bool          `json:"has_more"`
	Working      []Working     `json:"working"`
}

// Participant is one who is, or was, in a room.
type Participant struct {
	Party
	Role     Role       `json:"role"`
	JoinedAt time.Time  `json:"joined_at"`
	LeftAt   *time.Time `json:"left_at"`
	ReadSeq  int64      `json:"read_seq"`
}

// MessageKind tells what somebody said from the room's own lines.
type MessageKind string

// The kinds of messages.
const (
	Said   MessageKind = "message"
	System MessageKind = "system"
)

// Message is one message of a room's transcript.
type Message struct {
	Seq       int64       `json:"seq"`
	ID        string      `json:"id"`
	Kind      MessageKind `json:"kind"`
	Sender    *Party      `json:"sender"`
	Content   string      `json:"content"`
	Mentions  []string    `json:"mentions"`
	CreatedAt time.Time   `json:"created_at"`
	// Wake is the turn that the message came of, InReplyTo the seq that caused the turn.
	Wake      *string  `json:"wake"`
	InReplyTo *int64   `json:"in_reply_to"`
	CostUSD   *float64 `json:"cost_usd"`
	Late      bool     `json:"late"`
	Failed    bool     `json:"failed"`
}

// Working is a turn that waits or runs.
type Working struct {
	Wake  string    `json:"wake"`
	Agent string    `json:"agent"`
	State State     `json:"state"`
	Since time.Time `json:"since"`
}

// Wake is a turn of an agent and how far it has come.
type Wake struct {
	ID    string `json:"id"`
	Agent string `json:"agent"`
	State State  `json:"state"`
}

// Posted is the answer to a post.
type Posted struct {
	RoomID   string   `json:"room_id"`
	Seq      int64    `json:"seq"`
	Mentions []string `json:"mentions"`
	Wakes    []Wake   `json:"wakes"`
	// Unresolved are mentions that named nobody, Added the agents that the post seated.
	Unresolved []string `json:"unresolved"`
	Added      []string `json:"added"`
	Replayed   bool     `json:"replayed"`
	// Messages is what the chain wrote, after a post that was waited for.
	Messages []Message `json:"messages,omitzero"`
}

// Closing is the answer to a close.
type Closing struct {
	RoomID        string `json:"room_id"`
	Closed        bool   `json:"closed"`
	AlreadyClosed bool   `json:"already_closed"`
	StopReason    string `json:"stop_reason"`
}

// Listing is a page of rooms, newest activity first.
type Listing struct {
	Rooms []Room `json:"rooms"`
	// Next is the cursor of the next page.
	Next *string `json:"next"`
}
