package checkpointertest

import (
	"time"

	"github.com/langrooms/langrooms/checkpointer"
)

func repeatRules() []rule {
	return []rule{
		{name: "put-is-idempotent", check: putIdempotent},
		{name: "same-id-other-content", check: sameIDOtherContent},
	}
}

func fullStep() checkpointer.Step {
	return checkpointer.Step{ID: "c2", Log: append(appends("b"), replace("a", "A")), Channels: values("x=2", "y=2"),
		Remove: []string{"gone", "z"}, Metadata: checkpointer.Metadata{"step": "1", "source": "loop"}}
}

func putIdempotent(c *check) {
	s := c.saver()
	c1 := c.put(s, thread("t"), checkpointer.Step{ID: "c1", Log: appends("a"), Channels: values("z=1")})
	c2 := c.put(s, c1, fullStep())
	before := c.get(s, c2)
	again := func(when string) {
		c.Helper()
		if ref := c.put(s, c1, fullStep()); ref != c2 {
			c.Errorf("repeated put %s returned %+v", when, ref)
		}
		if cp := c.get(s, c2); cp.Length != 3 || !cp.Time.Equal(before.Time) {
			c.Errorf("repeated put %s changed the checkpoint: %+v", when, cp)
		}
		c.sees(s, c2, "A b")
	}
	again("at once")
	c3 := c.chain(s, c2, "c")
	again("after the thread has moved on")
	if cp := c.get(s, thread("t")); cp.Ref != c3 {
		c.Errorf("a repeated put became the newest: %+v", cp.Ref)
	}
	c.sees(s, c3, "A b c")
	c.lists(s, checkpointer.Query{Thread: "t"}, "c c2 c1")

	root := checkpointer.Step{ID: "c1", Log: appends("a"), Channels: values("z=1")}
	c.put(s, thread("t"), root)
	c.lists(s, checkpointer.Query{Thread: "t"}, "c c2 c1")
}

func sameIDOtherContent(c *check) {
	s := c.saver()
	c1 := c.put(s, thread("t"), checkpointer.Step{ID: "c1", Log: appends("a"), Channels: values("z=1")})
	c2 := c.put(s, c1, fullStep())
	changes := map[string]func(step *checkpointer.Step){
		"log":      func(step *checkpointer.Step) { step.Log = appends("b") },
		"text":     func(step *checkpointer.Step) { step.Log[0].Message = said("b", "other") },
		"value":    func(step *checkpointer.Step) { step.Channels["x"] = []byte("3") },
		"channel":  func(step *checkpointer.Step) { step.Channels["w"] = nil },
		"remove":   func(step *checkpointer.Step) { step.Remove = nil },
		"metadata": func(step *checkpointer.Step) { step.Metadata["step"] = "2" },
		"time":     func(step *checkpointer.Step) { step.Time = time.Unix(1, 0) },
	}
	for name, change := range changes {
		step := fullStep()
		change(&step)
		_, err := s.Put(c.Context(), c1, step)
		c.is(err, checkpointer.ErrConflict, "put of the same id with another %s", name)
	}
	_, err := s.Put(c.Context(), c2, fullStep())
	c.is(err, checkpointer.ErrConflict, "put of the same id after another parent")
	c.lists(s, checkpointer.Query{Thread: "t"}, "c2 c1")
	c.sees(s, c2, "A b")
	c.channels(c.get(s, c2), "x=2 y=2")
}
