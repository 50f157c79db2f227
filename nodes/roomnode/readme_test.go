package roomnode_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/langrooms/langrooms/checkpointer/sqlitesaver"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/delegate/openaiagent"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/nodes/roomnode"
)

// README:begin

// chat answers messages on one thread: an @name by the delegate, the rest by your own agent.
func chat(ctx context.Context, path, url string, messages []string, own func(string) string) error {
	store, err := sqlitesaver.Open(ctx, sqlitesaver.Config{Path: path})
	if err != nil {
		return err
	}
	defer store.Close()
	oracle, err := openaiagent.New(openaiagent.Config{Name: "oracle", URL: url, Model: "small"})
	if err != nil {
		return err
	}
	registry, err := delegate.NewRegistry(oracle)
	if err != nil {
		return err
	}
	roster := delegate.NewLive(registry) // Swap changes it while turns run
	defer roster.Close()
	room, err := roomnode.New(roomnode.Config{Saver: store, Room: exchange.RoomOf(roster)})
	if err != nil {
		return err
	}
	for _, text := range messages {
		result, err := room.Handle(ctx, roomnode.Turn{Thread: "main", Text: text})
		if err != nil {
			return err
		}
		if !result.Handled { // it addresses nobody, and nothing was written
			result.Text = own(text)
			if err := room.Record(ctx, "main", text, result.Text); err != nil { // so that members see it
				return err
			}
		}
		fmt.Println(result.Text)
	}
	return nil
}

// README:end

// The code that README.md shows.
func Example_embed() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"I'd blame auth.\"}}]}\n\ndata: [DONE]\n\n")
	}))
	defer server.Close()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Panic(err)
	}
	defer os.RemoveAll(dir)
	messages := []string{"@oracle what broke the build?", "@orcle and now?", "so what did they decide?"}
	own := func(string) string { return "(a turn for the lead)" }
	if err := chat(context.Background(), filepath.Join(dir, "rooms.db"), server.URL, messages, own); err != nil {
		log.Panic(err)
	}
	// Output:
	// I'd blame auth.
	// Unknown or unreachable delegate: @orcle. Available: oracle.
	// Did you mean @oracle?
	// (a turn for the lead)
}
