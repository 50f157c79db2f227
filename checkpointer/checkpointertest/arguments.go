package checkpointertest

import (
	"strings"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

func argumentRules() []rule {
	return []rule{
		{name: "invalid-put", check: invalidPut},
		{name: "invalid-writes", check: invalidWrites},
		{name: "invalid-reads", check: invalidReads},
		{name: "errors-name-the-thread", check: errorsNameTheThread},
	}
}

// badIDs can never name anything, not even where an empty id is allowed.
func badIDs() map[string]string {
	return map[string]string{
		"an invalid UTF-8":      "a\xff",
		"a surrogate":           "\xed\xa0\x80",
		"a too long":            strings.Repeat("k", checkpointer.MaxID+1),
		"a too long, non-ASCII": strings.Repeat("é", checkpointer.MaxID/2) + "é",
	}
}

func invalidPut(c *check) {
	s := c.saver()
	first := c.put(s, thread("t"), checkpointer.Step{ID: "c1", Log: appends("a")})
	type call struct {
		parent checkpointer.Ref
		step   checkpointer.Step
	}
	calls := map[string]call{
		"an empty thread":             {checkpointer.Ref{}, checkpointer.Step{}},
		"truncate without fork":       {first, checkpointer.Step{Truncate: ptr(int64(0))}},
		"a negative truncate":         {first, checkpointer.Step{Fork: true, Truncate: ptr(int64(-1))}},
		"an unknown op":               {first, checkpointer.Step{Log: []checkpointer.Entry{{Op: "merge", Message: message("m")}}}},
		"an empty op":                 {first, checkpointer.Step{Log: []checkpointer.Entry{{Message: message("m")}}}},
		"an append without an id":     {first, checkpointer.Step{Log: checkpointer.Append(langrooms.Message{Role: langrooms.RoleAI})}},
		"a replace without an id":     {first, checkpointer.Step{Log: []checkpointer.Entry{{Op: checkpointer.OpReplace}}}},
		"a remove without an id":      {first, checkpointer.Step{Log: []checkpointer.Entry{{Op: checkpointer.OpRemove}}}},
		"a good entry before a bad":   {first, checkpointer.Step{Log: append(appends("b"), checkpointer.Entry{Op: "merge"})}},
		"an unencodable extra field":  {first, checkpointer.Step{Log: checkpointer.Append(langrooms.Message{ID: "m", Extra: map[string]jsonText{"x": jsonText("{")}})}},
		"a channel set and removed":   {first, checkpointer.Step{Channels: values("x=1"), Remove: []string{"x"}}},
		"metadata that is not UTF-8":  {first, checkpointer.Step{Metadata: checkpointer.Metadata{"k": "\xff"}}},
		"a metadata key not in UTF-8": {first, checkpointer.Step{Metadata: checkpointer.Metadata{"\xff": ""}}},
	}
	for name, id := range badIDs() {
		calls[name+" thread"] = call{thread(id), checkpointer.Step{}}
		calls[name+" namespace"] = call{checkpointer.Ref{Thread: "t", Namespace: id}, checkpointer.Step{}}
		calls[name+" parent"] = call{checkpointer.Ref{Thread: "t", ID: id}, checkpointer.Step{}}
		calls[name+" checkpoint"] = call{first, checkpointer.Step{ID: id}}
		calls[name+" channel"] = call{first, checkpointer.Step{Channels: map[string][]byte{id: nil}}}
		calls[name+" removed channel"] = call{first, checkpointer.Step{Remove: []string{id}}}
	}
	for name, call := range calls {
		_, err := s.Put(c.Context(), call.parent, call.step)
		c.is(err, checkpointer.ErrInvalid, "put with %s", name)
	}
	c.lists(s, checkpointer.Query{Thread: "t"}, "c1")
	c.sees(s, thread("t"), "a")
}

func invalidWrites(c *check) {
	s := c.saver()
	at := c.put(s, thread("t"), checkpointer.Step{ID: "c1"})
	good := []checkpointer.Write{write("x", "1")}
	is := func(err error, name string) {
		c.Helper()
		c.is(err, checkpointer.ErrInvalid, "writes with %s", name)
	}
	is(s.PutWrites(c.Context(), checkpointer.Ref{Thread: "t"}, task("task"), good), "an empty checkpoint id")
	is(s.PutWrites(c.Context(), checkpointer.Ref{ID: "c1"}, task("task"), good), "an empty thread")
	for name, id := range badIDs() {
		is(s.PutWrites(c.Context(), checkpointer.Ref{Thread: id, ID: "c1"}, task("task"), good), name+" thread")
		is(s.PutWrites(c.Context(), checkpointer.Ref{Thread: "t", Namespace: id, ID: "c1"}, task("task"), good), name+" namespace")
		is(s.PutWrites(c.Context(), checkpointer.Ref{Thread: "t", ID: id}, task("task"), good), name+" checkpoint")
		is(s.PutWrites(c.Context(), at, task(id), good), name+" task")
		is(s.PutWrites(c.Context(), at, task("task"), append(good, checkpointer.Write{Channel: id})), name+" channel")
	}
	c.writes(c.get(s, at), "")
}

func invalidReads(c *check) {
	s := c.saver()
	at := c.put(s, thread("t"), checkpointer.Step{ID: "c1", Log: appends("a")})
	refs := map[string]checkpointer.Ref{"an empty thread": {}}
	for name, id := range badIDs() {
		refs[name+" thread"] = thread(id)
		refs[name+" namespace"] = checkpointer.Ref{Thread: "t", Namespace: id}
		refs[name+" checkpoint"] = checkpointer.Ref{Thread: "t", ID: id}
	}
	queries := map[string]checkpointer.Query{
		"an empty thread":  {},
		"a negative limit": {Thread: "t", Limit: checkpointer.N(-1)},
	}
	for name, ref := range refs {
		_, err := s.Get(c.Context(), ref)
		c.is(err, checkpointer.ErrInvalid, "get with %s", name)
		_, err = readAll(c.Context(), s, ref, checkpointer.Range{})
		c.is(err, checkpointer.ErrInvalid, "messages with %s", name)
		if ref.ID == "" {
			queries[name] = checkpointer.Query{Thread: ref.Thread, Namespace: &ref.Namespace}
		} else {
			queries[name] = checkpointer.Query{Thread: "t", Before: ref}
		}
		if ref.Thread != "t" {
			c.is(s.DeleteThread(c.Context(), ref.Thread), checkpointer.ErrInvalid, "delete with %s", name)
		}
	}
	for name, q := range queries {
		c.oneError(s.List(c.Context(), q), checkpointer.ErrInvalid, "list with "+name)
	}
	for name, r := range map[string]checkpointer.Range{
		"a negative limit": {Limit: checkpointer.N(-1)}, "a negative from": {From: -1}, "a negative to": {To: -1},
	} {
		_, err := readAll(c.Context(), s, at, r)
		c.is(err, checkpointer.ErrInvalid, "messages with %s", name)
	}
}

func errorsNameTheThread(c *check) {
	s := c.saver()
	c.chain(s, thread("odd\nthread"), "a")
	_, getErr := s.Get(c.Context(), checkpointer.Ref{Thread: "odd\nthread", ID: "none"})
	_, putErr := s.Put(c.Context(), thread("odd\nthread"), checkpointer.Step{})
	writesErr := s.PutWrites(c.Context(), checkpointer.Ref{Thread: "odd\nthread"}, task("task"), nil)
	_, readErr := readAll(c.Context(), s, checkpointer.Ref{Thread: "odd\nthread", ID: "none"}, checkpointer.Range{})
	for name, err := range map[string]error{"get": getErr, "put": putErr, "writes": writesErr, "messages": readErr} {
		if err == nil || !strings.Contains(err.Error(), `odd\nthread`) {
			c.Errorf("the error of %s does not name the thread, escaped: %v", name, err)
		}
	}
}
