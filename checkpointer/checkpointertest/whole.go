package checkpointertest

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/langrooms/langrooms/checkpointer"
)

func wholeRules() []rule {
	return []rule{
		{name: "copy-thread", needs: Copier, check: copyThread},
		{name: "copy-thread-errors", needs: Copier, check: copyErrors},
		{name: "delete-run", needs: Pruner, check: deleteRun},
		{name: "prune-by-age", needs: Pruner, check: pruneByAge},
		{name: "prune-answered-interrupts", needs: Pruner, check: pruneAnswered},
		{name: "pruned-contents-are-gone", needs: Pruner, check: prunedContents},
		{name: "prune-keeps-what-branches-see", needs: Pruner, check: pruneShared},
		{name: "orphans-wait-for-their-put", check: orphans},
		{name: "limits", check: limits},
		{name: "large-blobs", check: largeBlobs},
	}
}

// whole is what can be read of a thread, its name and sequences apart.
func (c *check) whole(s checkpointer.Saver, name string) string {
	c.Helper()
	var b strings.Builder
	for _, cp := range c.list(s, checkpointer.Query{Thread: name}) {
		cp = c.get(s, cp.Ref)
		fmt.Fprintf(&b, "%q %q parent %q at %v: %q %v %v %v\n", cp.Ref.Namespace, cp.Ref.ID, cp.Parent, cp.Time, cp.Channels, cp.Metadata, cp.Changed, cp.Writes)
		fmt.Fprintln(&b, texts(c.read(s, cp.Ref, checkpointer.Range{})), seqs(c.read(s, cp.Ref, checkpointer.Range{})))
		for log, state := range cp.Logs {
			if a, ok := s.(checkpointer.Logger); ok && log != checkpointer.LogMessages {
				items, err := readLog(c.Context(), a, cp.Ref, log, checkpointer.Range{})
				c.ok(err, "entries")
				fmt.Fprintln(&b, log, state.Length, items)
			}
		}
	}
	return b.String()
}

func copyThread(c *check) {
	s := c.saver()
	at := eventful(c, s)
	step := checkpointer.Step{ID: "meta", Metadata: checkpointer.Metadata{"n": 1}, Time: time.Unix(5, 0)}
	if _, ok := s.(checkpointer.Logger); ok {
		step.Logs = logs("l", append(entries("a b"), removeEntry("a")))
	}
	at = c.put(s, at, step)
	c.put(s, checkpointer.Ref{Thread: "t", Namespace: "n"}, checkpointer.Step{ID: "sub", Log: appends("s")})
	c.putWrites(s, at, "task", write("x", "1"), write(checkpointer.ChannelInterrupt, "?"))
	c.putWrites(s, checkpointer.Ref{Thread: "t", ID: "never"}, "task", write("x", "1"))
	want := c.whole(s, "t")
	c.ok(ability[checkpointer.Copier](c, s).CopyThread(c.Context(), "t", "u"), "copy")
	if got := c.whole(s, "u"); got != want {
		c.Errorf("the copy is\n%s\nwant\n%s", got, want)
	}
	old, copied := c.get(s, at), c.get(s, checkpointer.Ref{Thread: "u", ID: at.ID})
	for name, version := range old.Versions {
		for other, than := range old.Versions {
			if (version < than) != (copied.Versions[name] < copied.Versions[other]) {
				c.Errorf("the versions %v became %v", old.Versions, copied.Versions)
			}
		}
	}
	// Both go on, apart.
	next := c.put(s, checkpointer.Ref{Thread: "u", ID: at.ID}, checkpointer.Step{ID: "next", Log: append(appends("u"), remove("c")), Channels: values("x=u")})
	c.chain(s, at, "t1")
	c.sees(s, next, "A f u")
	c.sees(s, thread("t"), "A c f t1")
	c.ok(s.DeleteThread(c.Context(), "t"), "delete of the origin")
	c.sees(s, next, "A f u")
	c.channels(c.get(s, next), "x=u")
	c.writes(c.get(s, checkpointer.Ref{Thread: "u", ID: "meta"}), "task/-3/__interrupt__=? task/0/x=1")
	never := c.put(s, next, checkpointer.Step{ID: "never"})
	c.writes(c.get(s, never), "")
	back := c.put(s, checkpointer.Ref{Thread: "u", ID: "c1"}, checkpointer.Step{ID: "back", Fork: true, Log: appends("z")})
	c.sees(s, back, "a b c z")
}

