package checkpointertest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

func logRules() []rule {
	return []rule{
		{name: "log-entries", needs: Logger, check: logEntries},
		{name: "log-changes", needs: Logger, check: logChanges},
		{name: "log-ranges", needs: Logger, check: logRanges},
		{name: "log-branches", needs: Logger, check: logBranches},
		{name: "log-truncate", needs: Logger, check: logTruncate},
		{name: "log-fork-thread", needs: Logger, check: logFork},
		{name: "log-compact", needs: Logger, check: logCompact},
		{name: "log-prune", needs: Logger, check: logPrune},
		{name: "log-of-messages", needs: Logger, check: logOfMessages},
		{name: "log-any-name", needs: Logger, check: logAnyName},
		{name: "log-errors", needs: Logger, check: logErrors},
		{name: "log-is-part-of-the-put", needs: Logger, check: logPut},
	}
}

// entries are appends whose id and data are the words of names.
func entries(names string) []checkpointer.LogEntry {
	var log []checkpointer.LogEntry
	for _, name := range strings.Fields(names) {
		log = append(log, checkpointer.LogEntry{Op: checkpointer.OpAppend, ID: name, Data: []byte(name)})
	}
	return log
}

func replaceEntry(id, data string) checkpointer.LogEntry {
	return checkpointer.LogEntry{Op: checkpointer.OpReplace, ID: id, Data: []byte(data)}
}

func removeEntry(id string) checkpointer.LogEntry {
	return checkpointer.LogEntry{Op: checkpointer.OpRemove, ID: id}
}

func logs(name string, log []checkpointer.LogEntry) map[string][]checkpointer.LogEntry {
	return map[string][]checkpointer.LogEntry{name: log}
}

func readLog(ctx context.Context, s checkpointer.Logger, at checkpointer.Ref, log string, r checkpointer.Range) ([]checkpointer.LogItem, error) {
	var items []checkpointer.LogItem
	for it, err := range s.Entries(ctx, at, log, r) {
		if err != nil {
			return items, err
		}
		items = append(items, it)
	}
	return items, nil
}

func (c *check) entries(s checkpointer.Saver, at checkpointer.Ref, log string, r checkpointer.Range) []checkpointer.LogItem {
	c.Helper()
	items, err := readLog(c.Context(), ability[checkpointer.Logger](c, s), at, log, r)
	c.ok(err, "entries of %q at %+v", log, at)
	return items
}

// ranges reports when the data in r of a log are not the words of want.
func (c *check) ranges(s checkpointer.Saver, at checkpointer.Ref, log string, r checkpointer.Range, want string) {
	c.Helper()
	var words []string
	for _, it := range c.entries(s, at, log, r) {
		words = append(words, string(it.Data))
	}
	if got := strings.Join(words, " "); got != want {
		c.Errorf("log %q at %+v in %s: got [%s], want [%s]", log, at, showRange(r), got, want)
	}
}

// holds reports when a log does not hold the words of want, read forwards and backwards.
func (c *check) holds(s checkpointer.Saver, at checkpointer.Ref, log, want string) {
	c.Helper()
	words := strings.Fields(want)
	c.ranges(s, at, log, checkpointer.Range{}, strings.Join(words, " "))
	slices.Reverse(words)
	c.ranges(s, at, log, checkpointer.Range{Backward: true}, strings.Join(words, " "))
}

