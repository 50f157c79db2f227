package acpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/acpserver"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/runs"
	"github.com/langrooms/langrooms/thread"
)

func Example() {
	ctx, store := context.Background(), memorysaver.New()
	defer store.Close()
	manager, err := runs.New(runs.Config{Saver: store,
		Turn: func(_ context.Context, _ runs.Run, in runs.Input, _ runs.Feed) (langrooms.Result, error) {
			return langrooms.Result{Text: "an answer to " + in.Text}, nil
		}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer manager.Close()
	if _, err := thread.Make(ctx, store, "main", thread.Caller{Name: "ada"}, nil); err != nil {
		fmt.Println(err)
		return
	}
	agent, err := acpserver.New(acpserver.Config{Saver: store, Runs: manager, Caller: thread.Caller{Name: "ada"},
		Who: func() string { return "nobody" }})
	if err != nil {
		fmt.Println(err)
		return
	}
	in, toAgent := io.Pipe() // an editor has the agent's standard input and output
	fromAgent, out := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- agent.Serve(ctx, in, out) }()
	fmt.Fprintln(toAgent, `{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"main","prompt":[{"type":"text","text":"what broke?"}]}}`)
	lines := bufio.NewScanner(fromAgent)
	for range 2 {
		lines.Scan()
		var m struct {
			Params struct {
				Update struct{ Content struct{ Text string } }
			}
			Result struct{ StopReason string }
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			fmt.Println(err)
		}
		fmt.Println(m.Params.Update.Content.Text + m.Result.StopReason)
	}
	toAgent.Close()
	fmt.Println(<-served)
	// Output:
	// an answer to what broke?
	// end_turn
	// <nil>
}