func copyErrors(c *check) {
	s := c.saver()
	c.chain(s, thread("t"), "a")
	c.chain(s, thread("u"), "b")
	a := ability[checkpointer.Copier](c, s)
	c.is(a.CopyThread(c.Context(), "t", "u"), checkpointer.ErrConflict, "copy onto a thread that exists")
	c.is(a.CopyThread(c.Context(), "t", "t"), checkpointer.ErrConflict, "copy onto itself")
	c.is(a.CopyThread(c.Context(), "none", "v"), checkpointer.ErrNotFound, "copy of an unknown thread")
	c.is(a.CopyThread(c.Context(), "", "v"), checkpointer.ErrInvalid, "copy of an empty thread")
	c.is(a.CopyThread(c.Context(), "t", ""), checkpointer.ErrInvalid, "copy to an empty thread")
	_, err := s.Put(checkpointer.WithFence(c.Context(), "w", 5), thread("w"), checkpointer.Step{})
	c.ok(err, "put with a token")
	c.ok(s.DeleteThread(checkpointer.WithFence(c.Context(), "w", 5), "w"), "delete with a token")
	c.is(a.CopyThread(checkpointer.WithFence(c.Context(), "w", 4), "t", "w"), checkpointer.ErrFenced, "copy with an older token")
	c.sees(s, thread("u"), "b")
	c.lists(s, checkpointer.Query{Thread: "v"}, "")
}

func deleteRun(c *check) {
	s := c.saver()
	if _, ok := s.(checkpointer.Lister); !ok {
		return
	}
	run := func(at checkpointer.Ref, id string, run any) checkpointer.Ref {
		c.Helper()
		return c.put(s, at, checkpointer.Step{ID: id, Log: appends(id), Channels: values("x=" + id), Metadata: checkpointer.Metadata{"run_id": run}})
	}
	t1 := run(thread("t"), "t1", "r1")
	t2 := run(t1, "t2", "r2")
	t3 := run(t2, "t3", "r1")
	c.putWrites(s, t3, "task", write(checkpointer.ChannelInterrupt, "?"))
	run(checkpointer.Ref{Thread: "t", Namespace: "n"}, "n1", "r1")
	run(run(thread("u"), "u1", "r2"), "u2", "r1")
	run(thread("only"), "o1", "r1")
	run(thread("number"), "one", 1)
	n, err := checkpointer.DeleteRun(c.Context(), s, "r1")
	c.ok(err, "delete of a run")
	if n != 5 {
		c.Errorf("%d checkpoints of the run were removed, want 5", n)
	}
	c.lists(s, checkpointer.Query{Thread: "t"}, "t2")
	c.lists(s, checkpointer.Query{Thread: "u"}, "u1")
	c.sees(s, thread("t"), "t1 t2")
	c.channels(c.get(s, thread("t")), "x=t2")
	c.sees(s, c.chain(s, t2, "t4"), "t1 t2 t4")
	c.gone(s, "only", "o1")
	all, err := threads(c.Context(), ability[checkpointer.Lister](c, s))
	c.ok(err, "threads")
	if len(all) != 3 {
		c.Errorf("%d threads are left, want 3", len(all))
	}
	c.chain(s, thread("only"), "again")
	if n, err := checkpointer.DeleteRun(c.Context(), s, "1"); n != 0 || err != nil {
		c.Errorf("delete of the run \"1\" removed %d, the number's: %v", n, err)
	}
	_, err = checkpointer.DeleteRun(c.Context(), s, "")
	c.is(err, checkpointer.ErrInvalid, "delete of an empty run")
}