func logEntries(c *check) {
	s := c.saver()
	c1 := c.put(s, thread("t"), checkpointer.Step{ID: "c1", Log: appends("m"), Logs: logs("results", entries("a b")), Channels: values("results=7")})
	c2 := c.put(s, c1, checkpointer.Step{ID: "c2", Logs: map[string][]checkpointer.LogEntry{"results": entries("c"), "other": {
		{Op: checkpointer.OpAppend, Data: []byte{0, 0xff}}, {Op: checkpointer.OpAppend}}}})
	c3 := c.chain(s, c2, "n")
	c.holds(s, c1, "results", "a b")
	c.holds(s, c3, "results", "a b c")
	c.holds(s, c1, "other", "")
	c.holds(s, c1, "unknown", "")
	c.sees(s, c3, "m n")
	c.channels(c.get(s, c3), "results=7")
	got := c.entries(s, c3, "other", checkpointer.Range{})
	if len(got) != 2 || string(got[0].Data) != "\x00\xff" || got[0].ID != "" || got[1].Data == nil || got[1].Seq != 1 {
		c.Errorf("entries without an id came back as %+v", got)
	}
	c.log(s, c3, "results", 3, "c2")
	c.log(s, c3, "other", 2, "c2")
	c.log(s, c1, "results", 2, "c1")
	if _, there := c.get(s, c1).Logs["other"]; there {
		c.Errorf("a log that has nothing yet is there")
	}
	for _, cp := range c.list(s, checkpointer.Query{Thread: "t", Limit: checkpointer.N(1)}) {
		if cp.Logs["results"].Length != 3 {
			c.Errorf("listed with the logs %v", cp.Logs)
		}
	}
	for _, it := range c.entries(s, c3, "results", checkpointer.Range{}) {
		scribble(it.Data)
	}
	c.holds(s, c3, "results", "a b c")
}

func logChanges(c *check) {
	s := c.saver()
	c1 := c.put(s, thread("t"), checkpointer.Step{ID: "c1", Logs: logs("l", append(entries("a b c"), replaceEntry("b", "B"), removeEntry("a")))})
	c.holds(s, c1, "l", "B c")
	c2 := c.put(s, c1, checkpointer.Step{ID: "c2", Logs: logs("l", append([]checkpointer.LogEntry{replaceEntry("none", "x"), removeEntry("none"), replaceEntry("a", "x")}, entries("a none")...))})
	c.holds(s, c2, "l", "B c a none")
	c3 := c.put(s, c2, checkpointer.Step{ID: "c3", Logs: logs("l", append([]checkpointer.LogEntry{{Op: checkpointer.OpReset}}, entries("d")...))})
	c.holds(s, c3, "l", "d")
	c.holds(s, c2, "l", "B c a none")
	c.holds(s, c1, "l", "B c")
	if it := c.entries(s, c3, "l", checkpointer.Range{}); len(it) == 1 && (it[0].Seq != 11 || it[0].ID != "d") {
		c.Errorf("the entry after the reset is %q at %d, want d at 11", it[0].ID, it[0].Seq)
	}
}

func logRanges(c *check) {
	s := c.saver()
	at := thread("t")
	for i := range 25 {
		at = c.put(s, at, checkpointer.Step{Logs: logs("l", entries(names(i*10, i*10+10)))})
	}
	c.ranges(s, at, "l", checkpointer.Range{From: 100, To: 105}, names(100, 105))
	c.ranges(s, at, "l", checkpointer.Range{Limit: checkpointer.N(3)}, names(0, 3))
	c.ranges(s, at, "l", checkpointer.Range{Backward: true, Limit: checkpointer.N(120)}, names(250, 130))
	c.ranges(s, at, "l", checkpointer.Range{Backward: true, To: 4}, names(4, 0))
	c.ranges(s, at, "l", checkpointer.Range{Limit: checkpointer.N(0)}, "")
	c.ranges(s, at, "l", checkpointer.Range{}, names(0, 250))
	for range ability[checkpointer.Logger](c, s).Entries(c.Context(), at, "l", checkpointer.Range{}) {
		at = c.put(s, at, checkpointer.Step{}) // no lock is held while a caller works
		break
	}
}

func logBranches(c *check) {
	s := c.saver()
	c1 := c.put(s, thread("t"), checkpointer.Step{ID: "c1", Logs: logs("l", entries("a"))})
	lost := c.put(s, c1, checkpointer.Step{ID: "lost", Logs: map[string][]checkpointer.LogEntry{"l": entries("b"), "k": entries("k")}})
	branch := c.put(s, c1, checkpointer.Step{ID: "branch", Fork: true, Logs: logs("l", append(entries("x"), replaceEntry("a", "A")))})
	c.holds(s, branch, "l", "A x")
	c.holds(s, branch, "k", "")
	c.holds(s, lost, "l", "a b")
	next := c.put(s, branch, checkpointer.Step{Logs: map[string][]checkpointer.LogEntry{"l": entries("y"), "k": entries("K")}})
	c.holds(s, next, "l", "A x y")
	c.holds(s, next, "k", "K")
	c.holds(s, lost, "k", "k")
}

