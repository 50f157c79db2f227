package main

import (
	"context"
	"strings"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/delegate"
)

const (
	// titleWithin is how many of a thread's first messages are looked at for its title.
	titleWithin = 5
	// titleRunes bounds a title.
	titleRunes = 60
)

// titleOf names a thread by the first words of its operator, without the names in front of them;
// empty where there are none, or where they were said off the record. What cannot be read has no title.
func titleOf(ctx context.Context, saver checkpointer.Saver, thread string) string {
	for m, err := range saver.Messages(ctx, checkpointer.Ref{Thread: thread}, checkpointer.Range{Limit: checkpointer.N(titleWithin)}) {
		if err != nil {
			return ""
		}
		said := m.Role == langrooms.RoleHuman && (m.Stamp == nil || m.Stamp.From == langrooms.Operator)
		text := strings.Join(strings.Fields(m.Text()), " ")
		if !said || text == "" {
			continue
		}
		if m.Stamp != nil && m.Stamp.Incognito {
			return ""
		}
		return delegate.OneLine(text, titleRunes)
	}
	return ""
}
