package runs_test

import (
	"context"
	"fmt"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/runs"
)

func Example() {
	store := memorysaver.New()
	defer store.Close()
	m, err := runs.New(runs.Config{Saver: store,
		Turn: func(_ context.Context, _ runs.Run, in runs.Input, feed runs.Feed) (langrooms.Result, error) {
			feed.Events.Emit(langrooms.Event{Type: langrooms.EventProgress,
				Progress: &langrooms.Progress{Kind: langrooms.ProgressText, Text: "let me see"}})
			return langrooms.Result{Text: "an answer to " + in.Text}, nil
		}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()
	ctx := context.Background()
	run, err := m.Accept(ctx, runs.Request{Thread: "main", Input: runs.Input{Text: "what broke?"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for e, err := range m.Events(ctx, run.Thread, run.ID, 0) { // now, or later, or in another process
		switch {
		case err != nil:
			fmt.Println(err)
		case e.Turn != nil:
			fmt.Println(e.Turn.Progress.Text)
		case e.Result != nil:
			fmt.Println(e.Result.Text)
		default:
			fmt.Println(e.Status)
		}
	}
	// Output:
	// running
	// let me see
	// an answer to what broke?
	// success
}