func logTruncate(c *check) {
	s := c.saver()
	c1 := c.put(s, thread("t"), checkpointer.Step{ID: "c1", Log: appends("m n"), Logs: map[string][]checkpointer.LogEntry{
		"l": append(entries("a b c"), replaceEntry("a", "A"), removeEntry("b")), "k": entries("k1 k2")}})
	cut := c.put(s, c1, checkpointer.Step{ID: "cut", Fork: true, TruncateLogs: map[string]int64{"l": 2, "none": 0}, Logs: logs("k", entries("k3"))})
	c.holds(s, cut, "l", "A")
	c.holds(s, cut, "k", "k1 k2 k3")
	c.sees(s, cut, "m n")
	c.log(s, cut, "l", 2, "cut")
	next := c.put(s, cut, checkpointer.Step{Logs: logs("l", entries("d"))})
	c.holds(s, next, "l", "A d")
	all := c.put(s, c1, checkpointer.Step{ID: "all", Fork: true, Truncate: ptr(int64(0)), TruncateLogs: map[string]int64{"l": 0, "k": 9}})
	c.holds(s, all, "l", "")
	c.holds(s, all, "k", "k1 k2")
	c.sees(s, all, "")
	c.holds(s, c1, "l", "A c")
}

// worked puts a history of a log; it holds "A c" and, in "k", "k".
func worked(c *check, s checkpointer.Saver) checkpointer.Ref {
	c.Helper()
	at := c.put(s, thread("t"), checkpointer.Step{ID: "w1", Logs: logs("l", entries("a b c"))})
	at = c.put(s, at, checkpointer.Step{ID: "w2", Logs: map[string][]checkpointer.LogEntry{"l": {replaceEntry("a", "A")}, "k": entries("k")}})
	return c.put(s, at, checkpointer.Step{ID: "w3", Logs: logs("l", []checkpointer.LogEntry{removeEntry("b")})})
}

func logFork(c *check) {
	s := c.saver()
	if _, ok := s.(checkpointer.Forker); !ok {
		return
	}
	at := worked(c, s)
	ref, err := ability[checkpointer.Forker](c, s).Fork(c.Context(), at, ptr(int64(0)), "u")
	c.ok(err, "fork")
	c.holds(s, ref, "l", "A c")
	c.holds(s, ref, "k", "k")
	if got, want := c.get(s, ref).Logs["l"].Length, c.get(s, at).Logs["l"].Length; got != want {
		c.Errorf("the fork's log has length %d, want %d", got, want)
	}
	next := c.put(s, ref, checkpointer.Step{Logs: logs("l", append(entries("d"), removeEntry("c")))})
	c.ok(s.DeleteThread(c.Context(), "t"), "delete of the origin")
	c.holds(s, next, "l", "A d")
	c.holds(s, ref, "l", "A c")
}

