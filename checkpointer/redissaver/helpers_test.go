package redissaver_test

import (
	"fmt"
	"iter"
	"time"

	"github.com/langrooms/langrooms/checkpointer/checkpointertest"
)

func ptr[T any](v T) *T { return &v }

// soon says that one of a few runs of do took no longer than most: a machine that stands still
// delays some, a fault delays all.
func soon(most time.Duration, do func()) bool {
	for range 4 {
		began := time.Now()
		if do(); time.Since(began) <= most {
			return true
		}
	}
	return false
}

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
