package checkpointertest

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/langrooms/langrooms/checkpointer"
)

func queryRules() []rule {
	return []rule{
		{name: "metadata-is-json", check: metadataJSON},
		{name: "metadata-errors", check: metadataErrors},
		{name: "filter-by-type-and-value", check: filterTypes},
		{name: "list-before-id", check: listBeforeID},
		{name: "list-before-the-pruned", needs: Pruner, check: listBeforePruned},
		{name: "list-limit-zero-before-the-unknown", check: listZeroBefore},
		{name: "list-all-threads", needs: Lister, check: listAll},
		{name: "writes-ordered-by-path", check: writesByPath},
	}
}

func metadataJSON(c *check) {
	s := c.saver()
	put := checkpointer.Metadata{"text": "1", "nul": "\x00", "n": 1, "big": json.Number("12345678901234567890"), "half": 0.5, "yes": true, "null": nil,
		"nested": map[string]any{"a": []any{1, "<é>", nil}, "b": map[string]any{}}, "raw": json.RawMessage(` {"x": 1.0} `), "empty": ""}
	want := checkpointer.Metadata{"text": "1", "nul": "\x00", "n": json.Number("1"), "big": json.Number("12345678901234567890"), "half": json.Number("0.5"),
		"yes": true, "null": nil, "nested": map[string]any{"a": []any{json.Number("1"), "<é>", nil}, "b": map[string]any{}},
		"raw": map[string]any{"x": json.Number("1")}, "empty": ""}
	at := c.put(s, thread("t"), checkpointer.Step{ID: "c1", Metadata: put})
	if got := c.get(s, at).Metadata; !reflect.DeepEqual(got, want) {
		c.Errorf("metadata is %#v, want %#v", got, want)
	}
	for _, cp := range c.list(s, checkpointer.Query{Thread: "t", Filter: put}) {
		if !reflect.DeepEqual(cp.Metadata, want) {
			c.Errorf("listed metadata is %#v, want %#v", cp.Metadata, want)
		}
		at = checkpointer.Ref{}
	}
	if at.ID != "" {
		c.Errorf("a filter by all that was put finds nothing")
	}
}

func metadataErrors(c *check) {
	s := c.saver()
	deep := any("x")
	for range 2000 {
		deep = []any{deep}
	}
	for name, value := range map[string]any{"a channel": make(chan int), "infinity": math.Inf(1), "bad UTF-8": []any{"\xff"}, "bad JSON": json.RawMessage("{"),
		"no number": json.Number("1x"), "a huge exponent": json.Number("1e99999999999"), "two thousand lists": deep} {
		_, err := s.Put(c.Context(), thread("t"), checkpointer.Step{Metadata: checkpointer.Metadata{"k": value}})
		c.is(err, checkpointer.ErrInvalid, "put with %s as metadata", name)
		c.oneError(s.List(c.Context(), checkpointer.Query{Thread: "t", Filter: checkpointer.Metadata{"k": value}}), checkpointer.ErrInvalid,
			"list with "+name+" as filter")
	}
	_, err := s.Put(c.Context(), thread("t"), checkpointer.Step{Metadata: checkpointer.Metadata{"k": strings.Repeat("x", checkpointer.MaxMetadata)}})
	c.is(err, checkpointer.ErrTooLarge, "put with more metadata than the limit")
	c.lists(s, checkpointer.Query{Thread: "t"}, "")
}