func logCompact(c *check) {
	s := c.saver()
	at := c.put(s, thread("t"), checkpointer.Step{ID: "c1", Log: appends("m"), Channels: values("x=1"), Logs: map[string][]checkpointer.LogEntry{"l": entries(names(0, 10)), "k": entries("k")}})
	a := ability[checkpointer.Logger](c, s)
	ref, err := a.CompactLog(c.Context(), at, "l", checkpointer.LogItem{ID: "sum", Data: []byte("sum")}, 2)
	c.ok(err, "compact of a log")
	c.holds(s, ref, "l", "sum m8 m9")
	if it := c.entries(s, ref, "l", checkpointer.Range{}); len(it) == 3 && (it[0].Seq != 7 || it[2].Seq != 9 || it[0].ID != "sum") {
		c.Errorf("positions after the compaction: %+v", it)
	}
	c.holds(s, ref, "k", "k")
	c.sees(s, ref, "m")
	c.channels(c.get(s, ref), "x=1")
	c.holds(s, at, "l", names(0, 10))
	c.log(s, ref, "l", 10, ref.ID)
	next := c.put(s, ref, checkpointer.Step{Logs: logs("l", entries("n"))})
	c.holds(s, next, "l", "sum m8 m9 n")
	same, err := a.CompactLog(c.Context(), next, "l", checkpointer.LogItem{ID: "sum", Data: []byte("sum")}, 4)
	c.ok(err, "compact with nothing to do")
	if same != next {
		c.Errorf("a compaction with nothing to do returned %+v", same)
	}
	_, err = a.CompactLog(c.Context(), at, "l", checkpointer.LogItem{ID: "sum"}, 0)
	c.is(err, checkpointer.ErrConflict, "compact at an older checkpoint")
	_, err = a.CompactLog(c.Context(), next, checkpointer.LogMessages, checkpointer.LogItem{ID: "sum"}, 0)
	c.is(err, checkpointer.ErrInvalid, "compact of the messages as a log")
	_, err = a.CompactLog(c.Context(), next, "l", checkpointer.LogItem{ID: "sum"}, -1)
	c.is(err, checkpointer.ErrInvalid, "compact to less than nothing")
}

func logPrune(c *check) {
	s := c.saver()
	if _, ok := s.(checkpointer.Pruner); !ok {
		return
	}
	at := worked(c, s)
	lost := c.put(s, at, checkpointer.Step{ID: "lost", Logs: logs("lost", entries("x"))})
	at = c.put(s, at, checkpointer.Step{ID: "kept", Fork: true, Logs: logs("l", append(entries("e"), replaceEntry("c", "C")))})
	c.prune(s, "t", 2, "", 3)
	c.holds(s, at, "l", "A C e")
	c.holds(s, lost, "l", "A c")
	c.holds(s, lost, "lost", "x")
	c.prune(s, "t", 1, "", 1)
	c.holds(s, at, "l", "A C e")
	c.holds(s, at, "k", "k")
	next := c.put(s, at, checkpointer.Step{ID: "next", Logs: map[string][]checkpointer.LogEntry{"l": entries("b f"), "lost": entries("y")}})
	c.holds(s, next, "l", "A C e b f")
	c.holds(s, next, "lost", "y")
	c.log(s, next, "l", 9, "next")
}

func logOfMessages(c *check) {
	s := c.saver()
	at := c.put(s, thread("t"), checkpointer.Step{Log: append(appends("a b c"), replace("b", "B"), remove("a"))})
	items := c.entries(s, at, checkpointer.LogMessages, checkpointer.Range{})
	messages := c.read(s, at, checkpointer.Range{})
	if len(items) != len(messages) {
		c.Fatalf("%d entries for %d messages", len(items), len(messages))
	}
	for i, it := range items {
		var m langrooms.Message
		c.ok(m.UnmarshalJSON(it.Data), "entry %d", i)
		if stored(m) != stored(messages[i]) || it.Seq != messages[i].Seq || it.ID != m.ID {
			c.Errorf("entry %d is %q at %d, want %s", i, it.Data, it.Seq, stored(messages[i]))
		}
	}
}

func logAnyName(c *check) {
	s := c.saver()
	all := map[string][]checkpointer.LogEntry{}
	for i, id := range HostileIDs() {
		if id == "" {
			continue
		}
		all[id] = append(entries(fmt.Sprint("e", i)), checkpointer.LogEntry{Op: checkpointer.OpAppend, ID: id, Data: []byte("x")}, replaceEntry(id, fmt.Sprint("r", i)))
	}
	at := c.put(s, thread("t"), checkpointer.Step{Logs: all})
	at = c.put(s, at, checkpointer.Step{})
	for i, id := range HostileIDs() {
		if id != "" {
			c.holds(s, at, id, fmt.Sprintf("e%d r%d", i, i))
		}
	}
}