func pruneByAge(c *check) {
	s := c.saver()
	at := thread("t")
	for i, day := range []int{1, 9, 2, 3, 4} {
		at = c.put(s, at, checkpointer.Step{ID: fmt.Sprint("c", i), Log: appends(fmt.Sprint("m", i)), Time: time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC),
			Metadata: checkpointer.Metadata{"run_id": fmt.Sprint(i % 2)}})
	}
	prune := func(r checkpointer.Retention, want int, left string) {
		c.Helper()
		removed, err := ability[checkpointer.Pruner](c, s).Prune(c.Context(), "t", r)
		c.ok(err, "prune %+v", r)
		if removed != want {
			c.Errorf("prune %+v removed %d, want %d", r, removed, want)
		}
		c.lists(s, checkpointer.Query{Thread: "t"}, left)
	}
	third := time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC)
	prune(checkpointer.Retention{Keep: 9, Before: third}, 0, "c4 c3 c2 c1 c0")
	prune(checkpointer.Retention{Keep: 1, Before: third, RunID: "1"}, 0, "c4 c3 c2 c1 c0")
	prune(checkpointer.Retention{Keep: 3, Before: third}, 1, "c4 c3 c2 c1")
	prune(checkpointer.Retention{Keep: 1, Before: third}, 1, "c4 c3 c1")
	prune(checkpointer.Retention{Keep: 1, Before: third.AddDate(1, 0, 0)}, 2, "c4")
	c.sees(s, at, names(0, 5))
}

func pruneAnswered(c *check) {
	s := c.saver()
	c.chain(s, thread("t"), "a b c d e f g")
	at := func(id string) checkpointer.Ref { return checkpointer.Ref{Thread: "t", ID: id} }
	question, answer := write(checkpointer.ChannelInterrupt, "?"), write(checkpointer.ChannelResume, "!")
	c.putWrites(s, at("a"), "task", question)
	c.putWrites(s, at("a"), "task", answer)
	c.putWrites(s, at("b"), "task", question)
	c.putWrites(s, at("b"), checkpointer.NullTask, answer)
	c.putWrites(s, at("c"), "task", question)
	c.putWrites(s, at("c"), "other", answer) // not its task
	c.putWrites(s, at("d"), "task", answer)
	c.putWrites(s, at("d"), "task", question) // asked again
	c.putWrites(s, at("e"), "task", question, answer)
	c.putWrites(s, at("f"), "task", question)
	c.putWrites(s, at("f"), "two", question)
	c.putWrites(s, at("f"), "task", answer)
	c.prune(s, "t", 1, "", 2)
	c.lists(s, checkpointer.Query{Thread: "t"}, "g f e d c")
	c.putWrites(s, at("f"), "two", answer)
	c.prune(s, "t", 1, "", 1)
}

