package checkpointertest

import (
	"errors"
	"fmt"
	"sync"

	"github.com/langrooms/langrooms/checkpointer"
)

func raceRules() []rule {
	return []rule{
		{name: "one-winner-a-race", check: oneWinner},
		{name: "no-lost-put", check: noLostPut},
		{name: "concurrent-writes", check: concurrentWrites},
		{name: "concurrent-first-wins", check: concurrentFirstWins},
		{name: "concurrent-repetition", check: concurrentRepetition},
		{name: "put-is-all-or-nothing", check: allOrNothing},
	}
}

// parallel runs n calls at once and waits for them.
func parallel(n int, f func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			f(i)
		})
	}
	close(start)
	wg.Wait()
}

// oneWinner lets writers put after the same parent.
func oneWinner(c *check) {
	s := c.saver()
	race(c, s, func(int) checkpointer.Saver { return s })
}

func race(c *check, s checkpointer.Saver, writer func(i int) checkpointer.Saver) {
	c.Helper()
	at := thread("t")
	want := ""
	for round := range 20 {
		const writers = 4
		refs := make([]checkpointer.Ref, writers)
		errs := make([]error, writers)
		parallel(writers, func(i int) {
			name := fmt.Sprintf("r%d-w%d", round, i)
			refs[i], errs[i] = writer(i).Put(c.Context(), at, checkpointer.Step{ID: name, Log: appends(name)})
		})
		var winners []checkpointer.Ref
		for i, err := range errs {
			if err == nil {
				winners = append(winners, refs[i])
			} else if !errors.Is(err, checkpointer.ErrConflict) {
				c.Errorf("the loser of a race got %v, want a conflict", err)
			}
		}
		if len(winners) != 1 {
			c.Fatalf("a race of %d writers after one parent had %d winners", writers, len(winners))
		}
		at = winners[0]
		want += " " + at.ID
	}
	c.sees(s, thread("t"), want)
}

func noLostPut(c *check) {
	s := c.saver()
	insistAll(c, s, func(int) checkpointer.Saver { return s })
}

// insistAll lets writers append by reading and putting again until they succeed.
func insistAll(c *check, s checkpointer.Saver, writer func(i int) checkpointer.Saver) {
	c.Helper()
	const writers, each = 8, 10
	for n := range each {
		stale := c.newest(s, "t") // all begin by reading the same
		parallel(writers, func(i int) { c.insist(writer(i), stale, fmt.Sprintf("w%d-%d", i, n)) })
	}
	got := c.read(s, thread("t"), checkpointer.Range{})
	if len(got) != writers*each {
		c.Errorf("%d of %d acknowledged puts are there", len(got), writers*each)
	}
	seen := map[string]bool{}
	round := 0
	for i, m := range got {
		if seen[m.ID] || m.Seq != int64(i) {
			c.Errorf("message %q is there twice or at %d instead of %d", m.ID, m.Seq, i)
		}
		seen[m.ID] = true
		var w, n int
		if _, err := fmt.Sscanf(m.ID, "w%d-%d", &w, &n); err != nil {
			c.Errorf("message %q: %v", m.ID, err)
		}
		if n < round {
			c.Errorf("message %q comes after one that was put later", m.ID)
		}
		round = n
	}
}

// insist puts a message after at, or after whatever is the newest by then.
func (c *check) insist(s checkpointer.Saver, at checkpointer.Ref, name string) {
	for {
		_, err := s.Put(c.Context(), at, checkpointer.Step{Log: appends(name)})
		if err == nil {
			return
		}
		if !errors.Is(err, checkpointer.ErrConflict) {
			c.Errorf("put: %v", err)
			return
		}
		cp, err := s.Get(c.Context(), checkpointer.Ref{Thread: at.Thread})
		if err != nil {
			c.Errorf("get: %v", err)
			return
		}
		at = cp.Ref
	}
}

func concurrentWrites(c *check) {
	s := c.saver()
	at := c.chain(s, thread("t"), "c1")
	parallel(50, func(i int) {
		err := s.PutWrites(c.Context(), at, task(fmt.Sprintf("task%02d", i)), []checkpointer.Write{
			write("x", fmt.Sprint(i)), write("y", fmt.Sprint(i)), write(checkpointer.ChannelResume, fmt.Sprint(i))})
		if err != nil {
			c.Errorf("writes of task %d: %v", i, err)
		}
	})
	writes := c.get(s, at).Writes
	if len(writes) != 150 {
		c.Fatalf("%d of 150 concurrent writes are there", len(writes))
	}
	for i, w := range writes {
		if w.Task.ID != fmt.Sprintf("task%02d", i/3) || string(w.Value) != fmt.Sprint(i/3) {
			c.Errorf("write %d is %+v", i, w)
		}
	}
}

func concurrentFirstWins(c *check) {
	s := c.saver()
	at := c.chain(s, thread("t"), "c1")
	parallel(20, func(i int) {
		v := fmt.Sprint(i)
		if err := s.PutWrites(c.Context(), at, task("task"), []checkpointer.Write{write("x", v), write("y", v)}); err != nil {
			c.Errorf("writes: %v", err)
		}
	})
	w := c.get(s, at).Writes
	if len(w) != 2 || string(w[0].Value) != string(w[1].Value) {
		c.Errorf("twenty writers to one task left %+v", w)
	}
}

func concurrentRepetition(c *check) {
	s := c.saver()
	at := c.chain(s, thread("t"), "c1")
	parallel(10, func(int) {
		if _, err := s.Put(c.Context(), at, checkpointer.Step{ID: "c2", Log: appends("b")}); err != nil {
			c.Errorf("a repeated put at the same time: %v", err)
		}
	})
	c.sees(s, thread("t"), "c1 b")
	c.lists(s, checkpointer.Query{Thread: "t"}, "c2 c1")
}

// allOrNothing reads while puts of two messages and two channels are made.
func allOrNothing(c *check) {
	s := c.saver()
	const puts = 50
	c.put(s, thread("t"), checkpointer.Step{Channels: values("x=", "y=")})
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(done)
		for i := range puts {
			v := fmt.Sprint(i)
			at, err := s.Get(c.Context(), thread("t"))
			if err == nil {
				_, err = s.Put(c.Context(), at.Ref, checkpointer.Step{Log: appends("a b"), Channels: values("x="+v, "y="+v)})
			}
			if err != nil {
				c.Errorf("put: %v", err)
				return
			}
		}
	})
	for reading := true; reading; {
		select {
		case <-done:
			reading = false
		default:
		}
		cp := c.get(s, thread("t"))
		if string(cp.Channels["x"]) != string(cp.Channels["y"]) || cp.Length%2 != 0 {
			c.Errorf("half a put is visible: %+v", cp)
		}
		if n := int64(len(c.read(s, cp.Ref, checkpointer.Range{}))); n != cp.Length {
			c.Errorf("a checkpoint of length %d sees %d messages", cp.Length, n)
		}
	}
	wg.Wait()
}
