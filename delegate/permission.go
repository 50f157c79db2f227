package delegate

// PermissionRequest is what a peer asks for leave to do. Its texts are the peer's: one line
// each, bounded, without the delegate's secrets.
type PermissionRequest struct {
	// Delegate is the roster's name of who asks.
	Delegate string
	// Title says what it wants to do, Kind is the protocol's word for the kind of it
	// ("execute", "edit").
	Title string
	Kind  string
	// Options are the answers that the peer offers.
	Options []PermissionOption
}

// PermissionOption is an answer that the peer offers.
type PermissionOption struct {
	ID   string
	Name string
	// Kind is "allow_once", "allow_always", "reject_once" or "reject_always" in ACP.
	Kind string
}

// PermissionAnswer is a person's decision; the zero value refuses.
type PermissionAnswer string

// The answers.
const (
	// PermissionNo refuses.
	PermissionNo PermissionAnswer = ""
	// PermissionNobody refuses because nobody can be asked, which the reply says.
	PermissionNobody PermissionAnswer = "nobody"
	// PermissionOnce allows this one call.
	PermissionOnce PermissionAnswer = "once"
	// PermissionConversation allows this call and, in this conversation, every later one
	// of the same kind and title; nobody is asked again.
	PermissionConversation PermissionAnswer = "conversation"
)
