package checkpointertest

import (
	"context"
	"strings"
	"time"

	"github.com/langrooms/langrooms/checkpointer"
)

func listerRules() []rule {
	return []rule{
		{name: "threads-newest-put-first", needs: Lister, check: threadsNewestFirst},
		{name: "threads-any-id", needs: Lister, check: threadsAnyID},
	}
}

func threads(ctx context.Context, s checkpointer.Lister) ([]checkpointer.ThreadInfo, error) {
	var all []checkpointer.ThreadInfo
	for info, err := range s.Threads(ctx) {
		if err != nil {
			return all, err
		}
		all = append(all, info)
	}
	return all, nil
}

// noThreads reports when a saver that can list threads has one.
func (c *check) noThreads(s checkpointer.Saver) {
	c.Helper()
	if a, ok := s.(checkpointer.Lister); ok {
		all, err := threads(c.Context(), a)
		c.ok(err, "threads")
		if len(all) > 0 {
			c.Errorf("there is a thread %q that nothing was put to", all[0].Thread)
		}
	}
}

func threadsNewestFirst(c *check) {
	s := c.saver()
	a := ability[checkpointer.Lister](c, s)
	at := map[string]checkpointer.Ref{}
	for i, name := range strings.Fields("b a c a b d") {
		ref, ok := at[name]
		if !ok {
			ref = thread(name)
		}
		// The step's own time does not count.
		at[name] = c.put(s, ref, checkpointer.Step{Log: appends("x y"), Time: time.Unix(int64(1000-i), 0)})
	}
	c.put(s, checkpointer.Ref{Thread: "c", Namespace: "n"}, checkpointer.Step{Log: appends("x y z")})
	c.ok(s.DeleteThread(c.Context(), "a"), "delete")
	all, err := threads(c.Context(), a)
	c.ok(err, "threads")
	var got []string
	for _, info := range all {
		got = append(got, info.Thread)
		if time.Since(info.Updated).Abs() > time.Hour {
			c.Errorf("thread %q was last put to at %v", info.Thread, info.Updated)
		}
		if want := map[string]int64{"c": 2, "d": 2, "b": 4}[info.Thread]; info.Length != want {
			c.Errorf("thread %q has the length %d, want %d", info.Thread, info.Length, want)
		}
	}
	if strings.Join(got, " ") != "c d b" {
		c.Errorf("threads: got %v, want [c d b]", got)
	}
	for range a.Threads(c.Context()) {
		break
	}
}

func threadsAnyID(c *check) {
	s := c.saver()
	a := ability[checkpointer.Lister](c, s)
	for _, id := range HostileIDs() {
		c.put(s, thread(id), checkpointer.Step{})
	}
	all, err := threads(c.Context(), a)
	c.ok(err, "threads")
	for i, id := range HostileIDs() {
		if at := len(all) - 1 - i; at < 0 || all[at].Thread != id {
			c.Fatalf("%d threads listed, and %q is not at its place", len(all), id)
		}
	}
}
