package checkpointertest

import (
	"strings"

	"github.com/langrooms/langrooms/checkpointer"
)

func channelRules() []rule {
	return []rule{
		{name: "channels-carried-over", check: channelsCarriedOver},
		{name: "removed-channel-stays-removed", check: removedChannel},
		{name: "empty-values-are-values", check: emptyValues},
		{name: "large-values", check: largeValues},
	}
}

func values(pairs ...string) map[string][]byte {
	m := map[string][]byte{}
	for _, p := range pairs {
		name, value, _ := strings.Cut(p, "=")
		m[name] = []byte(value)
	}
	return m
}

func channelsCarriedOver(c *check) {
	s := c.saver()
	c1 := c.put(s, thread("t"), checkpointer.Step{ID: "c1", Channels: values("x=1", "y=1")})
	c2 := c.put(s, c1, checkpointer.Step{ID: "c2", Channels: values("y=2")})
	c3 := c.put(s, c2, checkpointer.Step{ID: "c3", Log: appends("a")})
	branch := c.put(s, c1, checkpointer.Step{ID: "c4", Channels: values("z=4"), Fork: true})
	want := map[checkpointer.Ref]string{c1: "x=1 y=1", c2: "x=1 y=2", c3: "x=1 y=2", branch: "x=1 y=1 z=4"}
	for ref, channels := range want {
		c.channels(c.get(s, ref), channels)
	}
	for _, cp := range c.list(s, checkpointer.Query{Thread: "t"}) {
		c.channels(cp, want[cp.Ref])
	}
	other := c.put(s, checkpointer.Ref{Thread: "t", Namespace: "n"}, checkpointer.Step{ID: "c1"})
	c.channels(c.get(s, other), "")
}

func removedChannel(c *check) {
	s := c.saver()
	c1 := c.put(s, thread("t"), checkpointer.Step{Channels: values("x=1", "y=1")})
	c2 := c.put(s, c1, checkpointer.Step{Remove: []string{"x", "never-set"}})
	c3 := c.put(s, c2, checkpointer.Step{Channels: values("y=3")})
	c4 := c.put(s, c3, checkpointer.Step{Channels: values("x=4")})
	c.channels(c.get(s, c1), "x=1 y=1")
	c.channels(c.get(s, c2), "y=1")
	c.channels(c.get(s, c3), "y=3")
	c.channels(c.get(s, c4), "x=4 y=3")
}

func emptyValues(c *check) {
	s := c.saver()
	at := c.put(s, thread("t"), checkpointer.Step{Channels: map[string][]byte{"nil": nil, "empty": {}, "zero": {0}}})
	at = c.put(s, at, checkpointer.Step{})
	c.channels(c.get(s, at), "empty= nil= zero=\x00")
	for name, value := range c.get(s, at).Channels {
		if value == nil {
			c.Errorf("the value of %q came back as nil", name)
		}
	}
	c.ok(s.PutWrites(c.Context(), at, task("task"), []checkpointer.Write{{Channel: "x"}, {Channel: "y", Value: []byte{}}}), "empty writes")
	c.writes(c.get(s, at), "task/0/x= task/1/y=")
}

func largeValues(c *check) {
	s := c.saver()
	big := strings.Repeat("0123456789abcdef", 1<<16)
	at := c.put(s, thread("t"), checkpointer.Step{Channels: values("x=" + big),
		Log: []checkpointer.Entry{{Op: checkpointer.OpAppend, Message: said("m", big)}}})
	if got := string(c.get(s, at).Channels["x"]); got != big {
		c.Errorf("a channel of 1 MiB came back with %d bytes", len(got))
	}
	if got := texts(c.read(s, at, checkpointer.Range{})); got != big {
		c.Errorf("a message of 1 MiB came back with %d bytes", len(got))
	}
}