func filterTypes(c *check) {
	s := c.saver()
	kinds := []any{"1", 1, true, nil, "", "null", 0.5, []any{}, []any{1}, map[string]any{}, map[string]any{"a": 1}, json.Number("1e30"), int64(1)<<62 + 1, "\x001"}
	at := thread("t")
	for i, value := range kinds {
		at = c.put(s, at, checkpointer.Step{ID: fmt.Sprint(i), Metadata: checkpointer.Metadata{"k": value}})
	}
	c.put(s, at, checkpointer.Step{ID: "without"})
	for i, value := range kinds {
		c.lists(s, checkpointer.Query{Thread: "t", Filter: checkpointer.Metadata{"k": value}}, fmt.Sprint(i))
	}
	for want, value := range map[string]any{"1": json.Number("10e-1"), "6": json.Number("0.50"), "8": json.RawMessage(" [ 1.0 ] "), "11": json.Number("1" + strings.Repeat("0", 30)), "": 1 << 62} {
		c.lists(s, checkpointer.Query{Thread: "t", Filter: checkpointer.Metadata{"k": value}}, want)
	}
}

func listBeforeID(c *check) {
	s := c.saver()
	mixed(c, s)
	c.lists(s, checkpointer.Query{Thread: "t", BeforeID: "a3"}, "b2 a2 b1 a1")
	c.lists(s, checkpointer.Query{Thread: "t", BeforeID: "b2"}, "a2 b1 a1")
	c.lists(s, checkpointer.Query{Thread: "t", Namespace: ptr(""), BeforeID: "b2", Limit: checkpointer.N(1)}, "a2")
	c.lists(s, checkpointer.Query{Thread: "t", BeforeID: "a1"}, "")
	c.put(s, checkpointer.Ref{Thread: "t", Namespace: "m"}, checkpointer.Step{ID: "a2"})
	c.lists(s, checkpointer.Query{Thread: "t", BeforeID: "a2"}, "a3 b2 a2 b1 a1")
	c.oneError(s.List(c.Context(), checkpointer.Query{Thread: "t", BeforeID: "none"}), checkpointer.ErrNotFound, "list before an unknown id")
	c.oneError(s.List(c.Context(), checkpointer.Query{Thread: "none", BeforeID: "a1"}), checkpointer.ErrNotFound, "list of an unknown thread before an id")
	both := checkpointer.Query{Thread: "t", BeforeID: "a1", Before: checkpointer.Ref{ID: "a1"}}
	c.oneError(s.List(c.Context(), both), checkpointer.ErrInvalid, "list with Before and BeforeID")
	for name, id := range badIDs() {
		c.oneError(s.List(c.Context(), checkpointer.Query{Thread: "t", BeforeID: id}), checkpointer.ErrInvalid, "list before "+name+" id")
	}
}

func listBeforePruned(c *check) {
	s := c.saver()
	at := c.chain(s, thread("t"), "a b")
	sub := c.chain(s, checkpointer.Ref{Thread: "t", Namespace: "n"}, "s1")
	c.putWrites(s, checkpointer.Ref{Thread: "t", ID: "a"}, "task", write(checkpointer.ChannelInterrupt, "?"))
	at = c.chain(s, at, "c d")
	c.chain(s, sub, "s2")
	c.prune(s, "t", 1, "", 3) // a is interrupted
	for _, q := range []checkpointer.Query{{Before: checkpointer.Ref{ID: "c"}}, {BeforeID: "c"}, {BeforeID: "b"}, {BeforeID: "s1"}, {Before: checkpointer.Ref{Namespace: "n", ID: "s1"}}} {
		q.Thread = "t"
		c.lists(s, q, "a")
	}
	c.oneError(s.List(c.Context(), checkpointer.Query{Thread: "t", Before: checkpointer.Ref{Namespace: "n", ID: "c"}}), checkpointer.ErrNotFound,
		"list before a pruned id in another namespace")
	// An id that is used again is the new one's.
	c.put(s, at, checkpointer.Step{ID: "c"})
	c.lists(s, checkpointer.Query{Thread: "t", BeforeID: "c"}, "s2 d a")
	c.ok(s.DeleteThread(c.Context(), "t"), "delete")
	c.chain(s, thread("t"), "x")
	c.oneError(s.List(c.Context(), checkpointer.Query{Thread: "t", BeforeID: "b"}), checkpointer.ErrNotFound, "list before what a deleted thread had pruned")
	at = c.chain(s, thread("long"), names(0, 1100))
	c.prune(s, "long", 50, "", 1050)
	c.lists(s, checkpointer.Query{Thread: "long", BeforeID: "m1049"}, "")
	c.lists(s, checkpointer.Query{Thread: "long", BeforeID: "m60"}, "")
	c.lists(s, checkpointer.Query{Thread: "long", BeforeID: "m1051"}, "m1050")
	c.sees(s, at, names(0, 1100))
}