// prunedContents: what no kept checkpoint sees is in the store no more.
func prunedContents(c *check) {
	if c.cfg.Contains == nil {
		return
	}
	s := c.saver()
	text := func(word string) string { return "contents of " + word }
	at := c.put(s, thread("t"), checkpointer.Step{Log: []checkpointer.Entry{
		{Op: checkpointer.OpAppend, Message: said("a", text("superseded"))}, {Op: checkpointer.OpAppend, Message: said("b", text("removed"))},
		{Op: checkpointer.OpAppend, Message: said("c", text("kept"))}}, Channels: values("x=" + text("channel"))})
	at = c.put(s, at, checkpointer.Step{Log: []checkpointer.Entry{replace("a", text("first-edit"))}, Channels: values("x=1")})
	at = c.put(s, at, checkpointer.Step{Log: []checkpointer.Entry{replace("a", text("second-edit")), remove("b")}})
	if _, ok := s.(checkpointer.Logger); ok {
		at = c.put(s, at, checkpointer.Step{Logs: logs("l", entries("gone-entry kept-entry"))})
		at = c.put(s, at, checkpointer.Step{Logs: logs("l", []checkpointer.LogEntry{removeEntry("gone-entry")})})
	}
	c.put(s, at, checkpointer.Step{Log: []checkpointer.Entry{{Op: checkpointer.OpAppend, Message: said("d", text("abandoned"))}}})
	at = c.put(s, at, checkpointer.Step{Log: appends("e"), Fork: true})
	_, err := ability[checkpointer.Pruner](c, s).Prune(c.Context(), "t", checkpointer.Retention{Keep: 1})
	c.ok(err, "prune")
	holds := func(want bool, words ...string) {
		c.Helper()
		for _, word := range words {
			if c.cfg.Contains(c.TB, s, word) != want {
				c.Errorf("%q in the store after the prune: %v, want %v", word, !want, want)
			}
		}
	}
	holds(true, text("kept"), text("second-edit"))
	holds(false, text("superseded"), text("removed"), text("first-edit"), text("channel"), text("abandoned"), "gone-entry")
	if got := fmt.Sprint(seqs(c.read(s, at, checkpointer.Range{}))); got != "[0 2 6]" {
		c.Errorf("positions after the prune: %s, want [0 2 6]", got)
	}
	at = c.put(s, at, checkpointer.Step{Log: []checkpointer.Entry{{Op: checkpointer.OpReset}}})
	_, err = ability[checkpointer.Pruner](c, s).Prune(c.Context(), "t", checkpointer.Retention{Keep: 1})
	c.ok(err, "prune")
	holds(false, text("kept"), text("second-edit"))
	c.sees(s, c.chain(s, at, "z"), "z")
	if a, ok := s.(checkpointer.Compacter); ok {
		at = c.put(s, thread("u"), checkpointer.Step{Log: []checkpointer.Entry{{Op: checkpointer.OpAppend, Message: said("a", text("compacted"))}}})
		at, err = a.Compact(c.Context(), c.chain(s, at, "b"), said("s", "s"), 1)
		c.ok(err, "compact")
		_, err = ability[checkpointer.Pruner](c, s).Prune(c.Context(), "u", checkpointer.Retention{Keep: 1})
		c.ok(err, "prune")
		holds(false, text("compacted"))
		c.sees(s, at, "s b")
	}
}

// pruneShared: kept checkpoints that see a message differently all go on doing so.
func pruneShared(c *check) {
	s := c.saver()
	c1 := c.put(s, thread("t"), checkpointer.Step{ID: "c1", Log: appends("a b c d")})
	c2 := c.put(s, c1, checkpointer.Step{ID: "c2", Log: []checkpointer.Entry{replace("a", "A1"), remove("b"), replace("d", "D1")}})
	c3 := c.put(s, c2, checkpointer.Step{ID: "c3", Log: append([]checkpointer.Entry{replace("a", "A2"), remove("c"), remove("d")}, appends("b e")...)})
	x := c.put(s, c2, checkpointer.Step{ID: "x", Log: []checkpointer.Entry{remove("a"), replace("b", "ghost")}, Fork: true})
	y := c.put(s, c3, checkpointer.Step{ID: "y", Log: append([]checkpointer.Entry{reset()}, appends("n")...), Fork: true})
	z := c.put(s, y, checkpointer.Step{ID: "z", Log: []checkpointer.Entry{replace("a", "ghost"), replace("n", "N")}})
	want := map[checkpointer.Ref]string{c1: "a b c d", c2: "A1 c D1", c3: "A2 b e", x: "c D1", y: "n", z: "N"}
	pin := func(refs ...checkpointer.Ref) {
		for _, ref := range refs {
			c.putWrites(s, ref, "task", write(checkpointer.ChannelInterrupt, "?"))
		}
	}
	pin(c1, c3, x)
	c.prune(s, "t", 1, "", 2) // c2 and y
	for _, ref := range []checkpointer.Ref{c1, c3, x, z} {
		c.sees(s, ref, want[ref])
	}
	for _, ref := range []checkpointer.Ref{c1, c3} {
		c.putWrites(s, ref, checkpointer.NullTask, write(checkpointer.ChannelResume, "!"))
	}
	c.prune(s, "t", 1, "", 2)
	c.sees(s, x, want[x])
	c.sees(s, z, want[z])
	c.sees(s, c.put(s, x, checkpointer.Step{Log: append(appends("a"), replace("c", "C")), Fork: true}), "C D1 a")
	c.sees(s, c.put(s, z, checkpointer.Step{Log: appends("o"), Fork: true}), "N o")
}