func logErrors(c *check) {
	s := c.saver()
	at := c.put(s, thread("t"), checkpointer.Step{ID: "c1", Logs: logs("l", entries("a"))})
	good := entries("a")
	steps := map[string]checkpointer.Step{
		"an empty log":             {Logs: logs("", good)},
		"the log of messages":      {Logs: logs(checkpointer.LogMessages, good)},
		"an unknown op":            {Logs: logs("l", append(good, checkpointer.LogEntry{Op: "merge", ID: "a"}))},
		"a replace without an id":  {Logs: logs("l", []checkpointer.LogEntry{{Op: checkpointer.OpReplace}})},
		"a remove without an id":   {Logs: logs("l", []checkpointer.LogEntry{{Op: checkpointer.OpRemove}})},
		"a truncate without fork":  {TruncateLogs: map[string]int64{"l": 0}},
		"a negative truncate":      {Fork: true, TruncateLogs: map[string]int64{"l": -1}},
		"a truncate of messages":   {Fork: true, TruncateLogs: map[string]int64{checkpointer.LogMessages: 0}},
		"a truncate without a log": {Fork: true, TruncateLogs: map[string]int64{"": 0}},
	}
	for name, id := range badIDs() {
		steps[name+" log"] = checkpointer.Step{Logs: logs(id, good)}
		steps[name+" entry"] = checkpointer.Step{Logs: logs("l", []checkpointer.LogEntry{{Op: checkpointer.OpAppend, ID: id}})}
	}
	for name, step := range steps {
		_, err := s.Put(c.Context(), at, step)
		c.is(err, checkpointer.ErrInvalid, "put with %s", name)
	}
	a := ability[checkpointer.Logger](c, s)
	for name, r := range map[string]checkpointer.Range{"a negative limit": {Limit: checkpointer.N(-1)}, "a negative from": {From: -1}} {
		_, err := readLog(c.Context(), a, at, "l", r)
		c.is(err, checkpointer.ErrInvalid, "entries with %s", name)
	}
	_, err := readLog(c.Context(), a, at, "", checkpointer.Range{})
	c.is(err, checkpointer.ErrInvalid, "entries of an empty log")
	_, err = readLog(c.Context(), a, checkpointer.Ref{Thread: "t", ID: "none"}, "l", checkpointer.Range{})
	c.is(err, checkpointer.ErrNotFound, "entries of an unknown checkpoint")
	c.lists(s, checkpointer.Query{Thread: "t"}, "c1")
	c.holds(s, at, "l", "a")
}

func logPut(c *check) {
	s := c.saver()
	c1 := c.put(s, thread("t"), checkpointer.Step{ID: "c1"})
	step := func() checkpointer.Step {
		return checkpointer.Step{ID: "c2", Logs: map[string][]checkpointer.LogEntry{"l": entries("a"), "none": {}}, Fork: true, TruncateLogs: map[string]int64{"k": 1}}
	}
	c2 := c.put(s, c1, step())
	c.put(s, c1, step())
	c.holds(s, c2, "l", "a")
	for name, change := range map[string]func(step *checkpointer.Step){
		"entry":    func(step *checkpointer.Step) { step.Logs["l"][0].Data = []byte("b") },
		"log":      func(step *checkpointer.Step) { step.Logs["k"] = entries("a") },
		"truncate": func(step *checkpointer.Step) { step.TruncateLogs["k"] = 2 },
	} {
		other := step()
		change(&other)
		_, err := s.Put(c.Context(), c1, other)
		c.is(err, checkpointer.ErrConflict, "put of the same id with another %s", name)
	}
	data := []byte("abc")
	c3 := c.put(s, c2, checkpointer.Step{Logs: logs("m", []checkpointer.LogEntry{{Op: checkpointer.OpAppend, Data: data}})})
	scribble(data)
	c.holds(s, c3, "m", "abc")
	if len(c.get(s, c2).Logs) != 1 {
		c.Errorf("logs after empty changes: %v", c.get(s, c2).Logs)
	}
}