func listZeroBefore(c *check) {
	s := c.saver()
	c.chain(s, thread("t"), "a b")
	for _, q := range []checkpointer.Query{{Thread: "t", Before: checkpointer.Ref{ID: "none"}}, {Thread: "none", Before: checkpointer.Ref{ID: "a"}}} {
		q.Limit = checkpointer.N(0)
		c.oneError(s.List(c.Context(), q), checkpointer.ErrNotFound, "list of nothing before the unknown")
	}
	c.lists(s, checkpointer.Query{Thread: "t", Before: checkpointer.Ref{ID: "b"}, Limit: checkpointer.N(0)}, "")
}

func listAll(c *check) {
	s := c.saver()
	all := func(q checkpointer.Query) string {
		var ids []string
		for cp, err := range checkpointer.ListAll(c.Context(), s, q) {
			c.ok(err, "list of all threads")
			ids = append(ids, cp.Ref.Thread+"/"+cp.Ref.ID)
		}
		return strings.Join(ids, " ")
	}
	is := func(q checkpointer.Query, want string) {
		c.Helper()
		if got := all(q); got != want {
			c.Errorf("list of all threads: got [%s], want [%s]", got, want)
		}
	}
	is(checkpointer.Query{}, "")
	mixed(c, s)
	at := c.put(s, thread("u"), checkpointer.Step{ID: "u1", Metadata: checkpointer.Metadata{"ns": "n"}})
	c.put(s, at, checkpointer.Step{ID: "u2"})
	is(checkpointer.Query{}, "u/u2 u/u1 t/a3 t/b2 t/a2 t/b1 t/a1")
	is(checkpointer.Query{Limit: checkpointer.N(3)}, "u/u2 u/u1 t/a3")
	is(checkpointer.Query{Limit: checkpointer.N(0)}, "")
	is(checkpointer.Query{Namespace: ptr("n")}, "t/b2 t/b1")
	is(checkpointer.Query{Filter: checkpointer.Metadata{"ns": "n"}, Limit: checkpointer.N(2)}, "u/u1 t/b2")
	c.oneError(checkpointer.ListAll(c.Context(), s, checkpointer.Query{Thread: "t"}), checkpointer.ErrInvalid, "list of all threads with a thread")
}

func writesByPath(c *check) {
	s := c.saver()
	at := c.chain(s, thread("t"), "c1")
	put := func(id, path string, w ...checkpointer.Write) {
		c.Helper()
		c.ok(s.PutWrites(c.Context(), at, checkpointer.Task{ID: id, Path: path}, w), "writes of %q at %q", id, path)
	}
	put("a", "~2", write("x", "1"), write("y", "2"))
	put("b", "~1", write("x", "3"))
	put("z", "", write("x", "4"))
	put("c", "~1", write("x", "5"), write(checkpointer.ChannelError, "e"))
	cp := c.get(s, at)
	c.writes(cp, "z/0/x=4 b/0/x=3 c/-1/__error__=e c/0/x=5 a/0/x=1 a/1/y=2")
	if n := len(cp.Writes); n == 6 && (cp.Writes[0].Task.Path != "" || cp.Writes[5].Task.Path != "~2") {
		c.Errorf("the paths came back as %q and %q", cp.Writes[0].Task.Path, cp.Writes[5].Task.Path)
	}
	for name, id := range badIDs() {
		err := s.PutWrites(c.Context(), at, checkpointer.Task{ID: "task", Path: id}, nil)
		c.is(err, checkpointer.ErrInvalid, "writes with %s path", name)
	}
}
