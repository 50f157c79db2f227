package setup_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/langrooms/langrooms/setup"
)

func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "langgraph-config.yaml")
	err = os.WriteFile(path, []byte(`
identity: { name: vera }
checkpointer: { url: "memory:" }
room: { max_rounds: 99 }
delegates:
  - { name: scout, type: a2a, url: "https://scout.example.com/a2a" }
`), 0o600)
	if err != nil {
		fmt.Println(err)
		return
	}
	app, err := setup.Open(context.Background(), setup.Options{Path: path, Required: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer app.Close()
	room, release := app.Room()
	defer release()
	fmt.Println(room.Lead, room.Roster.Names(), room.MaxRounds)
	// Output: vera [scout] 10
}
