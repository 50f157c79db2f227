package lifecycle_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/lifecycle"
)

func Example() {
	saver := memorysaver.New()
	defer saver.Close()
	ctx := context.Background()
	threads := &lifecycle.Threads{Saver: saver}
	export := `{"format":"langrooms thread","version":1,"messages":[
		{"id":"m1","time":"2026-01-02T03:04:05Z","role":"human","parts":[{"kind":"text","text":"what broke?"}],"seq":0},
		{"id":"m2","time":"2026-01-02T03:04:09Z","role":"human","parts":[{"kind":"text","text":"auth did"}],"stamp":{"from":"proto","round":1},"seq":1}]}`
	n, err := threads.Import(ctx, "main", strings.NewReader(export))
	fmt.Println("imported", n, err)
	fmt.Println("fork", threads.Fork(ctx, "main", "side", "m1"))
	n, err = threads.Rewind(ctx, "main", "m1")
	fmt.Println("dropped", n, err)
	var page strings.Builder
	err = threads.Export(ctx, "main", lifecycle.Markdown, &page)
	fmt.Print(page.String(), err)
	// Output:
	// imported 2 <nil>
	// fork <nil>
	// dropped 1 <nil>
	// # Thread main
	//
	// **operator** · 2026-01-02T03:04:05Z
	//
	// > what broke?
	// <nil>
}
