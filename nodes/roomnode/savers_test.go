package roomnode_test

import (
	"testing"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
)

// savers are the stores that every transcript is played on.
var savers = map[string]func(t *testing.T) checkpointer.Saver{
	"memory": func(t *testing.T) checkpointer.Saver { return kept(t, memorysaver.New()) },
}

func kept(t *testing.T, s checkpointer.Saver) checkpointer.Saver {
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &forgetful{Saver: s}
}
