package checkpointertest

import (
	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

func memoryRules() []rule {
	return []rule{
		{name: "values-in-are-copied", check: valuesIn},
		{name: "values-out-are-copies", check: valuesOut},
	}
}

func scribble(b []byte) {
	for i := range b {
		b[i] = '!'
	}
}

// valuesIn changes everything that was passed in after the call has returned.
func valuesIn(c *check) {
	s := c.saver()
	m := rich()[1]
	want := stored(m)
	step := checkpointer.Step{ID: "c1", Log: checkpointer.Append(m), Channels: values("x=abc"),
		Metadata: checkpointer.Metadata{"k": "v"}, Remove: []string{"y"}}
	at := c.put(s, thread("t"), step)
	w := []checkpointer.Write{write("x", "abc")}
	c.putWrites(s, at, "task", w...)
	scribble(w[0].Value)
	w[0].Channel = "!"
	scribble(step.Channels["x"])
	step.Channels["new"] = nil
	step.Metadata["k"] = "!"
	scribbleMessage(step.Log[0].Message)
	step.Log[0].Message.ID = "!"

	cp := c.get(s, at)
	c.channels(cp, "x=abc")
	c.writes(cp, "task/0/x=abc")
	if cp.Metadata["k"] != "v" {
		c.Errorf("metadata of the caller is shared: %v", cp.Metadata)
	}
	if got := stored(c.read(s, at, checkpointer.Range{})...); got != want {
		c.Errorf("a message of the caller is shared: %s", got)
	}
}

func scribbleMessage(m langrooms.Message) {
	for i := range m.Parts {
		scribble(m.Parts[i].Data)
		m.Parts[i].Text = "!"
	}
	if m.Stamp != nil {
		m.Stamp.From = "!"
		for i := range m.Stamp.To {
			m.Stamp.To[i] = "!"
		}
		for _, v := range m.Stamp.Extra {
			scribble(v)
		}
	}
	for k, v := range m.Extra {
		scribble(v)
		delete(m.Extra, k)
	}
}

// valuesOut changes everything that was handed out and reads again.
func valuesOut(c *check) {
	s := c.saver()
	messages := rich()[:2]
	c1 := c.put(s, thread("t"), checkpointer.Step{ID: "c1", Log: checkpointer.Append(messages...), Channels: values("x=abc"),
		Metadata: checkpointer.Metadata{"k": "v"}})
	c.putWrites(s, c1, "task", write("x", "abc"))
	at := c.put(s, c1, checkpointer.Step{ID: "c2"})
	for range 2 {
		for _, cp := range append(c.list(s, checkpointer.Query{Thread: "t"}), c.get(s, c1), c.get(s, at)) {
			scribble(cp.Channels["x"])
			cp.Channels["new"] = nil
			if cp.Metadata != nil {
				cp.Metadata["k"] = "!"
			}
			for i := range cp.Writes {
				scribble(cp.Writes[i].Value)
			}
		}
		for _, m := range c.read(s, at, checkpointer.Range{}) {
			scribbleMessage(m)
		}
	}
	cp := c.get(s, c1)
	c.channels(cp, "x=abc")
	c.channels(c.get(s, at), "x=abc")
	c.writes(cp, "task/0/x=abc")
	if cp.Metadata["k"] != "v" {
		c.Errorf("metadata handed out is shared: %v", cp.Metadata)
	}
	if got := c.read(s, at, checkpointer.Range{}); stored(got...) != stored(messages...) {
		c.Errorf("messages handed out are shared: %s", stored(got...))
	}
}
