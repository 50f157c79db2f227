package a2aagent

import (
	"crypto/sha256"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// task is one observation of the peer's work, in the form that both versions share. It
// holds what counts as progress: ids, state, and the content of the status message and the
// artifacts, but no time stamps. What the history says is beside it.
type task struct {
	// bare says that a message came in place of a task: an answer.
	bare      bool
	id        string
	contextID string
	state     a2a.TaskState
	// status is the text of the status message, artifacts the text of all artifacts.
	status, artifacts string
	thought           string // the reasoning among them, which is in neither
	files             [sha256.Size]byte
	// returned are the parts of the answer, for the files among them.
	returned *[]wirePart
	// spent is what the agent says of its cost, which is no progress.
	spent spent
	// said is what the agent says in the history: an answer where it stands nowhere else. It
	// is no progress.
	said string
}

// moved reports whether there is progress since an earlier observation.
func (t task) moved(earlier task) bool {
	t.said, earlier.said = "", ""
	t.spent, earlier.spent = spent{}, spent{}
	t.returned, earlier.returned = nil, nil // files says whether they differ
	return t != earlier
}

// phase is what a state means for the one who waits.
type phase int

const (
	pending phase = iota
	answered
	paused
	failed
)

// phase maps the state. Whatever is not known is pending.
func (t task) phase() phase {
	switch t.state {
	case a2a.TaskStateCompleted:
		return answered
	case a2a.TaskStateInputRequired, a2a.TaskStateAuthRequired:
		return paused
	case a2a.TaskStateFailed, a2a.TaskStateCanceled, a2a.TaskStateRejected:
		return failed
	}
	return pending
}

// words is what a settled task has to say: its artifacts, else its status message, else what
// its history says.
func (t task) words() string {
	for _, text := range []string{t.artifacts, t.status, t.said} {
		if !blank(text) {
			return text
		}
	}
	return ""
}

// follow completes an observation with what an earlier one of the same task said, so that
// a peer that leaves an id out does not look as if something had changed.
func (t task) follow(earlier task) task {
	t.id, t.contextID = first(t.id, earlier.id), first(t.contextID, earlier.contextID)
	return t
}

// digestFiles digests the files that came inline, which are rendered by their size only.
func digestFiles(parts []wirePart) [sha256.Size]byte {
	h := sha256.New()
	for i := range parts {
		_, _, content, _ := parts[i].file()
		h.Write([]byte(content))
	}
	return [sha256.Size]byte(h.Sum(nil))
}
