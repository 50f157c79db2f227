package openaiagent_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/delegate/openaiagent"
)

func Example() {
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, piece := range []string{"I'd blame ", "auth"} {
			fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%q}}]}\n\n", piece)
		}
		io.WriteString(w, "data: [DONE]\n\n")
	}))
	defer endpoint.Close()

	oracle, err := openaiagent.New(openaiagent.Config{Name: "oracle", URL: endpoint.URL, Model: "demo"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer oracle.Close()

	reply, err := oracle.Ask(context.Background(), delegate.Request{
		Prompt:   "what broke the build?",
		Progress: func(p langrooms.Progress) { fmt.Printf("%s: %q\n", p.Kind, p.Text) },
	})
	fmt.Println(reply.Text, err)
	_, err = oracle.Ask(context.Background(), delegate.Request{Prompt: "and now?", Conversation: "main"})
	fmt.Println(err)
	// Output:
	// text: "I'd blame "
	// text: "auth"
	// I'd blame auth <nil>
	// Delegate @oracle failed: a chat completions endpoint is stateless: every ask is a fresh completion, so a conversation key would name nothing
}