func orphans(c *check) {
	s := c.saver()
	c.chain(s, thread("t"), "a b c")
	late := checkpointer.Ref{Thread: "t", ID: "late"}
	c.putWrites(s, late, "task", write("x", "1"))
	c.putWrites(s, checkpointer.Ref{Thread: "alone", ID: "late"}, "task", write("x", "1"))
	c.noThread(s, "alone")
	if a, ok := s.(checkpointer.Pruner); ok {
		for _, name := range []string{"t", "alone"} {
			_, err := a.Prune(c.Context(), name, checkpointer.Retention{Keep: 1})
			c.ok(err, "prune of %q", name)
		}
	}
	c.put(s, checkpointer.Ref{Thread: "t", ID: "c"}, checkpointer.Step{ID: "late"})
	c.writes(c.get(s, late), "task/0/x=1")
	c.put(s, thread("alone"), checkpointer.Step{ID: "late"})
	c.writes(c.get(s, checkpointer.Ref{Thread: "alone", ID: "late"}), "task/0/x=1")
	c.putWrites(s, checkpointer.Ref{Thread: "t", ID: "never"}, "task", write("x", "1"))
	c.ok(s.DeleteThread(c.Context(), "t"), "delete")
	c.putWrites(s, checkpointer.Ref{Thread: "gone", ID: "never"}, "task", write("x", "1"))
	c.ok(s.DeleteThread(c.Context(), "gone"), "delete of a thread of writes alone")
	for _, name := range []string{"t", "gone"} {
		c.writes(c.get(s, c.put(s, thread(name), checkpointer.Step{ID: "never"})), "")
	}
	if a, ok := s.(checkpointer.Forker); ok {
		c.putWrites(s, checkpointer.Ref{Thread: "u", ID: "early"}, "task", write("x", "1"))
		_, err := a.Fork(c.Context(), thread("t"), nil, "u")
		c.ok(err, "fork onto a thread of writes alone")
	}
}

// noThread reports when a saver that can list threads lists name.
func (c *check) noThread(s checkpointer.Saver, name string) {
	c.Helper()
	if a, ok := s.(checkpointer.Lister); ok {
		all, err := threads(c.Context(), a)
		c.ok(err, "threads")
		for _, info := range all {
			if info.Thread == name {
				c.Errorf("the thread %q, which nothing was put to, is listed", name)
			}
		}
	}
}

