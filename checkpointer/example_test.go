package checkpointer_test

import (
	"context"
	"fmt"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
)

// A put appends, a window reads backwards, a branch copies nothing.
func Example() {
	ctx := context.Background()
	var saver checkpointer.Saver = memorysaver.New()
	defer saver.Close()

	say := func(parent checkpointer.Ref, text string, fork bool) checkpointer.Ref {
		m := langrooms.NewMessage(langrooms.RoleHuman, text)
		ref, err := saver.Put(ctx, parent, checkpointer.Step{Log: checkpointer.Append(m), Fork: fork})
		if err != nil {
			fmt.Println(err)
		}
		return ref
	}
	first := say(checkpointer.Ref{Thread: "main"}, "what broke?", false)
	say(first, "auth did", false)
	branch := say(first, "the cache did", true)

	for m, err := range saver.Messages(ctx, branch, checkpointer.Range{Backward: true, Limit: checkpointer.N(2)}) {
		fmt.Println(m.Seq, m.Text(), err)
	}
	// Output:
	// 1 the cache did <nil>
	// 0 what broke? <nil>
}
