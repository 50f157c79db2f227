package a2aagent_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/delegate/a2aagent"
)

// A peer that answers with a message.
func Example() {
	peer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"jsonrpc":"2.0","id":"1","result":{"message":{"messageId":"m1","role":"ROLE_AGENT","parts":[{"text":"The auth test."}]}}}`)
	}))
	defer peer.Close()

	proto, err := a2aagent.New(a2aagent.Config{Name: "proto", Description: "runs the build", URL: peer.URL + "/a2a"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer proto.Close()
	reply, err := proto.Ask(context.Background(), delegate.Request{Prompt: "what broke the build?"})
	fmt.Println(reply.Text, err)
	// Output: The auth test. <nil>
}
