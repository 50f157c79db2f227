package exchange

import (
	"context"
	"slices"

	"github.com/langrooms/langrooms"
)

// Parked returns the peer's id of the newest task of member that still waits for an answer to
// its question, by what the thread says; empty when none does. An ordinary message to the
// member leaves it waiting (spec: rooms, 7.6).
func (t *Turn) Parked(ctx context.Context, member string) (task string, err error) {
	ended := map[string]bool{} // exchanges in which the member was heard, and tasks that were answered in one
	for m, err := range t.view().NewestFirst(ctx, parkedPage) {
		if err != nil {
			return "", err
		}
		s := m.Stamp
		switch {
		case s == nil || s.From != member && !slices.Contains(s.To, member):
		case len(s.To) > 0:
			ended[s.Task] = ended[s.Task] || ended[s.Exchange]
		case s.Task != "" && !ended[s.Task]:
			return s.Task, nil
		default:
			ended[s.Exchange] = ended[s.Exchange] || settled(s)
		}
	}
	return "", nil
}

// parkedPage is how many messages are read at a time.
const parkedPage = 100

// settled reports whether a record is what became of the task that its address answered: a
// peer that could not be asked has it still, one that works on it does not wait.
func settled(s *langrooms.Stamp) bool {
	switch s.ErrorKind {
	case langrooms.ErrorUnreachable, langrooms.ErrorRefused, langrooms.ErrorTimeout, langrooms.ErrorProtocol:
		return false
	}
	return !s.ErrorKind.Ours()
}
