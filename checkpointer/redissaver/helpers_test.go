package redissaver_test

import (
	"fmt"
	"iter"

	"github.com/langrooms/langrooms/checkpointer/checkpointertest"
)

func ptr[T any](v T) *T { return &v }

// drain reads seq to its end and reports an error or another number than want.
func drain[T any](seq iter.Seq2[T, error], want int) error {
	n := 0
	for _, err := range seq {
		if err != nil {
			return err
		}
		n++
	}
	if n != want {
		return fmt.Errorf("%d came, want %d", n, want)
	}
	return nil
}

// abilities are all.
var abilities = checkpointertest.AllAbilities()