func limits(c *check) {
	s := c.saver()
	at := c.put(s, thread("t"), checkpointer.Step{ID: "c1", Log: appends("a")})
	huge := bytes.Repeat([]byte("x"), checkpointer.MaxValue+1)
	third := huge[:checkpointer.MaxStep/3]
	many := make([]checkpointer.Entry, checkpointer.MaxEntries+1)
	for i := range many {
		many[i] = remove("x")
	}
	for name, step := range map[string]checkpointer.Step{
		"too large a value":   {Channels: map[string][]byte{"x": huge}},
		"too large a message": {Log: []checkpointer.Entry{{Op: checkpointer.OpAppend, Message: said("m", string(huge))}}},
		"too many values":     {Channels: map[string][]byte{"x": third, "y": third, "z": third, "w": {1}}},
		"too many entries":    {Log: many},
	} {
		_, err := s.Put(c.Context(), at, step)
		c.is(err, checkpointer.ErrTooLarge, "put with %s", name)
	}
	c.is(s.PutWrites(c.Context(), at, task("task"), []checkpointer.Write{write("y", "1"), {Channel: "x", Value: huge}}), checkpointer.ErrTooLarge, "too large a write")
	if _, ok := s.(checkpointer.Logger); ok {
		_, err := s.Put(c.Context(), at, checkpointer.Step{Logs: logs("l", []checkpointer.LogEntry{{Op: checkpointer.OpAppend, Data: huge}})})
		c.is(err, checkpointer.ErrTooLarge, "put with too large an entry")
	}
	c.lists(s, checkpointer.Query{Thread: "t"}, "c1")
	c.writes(c.get(s, at), "")
}

// largeBlobs takes values of the greatest size through every part of their life.
func largeBlobs(c *check) {
	size := checkpointer.MaxValue
	if c.cfg.SmallOnly {
		size = 1 << 20
	}
	s := c.saver()
	blob := bytes.Repeat([]byte("0123456789abcdef"), size/16)
	at := c.put(s, thread("t"), checkpointer.Step{ID: "c1", Channels: map[string][]byte{"big": blob, "small": []byte("1")}})
	at = c.put(s, at, checkpointer.Step{ID: "c2", Channels: values("small=2")})
	branch := c.put(s, checkpointer.Ref{Thread: "t", ID: "c1"}, checkpointer.Step{ID: "c3", Fork: true})
	if !bytes.Equal(c.get(s, branch).Channels["big"], blob) {
		c.Errorf("the value came back otherwise")
	}
	c.ok(s.PutWrites(c.Context(), branch, task("task"), []checkpointer.Write{{Channel: "x", Value: blob}}), "writes")
	if cp := c.get(s, branch); len(cp.Writes) != 1 || !bytes.Equal(cp.Writes[0].Value, blob) {
		c.Errorf("the pending write came back otherwise")
	}
	if a, ok := s.(checkpointer.Forker); ok {
		ref, err := a.Fork(c.Context(), at, nil, "u")
		c.ok(err, "fork")
		if !bytes.Equal(c.get(s, ref).Channels["big"], blob) {
			c.Errorf("the fork's value is another")
		}
	}
	if a, ok := s.(checkpointer.Pruner); ok {
		_, err := a.Prune(c.Context(), "t", checkpointer.Retention{Keep: 1})
		c.ok(err, "prune")
		if !bytes.Equal(c.get(s, branch).Channels["big"], blob) {
			c.Errorf("the value is another after the prune")
		}
	}
	c.ok(s.DeleteThread(c.Context(), "t"), "delete")
}

// Holds says whether text occurs in a string or a byte slice that can be reached from v: a
// Config.Contains for stores in memory. Nobody may use the store meanwhile.
func Holds(v any, text string) bool {
	h := holder{text: text, seen: map[uintptr]bool{}}
	return h.holds(reflect.ValueOf(v))
}

type holder struct {
	text string
	seen map[uintptr]bool
}

func (h holder) holds(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		return strings.Contains(v.String(), h.text)
	case reflect.Pointer, reflect.Map:
		if v.IsNil() || h.seen[v.Pointer()] {
			return false
		}
		h.seen[v.Pointer()] = true
		if v.Kind() == reflect.Pointer {
			return h.holds(v.Elem())
		}
		for _, key := range v.MapKeys() {
			if h.holds(key) || h.holds(v.MapIndex(key)) {
				return true
			}
		}
	case reflect.Interface:
		return h.holds(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if h.holds(v.Field(i)) {
				return true
			}
		}
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
			return bytes.Contains(v.Slice(0, v.Cap()).Bytes(), []byte(h.text))
		}
		for i := range v.Len() {
			if h.holds(v.Index(i)) {
				return true
			}
		}
	}
	return false
}
