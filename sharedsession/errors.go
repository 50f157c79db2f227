package sharedsession

import "errors"

// Error is a refusal: a word that programs branch on, and words for people.
type Error struct {
	Code    string
	Message string
	// StopReason is why the room was closed, of a refusal that says so.
	StopReason string
}

// Error returns the words.
func (e *Error) Error() string { return e.Message }

// Is reports whether target is a refusal of the same code.
func (e *Error) Is(target error) bool {
	var t *Error
	return errors.As(target, &t) && t.Code == e.Code
}

// The refusals, compared by errors.Is. A surface has a status for each code.
var (
	// ErrNotFound is one answer for a room that does not exist and for one that the caller
	// is no member of (spec 1.3).
	ErrNotFound     = &Error{Code: "room_not_found", Message: "there is no such room"}
	ErrClosed       = &Error{Code: "room_closed", Message: "the room is closed"}
	ErrForbidden    = &Error{Code: "forbidden", Message: "your role in this room does not allow this"}
	ErrEmpty        = &Error{Code: "empty_message", Message: "the message is empty"}
	ErrTooLarge     = &Error{Code: "message_too_large", Message: "the message is longer than 8000 characters"}
	ErrInFlight     = &Error{Code: "in_flight", Message: "a post with this idempotency key is being stored"}
	ErrKeyReused    = &Error{Code: "idempotency_key_reused", Message: "this idempotency key belongs to another message"}
	ErrName         = &Error{Code: "invalid_name", Message: "a name has 1 to 200 characters"}
	ErrTopic        = &Error{Code: "invalid_topic", Message: "a topic has at most 2000 characters"}
	ErrBudget       = &Error{Code: "invalid_budget", Message: "max_messages is 1 to 500, max_cost_usd above 0, ttl_hours 0 to 168"}
	ErrExhausted    = &Error{Code: "budget_exhausted", Message: "a room whose budget is used up reopens with a larger one only"}
	ErrNobody       = &Error{Code: "no_participants", Message: "a room needs at least one agent"}
	ErrTooMany      = &Error{Code: "too_many_participants", Message: "a room has at most 12 agents"}
	ErrDuplicate    = &Error{Code: "duplicate_participants", Message: "an agent is named twice"}
	ErrScribe       = &Error{Code: "invalid_scribe", Message: "the scribe is one of the agents"}
	ErrRole         = &Error{Code: "invalid_role", Message: "a role is moderator, member, observer or scribe"}
	ErrParticipant  = &Error{Code: "invalid_participant", Message: "a participant has a kind, agent or user, and a name"}
	ErrAccess       = &Error{Code: "agent_not_accessible", Message: "there is no such agent, or you may not reach it"}
	ErrReason       = &Error{Code: "invalid_reason", Message: "a reason has at most 50 characters"}
	ErrQuery        = &Error{Code: "invalid_query", Message: "a number in the query cannot be used"}
	ErrWakeNotFound = &Error{Code: "wake_not_found", Message: "there is no such turn in this room"}
	ErrNotEnabled   = &Error{Code: "shared_sessions_not_enabled", Message: "shared sessions are not enabled on this instance"}
)

// closedError is ErrClosed with the reason of the close.
func closedError(reason string) *Error {
	return &Error{Code: ErrClosed.Code, Message: "the room is closed: " + reason, StopReason: reason}
}
