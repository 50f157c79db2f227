package redissaver_test

import (
	"context"
	"fmt"
	"os"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/redissaver"
	"github.com/langrooms/langrooms/internal/redistest"
)

// A turn takes the thread's lease, puts what was said after the newest checkpoint, and
// reads the newest messages together with it.
func Example() {
	url, stop := exampleServer() // in a program: redis://user:password@host/0?prefix=rooms:
	defer stop()
	s, err := redissaver.Open(url)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	if err := s.Ping(context.Background()); err != nil {
		fmt.Println(err)
		return
	}

	lease, err := s.Lock(context.Background(), "main")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer lease.Release()
	ref := checkpointer.Ref{Thread: "main"}
	for _, text := range []string{"what broke the build?", "a missing import"} {
		step := checkpointer.Step{Log: checkpointer.Append(langrooms.NewMessage(langrooms.RoleHuman, text))}
		if ref, err = s.Put(lease.Context(), ref, step); err != nil {
			fmt.Println(err)
			return
		}
	}

	at, messages, err := s.Snapshot(lease.Context(), ref, checkpointer.Range{Backward: true, Limit: checkpointer.N(20)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("length", at.Length)
	for _, m := range messages {
		fmt.Println(m.Seq, m.Text())
	}
	// Output:
	// length 2
	// 1 a missing import
	// 0 what broke the build?
}

// exampleServer runs a server for the example. Where there is none TestMain leaves the
// examples out.
func exampleServer() (url string, stop func()) {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	server, err := redistest.Launch(dir)
	if err != nil {
		panic(err)
	}
	return "redis://" + server.Addr, func() {
		server.Kill()
		os.RemoveAll(dir)
	}
}
