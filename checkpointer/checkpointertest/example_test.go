package checkpointertest_test

import (
	"fmt"
	"testing"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/checkpointertest"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
)

// A store's own test file needs no more than this.
func TestExampleOfUse(t *testing.T) {
	open := func(t testing.TB) checkpointer.Saver {
		s := memorysaver.New()
		t.Cleanup(func() { s.Close() })
		return s
	}
	checkpointertest.Run(t, open, checkpointertest.Config{
		Abilities: []checkpointertest.Ability{checkpointertest.Snapshotter},
	})
}

// The ids that the suite uses also serve other packages' tests.
func ExampleHostileIDs() {
	for _, id := range checkpointertest.HostileIDs()[:4] {
		fmt.Printf("%q\n", id)
	}
	// Output:
	// "*"
	// "?"
	// "[a]"
	// "a"
}
