package a2aserver_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"

	"github.com/langrooms/langrooms/a2aserver"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/runs"
)

func Example() {
	ctx, store := context.Background(), memorysaver.New()
	defer store.Close()
	manager, err := runs.New(runs.Config{Saver: store, Turn: turn(store)}) // "@proto …" is answered by proto
	if err != nil {
		fmt.Println(err)
		return
	}
	defer manager.Close()
	room, err := a2aserver.New(a2aserver.Config{Saver: store, Runs: manager, Members: func() []a2aserver.Member { return nil }})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer room.Close()
	web := httptest.NewServer(room)
	defer web.Close()
	client, err := a2aclient.NewFromEndpoints(ctx, []*a2a.AgentInterface{a2a.NewAgentInterface(web.URL+"/a2a", a2a.TransportProtocolJSONRPC)})
	if err != nil {
		fmt.Println(err)
		return
	}
	said := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("@proto what broke?"))
	answer, err := client.SendMessage(ctx, &a2a.SendMessageRequest{Message: said})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range answer.(*a2a.Task).Artifacts {
		fmt.Printf("%s: %s\n", a.Name, a.Parts[0].Text())
	}
	// Output:
	// proto: echo what broke?
	// room: a note
}
