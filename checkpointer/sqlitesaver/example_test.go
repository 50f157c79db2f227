package sqlitesaver_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/sqlitesaver"
)

func ExampleOpen() {
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)

	ctx := context.Background()
	config := sqlitesaver.Config{Path: filepath.Join(folder, "langrooms.db")}
	say := func(texts ...string) error {
		s, err := sqlitesaver.Open(ctx, config)
		if err != nil {
			return err
		}
		defer s.Close()
		lease, err := s.Lock(ctx, "main") // the thread is ours, also against other processes
		if err != nil {
			return err
		}
		defer lease.Release()
		newest, messages, err := s.Snapshot(lease.Context(), checkpointer.Ref{Thread: "main"}, checkpointer.Range{})
		for _, m := range messages {
			fmt.Println(m.Seq, m.Text())
		}
		fmt.Println("length", newest.Length, "error", err)
		parent := checkpointer.Ref{Thread: "main", ID: newest.Ref.ID}
		for _, text := range texts {
			step := checkpointer.Step{Log: checkpointer.Append(langrooms.NewMessage(langrooms.RoleHuman, text))}
			if parent, err = s.Put(lease.Context(), parent, step); err != nil {
				return err
			}
		}
		return nil
	}
	for _, err := range []error{say("hello", "again"), say()} {
		if err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// length 0 error snapshot of thread "main": checkpoint "" in namespace "": not found
	// 0 hello
	// 1 again
	// length 2 error <nil>
}
