package hotreload_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/langrooms/langrooms/hotreload"
)

func Example() {
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "langgraph-config.yaml")
	if err := os.WriteFile(path, []byte("room:\n  max_rounds: 3 # short talks\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}

	file, err := hotreload.Open(context.Background(), hotreload.Options{Path: path})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer file.Close()
	changed := make(chan hotreload.Change, 1)
	cancel := file.Subscribe(func(c hotreload.Change) { changed <- c })
	defer cancel()

	turn := file.Current() // a turn keeps the snapshot it began with
	if err := hotreload.Set(path, "room.max_rounds", "5"); err != nil {
		fmt.Println(err)
		return
	}
	c := <-changed
	fmt.Println(c.Keys, turn.Config.Room.MaxRounds, "->", file.Current().Config.Room.MaxRounds)
	fmt.Println(hotreload.Set(path, "room.max_rounds", "50"))
	data, err := os.ReadFile(path)
	fmt.Print(string(data), err, "\n")
	// Output:
	// [room.max_rounds] 3 -> 5
	// room.max_rounds: above the ceiling: 50 is more than 10
	// room:
	//   max_rounds: 5 # short talks
	// <nil>
}

func ExampleParse() {
	config, findings, err := hotreload.Parse("langgraph-config.yaml", []byte(`
room:
  max_rounds: 99
  catchup_max_msgs: 20
delegates:
  - { name: proto, type: acp, command: proto-agent }
  - { name: scout, type: a2a }
`))
	for _, f := range findings {
		fmt.Println(f)
	}
	fmt.Println(config.Room.MaxRounds, config.Delegates, err)
	// Output:
	// langgraph-config.yaml:3:15: warning: room.max_rounds: 99 is above the ceiling; 10 is used
	// langgraph-config.yaml:4:3: warning: unknown key room.catchup_max_msgs; did you mean room.catchup_max_messages?
	// langgraph-config.yaml:7:5: error: delegate "scout": refused: url is missing
	// 10 [proto (acp)] <nil>
}
