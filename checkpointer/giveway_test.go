package checkpointer_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/langrooms/langrooms/checkpointer"
)

// A change gives way to other writers, not for ever, and to nothing else.
func TestGiveWay(t *testing.T) {
	conflict := fmt.Errorf("put: %w", checkpointer.ErrConflict)
	for _, tt := range []struct {
		name  string
		lost  int // calls that another writer wins
		last  error
		calls int
		want  error
	}{
		{"first at once", 0, nil, 1, nil},
		{"second twice", 2, nil, 3, nil},
		{"another failure", 1, checkpointer.ErrUnavailable, 2, checkpointer.ErrUnavailable},
		{"never first", 1000, nil, 50, checkpointer.ErrConflict},
	} {
		calls := 0
		err := checkpointer.GiveWay(func() error {
			if calls++; calls <= tt.lost {
				return conflict
			}
			return tt.last
		})
		if calls != tt.calls || !errors.Is(err, tt.want) {
			t.Errorf("%s: %d calls, %v; want %d, %v", tt.name, calls, err, tt.calls, tt.want)
		}
	}
}
