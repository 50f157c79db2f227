package redissaver_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/redissaver"
	"github.com/langrooms/langrooms/internal/redistest"
)

// watching passes on the changes of a thread until the test ends.
func watching(t *testing.T, s *redissaver.Saver, thread string) <-chan checkpointer.Change {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	changes := make(chan checkpointer.Change)
	var watch sync.WaitGroup
	watch.Go(func() {
		for c, err := range s.Watch(ctx, thread) {
			if err != nil {
				t.Error(err)
				return
			}
			select {
			case changes <- c:
			case <-ctx.Done():
				return
			}
		}
	})
	t.Cleanup(func() {
		cancel()
		watch.Wait()
	})
	return changes
}

// putTo puts a step after the newest checkpoint.
func putTo(t *testing.T, s *redissaver.Saver, thread string) {
	t.Helper()
	cp, err := s.Get(t.Context(), checkpointer.Ref{Thread: thread})
	if err != nil && !errors.Is(err, checkpointer.ErrNotFound) {
		t.Fatal(err)
	}
	cp.Ref.Thread = thread
	if _, err := s.Put(t.Context(), cp.Ref, checkpointer.Step{Channels: map[string][]byte{"x": nil}}); err != nil {
		t.Fatal(err)
	}
}

func subscribers(t *testing.T, c *redis.Client) int {
	t.Helper()
	channels, err := c.PubSubChannels(t.Context(), "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	return len(channels)
}

// A watcher looks at its thread when it is told that it was written, and not on and on: a put by
// another process costs it one look. All watchers of a saver share one connection, which ends with
// the last of them.
func TestWatchIsTold(t *testing.T) {
	server := redistest.Start(t)
	c := client(t, server.Addr)
	here, there := open(t, server.Addr), open(t, server.Addr)
	const threads, puts = 40, 10
	var all []<-chan checkpointer.Change
	for n := range threads {
		thread := fmt.Sprint("t", n)
		putTo(t, there, thread)
		all = append(all, watching(t, here, thread), watching(t, here, thread))
	}
	for _, changes := range all {
		<-changes // what is there at the start
	}
	for subscribers(t, c) < threads {
	}
	looks := func() int {
		_, by := commands(t, c)
		return by["evalsha"]
	}
	before := looks()
	for range puts {
		for n := range threads {
			putTo(t, there, fmt.Sprint("t", n))
			<-all[2*n]
			<-all[2*n+1]
		}
	}
	// A read, a put, and a look of each of two watchers; another one each for a ring that came late.
	if n := looks() - before; n > threads*puts*4+threads*4 {
		t.Errorf("%d puts, told to two watchers each, ran %d scripts", threads*puts, n)
	}
	clients, err := c.ClientList(t.Context()).Result()
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(clients, "flags=P"); n != 1 {
		t.Errorf("%d connections are subscribed", n)
	}
}

// A watcher whose connection is broken hears what comes later, and what came meanwhile.
func TestWatchAfterABrokenConnection(t *testing.T) {
	server := redistest.Start(t)
	c := client(t, server.Addr)
	here, there := open(t, server.Addr), open(t, server.Addr)
	putTo(t, there, "t")
	changes := watching(t, here, "t")
	<-changes
	for range 5 {
		for subscribers(t, c) < 1 {
		}
		if err := c.ClientKillByFilter(t.Context(), "TYPE", "pubsub").Err(); err != nil {
			t.Fatal(err)
		}
		putTo(t, there, "t")
		<-changes
	}
}

// A user that may neither publish nor subscribe still writes and watches.
func TestWatchWithoutChannels(t *testing.T) {
	server := redistest.Start(t)
	c := client(t, server.Addr)
	if err := c.Do(t.Context(), "ACL", "SETUSER", "narrow", "on", ">planted", "~*", "resetchannels", "+@all").Err(); err != nil {
		t.Fatal(err)
	}
	here, there := open(t, "narrow:planted@"+server.Addr), open(t, "narrow:planted@"+server.Addr)
	putTo(t, there, "t")
	changes := watching(t, here, "t")
	<-changes
	putTo(t, there, "t")
	<-changes
}
