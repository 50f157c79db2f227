package checkpointertest

import (
	"fmt"

	"github.com/langrooms/langrooms/checkpointer"
)

func listRules() []rule {
	return []rule{
		{name: "list-namespaces", check: listNamespaces},
		{name: "list-before", check: listBefore},
		{name: "list-filter", check: listFilter},
		{name: "list-limit", check: listLimit},
		{name: "list-early-break", check: listEarlyBreak},
		{name: "long-history", check: longHistory},
	}
}

// mixed puts a1 b1 a2 b2 a3 with a in the empty namespace and b in "n".
func mixed(c *check, s checkpointer.Saver) {
	c.Helper()
	at := map[string]checkpointer.Ref{"": thread("t"), "n": {Thread: "t", Namespace: "n"}}
	for i, id := range []string{"a1", "b1", "a2", "b2", "a3"} {
		ns := ""
		if id[0] == 'b' {
			ns = "n"
		}
		at[ns] = c.put(s, at[ns], checkpointer.Step{ID: id, Metadata: checkpointer.Metadata{"step": fmt.Sprint(i), "ns": ns, "kind": "k"}})
	}
}

func listNamespaces(c *check) {
	s := c.saver()
	mixed(c, s)
	c.lists(s, checkpointer.Query{Thread: "t"}, "a3 b2 a2 b1 a1")
	c.lists(s, checkpointer.Query{Thread: "t", Namespace: ptr("")}, "a3 a2 a1")
	c.lists(s, checkpointer.Query{Thread: "t", Namespace: ptr("n")}, "b2 b1")
	c.lists(s, checkpointer.Query{Thread: "t", Namespace: ptr("m")}, "")
}

func listBefore(c *check) {
	s := c.saver()
	mixed(c, s)
	before := func(ns, id string) checkpointer.Ref {
		return checkpointer.Ref{Thread: "ignored", Namespace: ns, ID: id}
	}
	c.lists(s, checkpointer.Query{Thread: "t", Before: before("", "a3")}, "b2 a2 b1 a1")
	c.lists(s, checkpointer.Query{Thread: "t", Before: before("n", "b2")}, "a2 b1 a1")
	c.lists(s, checkpointer.Query{Thread: "t", Namespace: ptr(""), Before: before("n", "b2")}, "a2 a1")
	c.lists(s, checkpointer.Query{Thread: "t", Namespace: ptr("n"), Before: before("", "a2")}, "b1")
	c.lists(s, checkpointer.Query{Thread: "t", Before: before("", "a1")}, "")
	c.lists(s, checkpointer.Query{Thread: "t", Before: checkpointer.Ref{Namespace: "n"}}, "a3 b2 a2 b1 a1")
	for _, unknown := range []checkpointer.Ref{before("", "none"), before("n", "a1")} {
		yields := 0
		for _, err := range s.List(c.Context(), checkpointer.Query{Thread: "t", Before: unknown}) {
			yields++
			c.is(err, checkpointer.ErrNotFound, "list before the unknown %+v", unknown)
		}
		if yields != 1 {
			c.Errorf("list before the unknown %+v yielded %d times", unknown, yields)
		}
	}
	c.oneError(s.List(c.Context(), checkpointer.Query{Thread: "none", Before: before("", "a1")}), checkpointer.ErrNotFound,
		"list of a thread that does not exist before another's checkpoint")
}

func listFilter(c *check) {
	s := c.saver()
	mixed(c, s)
	c.lists(s, checkpointer.Query{Thread: "t", Filter: checkpointer.Metadata{"kind": "k"}}, "a3 b2 a2 b1 a1")
	c.lists(s, checkpointer.Query{Thread: "t", Filter: checkpointer.Metadata{"ns": "n", "kind": "k"}}, "b2 b1")
	c.lists(s, checkpointer.Query{Thread: "t", Filter: checkpointer.Metadata{"step": "1", "kind": "other"}}, "")
	c.lists(s, checkpointer.Query{Thread: "t", Filter: checkpointer.Metadata{"absent": ""}}, "")
	c.lists(s, checkpointer.Query{Thread: "t", Filter: checkpointer.Metadata{"kind": "k"}, Limit: checkpointer.N(2),
		Before: checkpointer.Ref{ID: "a3"}}, "b2 a2")
	c.lists(s, checkpointer.Query{Thread: "t", Filter: checkpointer.Metadata{"step": "0"}, Limit: checkpointer.N(1)}, "a1")
}

func listLimit(c *check) {
	s := c.saver()
	mixed(c, s)
	c.lists(s, checkpointer.Query{Thread: "t", Limit: nil}, "a3 b2 a2 b1 a1")
	c.lists(s, checkpointer.Query{Thread: "t", Limit: checkpointer.N(0)}, "")
	c.lists(s, checkpointer.Query{Thread: "t", Limit: checkpointer.N(2)}, "a3 b2")
	c.lists(s, checkpointer.Query{Thread: "t", Limit: checkpointer.N(9)}, "a3 b2 a2 b1 a1")
}

func listEarlyBreak(c *check) {
	s := c.saver()
	mixed(c, s)
	for range 3 {
		for cp, err := range s.List(c.Context(), checkpointer.Query{Thread: "t"}) {
			c.ok(err, "list")
			if cp.Ref.ID != "a3" {
				c.Errorf("the first checkpoint is %q", cp.Ref.ID)
			}
			break
		}
	}
	for cp, err := range s.List(c.Context(), checkpointer.Query{Thread: "t"}) {
		c.ok(err, "list")
		// A store may not hold a lock while its caller works.
		c.put(s, checkpointer.Ref{Thread: "other", Namespace: cp.Ref.ID}, checkpointer.Step{})
	}
}

// longHistory pages through thousands of checkpoints from several places.
func longHistory(c *check) {
	n := max(c.cfg.History, 1000)
	s := c.saver()
	at := thread("t")
	for i := range n {
		at = c.put(s, at, checkpointer.Step{ID: fmt.Sprint(i)})
	}
	all := c.list(s, checkpointer.Query{Thread: "t"})
	if len(all) != n {
		c.Fatalf("list yields %d of %d", len(all), n)
	}
	for i, cp := range all {
		if want := fmt.Sprint(n - 1 - i); cp.Ref.ID != want {
			c.Fatalf("place %d of the list is %q, want %q", i, cp.Ref.ID, want)
		}
	}
	for _, before := range []int{1, 63, n / 2, n - 1} {
		page := c.list(s, checkpointer.Query{Thread: "t", Before: checkpointer.Ref{ID: fmt.Sprint(before)}, Limit: checkpointer.N(100)})
		if len(page) != min(100, before) || page[0].Ref.ID != fmt.Sprint(before-1) {
			c.Errorf("page before %d has %d checkpoints", before, len(page))
		}
	}
}
