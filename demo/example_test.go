package demo_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/langrooms/langrooms/demo"
)

// The oracle over the OpenAI-compatible protocol, as any client of it would ask.
func ExampleStart() {
	ctx := context.Background()
	peers, err := demo.Start(ctx, ".")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer peers.Close()

	url, ok := peers.Resolve("oracle", "openai")
	fmt.Println("served:", ok)
	body := []byte(`{"model": "oracle", "messages": [{"role": "user", "content": "Who has the release?"}]}`)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		fmt.Println(err)
		return
	}
	req.Header.Set("Authorization", "Bearer "+peers.Key())
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	var answer struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Choices[0].Message.Content)
	// Output:
	// served: true
	// I have been shown nothing but your question, so I have no answer to it.
	// (I am a demo agent: I only know what I was shown here.)
}
