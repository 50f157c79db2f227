package checkpointertest

import (
	"fmt"
	"sync"

	"github.com/langrooms/langrooms/checkpointer"
)

func snapshotRules() []rule {
	return []rule{
		{name: "snapshot", needs: Snapshotter, check: snapshotRule},
		{name: "snapshot-of-one-moment", needs: Snapshotter, check: snapshotMoment},
	}
}

func snapshotRule(c *check) {
	s := c.saver()
	a := ability[checkpointer.Snapshotter](c, s)
	at := c.put(s, twenty(c, s), checkpointer.Step{Channels: values("x=1")})
	c.putWrites(s, at, "task", write("x", "1"))
	for _, ref := range []checkpointer.Ref{at, thread("t")} {
		cp, messages, err := a.Snapshot(c.Context(), ref, checkpointer.Range{Backward: true, Limit: checkpointer.N(3)})
		c.ok(err, "snapshot")
		c.channels(cp, "x=1")
		c.writes(cp, "task/0/x=1")
		if cp.Ref != at || cp.Length != 20 || texts(messages) != "m19 m18 m17" || messages[0].Seq != 19 {
			c.Errorf("snapshot: %+v with [%s]", cp, texts(messages))
		}
	}
	_, messages, err := a.Snapshot(c.Context(), at, checkpointer.Range{})
	c.ok(err, "snapshot")
	if texts(messages) != names(0, 20) {
		c.Errorf("snapshot of all: [%s]", texts(messages))
	}
	_, _, err = a.Snapshot(c.Context(), thread("none"), checkpointer.Range{})
	c.is(err, checkpointer.ErrNotFound, "snapshot of an unknown thread")
	_, _, err = a.Snapshot(c.Context(), at, checkpointer.Range{Limit: checkpointer.N(-1)})
	c.is(err, checkpointer.ErrInvalid, "snapshot with a negative limit")
	_, _, err = a.Snapshot(c.Context(), checkpointer.Ref{}, checkpointer.Range{})
	c.is(err, checkpointer.ErrInvalid, "snapshot of an empty thread")
}

// snapshotMoment takes snapshots while messages are put.
func snapshotMoment(c *check) {
	s := c.saver()
	a := ability[checkpointer.Snapshotter](c, s)
	at := c.chain(s, thread("t"), "m0")
	var wg sync.WaitGroup
	done := make(chan struct{})
	wg.Go(func() {
		defer close(done)
		for i := 1; i < 50; i++ {
			next, err := s.Put(c.Context(), at, checkpointer.Step{Log: appends(fmt.Sprintf("m%d", i))})
			if err != nil {
				c.Errorf("put: %v", err)
				return
			}
			at = next
		}
	})
	for reading := true; reading; {
		select {
		case <-done:
			reading = false
		default:
		}
		cp, messages, err := a.Snapshot(c.Context(), thread("t"), checkpointer.Range{Backward: true, Limit: checkpointer.N(1)})
		c.ok(err, "snapshot")
		if len(messages) != 1 || messages[0].Seq != cp.Length-1 {
			c.Errorf("a checkpoint of length %d came with the newest message at %v", cp.Length, seqs(messages))
		}
	}
	wg.Wait()
}
