package roomnode_test

import (
	"context"
	"fmt"
	"log"

	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/delegate/openaiagent"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/nodes/roomnode"
)

func Example() {
	store := memorysaver.New() // or sqlitesaver.Open, redissaver.Open
	defer store.Close()
	oracle, err := openaiagent.New(openaiagent.Config{Name: "oracle", URL: endpoint(), Model: "demo"})
	if err != nil {
		log.Fatal(err)
	}
	roster, err := delegate.NewRegistry(oracle)
	if err != nil {
		log.Fatal(err)
	}
	live := delegate.NewLive(roster)
	defer live.Close()
	room, err := roomnode.New(roomnode.Config{Saver: store, Room: exchange.RoomOf(live)})
	if err != nil {
		log.Fatal(err)
	}

	for _, text := range []string{"@oracle what broke the build?", "@orcle and now?", "so what did they decide?"} {
		result, err := room.Handle(context.Background(), roomnode.Turn{Thread: "main", Text: text})
		switch {
		case err != nil:
			log.Fatal(err)
		case result.Handled:
			fmt.Println(result.Text)
		default:
			fmt.Println("(a turn for the lead)")
		}
	}

	// Output:
	// I'd blame auth
	// Unknown or unreachable delegate: @orcle. Available: oracle.
	// Did you mean @oracle?
	// (a turn for the lead)
}
