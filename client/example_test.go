package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/langrooms/langrooms/client"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/hotreload"
	"github.com/langrooms/langrooms/httpapi"
	"github.com/langrooms/langrooms/thread"
)

func Example() {
	roster, _ := delegate.NewRegistry(voice{})
	live := delegate.NewLive(roster)
	defer live.Close()
	api, _ := httpapi.New(httpapi.Config{Roster: live, InForce: hotreload.Default,
		Who: func(*http.Request) httpapi.Caller { return httpapi.Caller{} }})
	server := httptest.NewServer(api)
	defer server.Close()

	c, _ := client.New(client.Config{URL: server.URL, HTTP: server.Client()})
	delegates, _ := c.Delegates(context.Background())
	fmt.Println(delegates[0].Name, "is", delegates[0].Description)
	_, err := c.Rewind(context.Background(), "main", "m1")
	fmt.Println(err, errors.Is(err, thread.ErrNone))
	// Output:
	// proto is a mirror
	// there is no such thread true
}
