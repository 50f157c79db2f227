package thread_test

import (
	"context"
	"fmt"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/thread"
)

func Example() {
	saver := memorysaver.New()
	defer saver.Close()
	ctx := context.Background()
	hold, err := thread.Begin(ctx, saver, "main")
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = thread.Try(ctx, saver, "main")
	fmt.Println(err)
	err = hold.Put(thread.Step{
		Source:   "input",
		Messages: []langrooms.Message{langrooms.NewMessage(langrooms.RoleHuman, "hello")},
		Set:      map[string][]byte{"topic": []byte("greetings")},
	})
	fmt.Println(err, hold.Length(), hold.End())

	view, err := thread.Read(ctx, saver, "main") // needs no hold
	fmt.Println(err, view.Next, view.With(langrooms.NewMessage(langrooms.RoleHuman, "not stored yet")).Next)
	// Output:
	// the thread is in use by another writer: "main"
	// <nil> 1 <nil>
	// <nil> 1 2
}
