package checkpointertest

import (
	"github.com/langrooms/langrooms/checkpointer"
)

func changeRules() []rule {
	return []rule{
		{name: "replace", check: replaceRule},
		{name: "remove", check: removeRule},
		{name: "reset", check: resetRule},
		{name: "unseen-target-changes-nothing", check: unseenTarget},
		{name: "changes-in-one-step", check: changesInOneStep},
	}
}

func replaceRule(c *check) {
	s := c.saver()
	c1 := c.put(s, thread("t"), checkpointer.Step{Log: appends("a b c")})
	c2 := c.put(s, c1, checkpointer.Step{Log: []checkpointer.Entry{replace("b", "B")}})
	c3 := c.put(s, c2, checkpointer.Step{Log: append(appends("d"), replace("b", "BB"), replace("d", "D"))})
	c.sees(s, c1, "a b c")
	c.sees(s, c2, "a B c")
	c.sees(s, c3, "a BB c D")
	c.reads(s, c3, checkpointer.Range{From: 1, To: 2}, "BB")
	c.reads(s, c3, checkpointer.Range{To: 3, Backward: true, Limit: checkpointer.N(2)}, "c BB")
	for _, m := range c.read(s, c3, checkpointer.Range{From: 1, To: 2}) {
		if m.Seq != 1 || m.ID != "b" {
			c.Errorf("the replaced message is %q at %d, want b at 1", m.ID, m.Seq)
		}
	}
	twice := c.put(s, c3, checkpointer.Step{Log: append(appends("b e"), replace("b", "B"))})
	c.sees(s, twice, "a B c D B e")
	c.sees(s, c3, "a BB c D")
}

func removeRule(c *check) {
	s := c.saver()
	c1 := c.put(s, thread("t"), checkpointer.Step{Log: appends("a b c d")})
	c2 := c.put(s, c1, checkpointer.Step{Log: []checkpointer.Entry{remove("b"), remove("d")}})
	c3 := c.put(s, c2, checkpointer.Step{Log: appends("e b")})
	c.sees(s, c1, "a b c d")
	c.sees(s, c2, "a c")
	c.sees(s, c3, "a c e b")
	c.reads(s, c2, checkpointer.Range{Backward: true, Limit: checkpointer.N(1)}, "c")
	c.reads(s, c2, checkpointer.Range{Limit: checkpointer.N(2)}, "a c")
	c.reads(s, c2, checkpointer.Range{From: 1, To: 2}, "")
	c4 := c.put(s, c3, checkpointer.Step{Log: []checkpointer.Entry{replace("d", "back"), replace("b", "B")}})
	c.sees(s, c4, "a c e B")
	c5 := c.put(s, c4, checkpointer.Step{Log: append(appends("b f"), remove("b"))})
	c.sees(s, c5, "a c e f")
	c.sees(s, c4, "a c e B")
}

func resetRule(c *check) {
	s := c.saver()
	c1 := c.put(s, thread("t"), checkpointer.Step{Log: appends("a b")})
	c2 := c.put(s, c1, checkpointer.Step{Log: append([]checkpointer.Entry{reset()}, appends("c d")...)})
	c3 := c.put(s, c2, checkpointer.Step{Log: append([]checkpointer.Entry{replace("a", "back"), remove("c")}, appends("e")...)})
	c4 := c.put(s, c3, checkpointer.Step{Log: []checkpointer.Entry{reset()}})
	c.sees(s, c1, "a b")
	c.sees(s, c2, "c d")
	c.sees(s, c3, "d e")
	c.sees(s, c4, "")
	if cp := c.get(s, c4); cp.Length != 9 {
		c.Errorf("length after a reset is %d, want 9", cp.Length)
	}
	c5 := c.chain(s, c4, "f")
	c.sees(s, c5, "f")
}

func unseenTarget(c *check) {
	s := c.saver()
	c1 := c.put(s, thread("t"), checkpointer.Step{Log: []checkpointer.Entry{remove("a"), remove("x"), replace("a", "early")}})
	c.sees(s, c1, "")
	c2 := c.chain(s, c1, "a")
	c.sees(s, c2, "a")
	if got := c.read(s, c2, checkpointer.Range{}); len(got) == 1 && got[0].Seq != 3 {
		c.Errorf("the message stands at %d, want 3", got[0].Seq)
	}
}

func changesInOneStep(c *check) {
	s := c.saver()
	log := append(appends("a b"), remove("a"))
	log = append(log, appends("c a")...)
	log = append(log, replace("c", "C"), replace("a", "A"))
	c1 := c.put(s, thread("t"), checkpointer.Step{Log: log})
	c.sees(s, c1, "b C A")
}
