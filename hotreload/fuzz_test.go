package hotreload

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/langrooms/langrooms"
)

func addCorpus(f *testing.F, add func(data []byte)) {
	files, err := filepath.Glob("testdata/corpus/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatalf("no corpus: %v", err)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		add(data)
	}
}

// FuzzParse shows that no bytes make the parser panic, that what it returns is within the
// bounds of the schema, and that every remark has its place.
func FuzzParse(f *testing.F) {
	addCorpus(f, func(data []byte) { f.Add(data) })
	f.Fuzz(func(t *testing.T, data []byte) {
		c, findings, err := Parse("f.yaml", data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.yaml:") {
				t.Errorf("an error without a place: %v", err)
			}
			return
		}
		for _, v := range findings {
			if v.Line < 1 || v.Column < 1 || v.Message == "" {
				t.Errorf("a finding without a place: %+v", v)
			}
		}
		r, d := c.Room, c.SharedSessions.Defaults
		if r.MaxRounds < 1 || r.MaxRounds > 10 || r.CatchupMaxMessages < 1 || r.CatchupMaxMessages > 500 || r.CatchupMaxChars < 1 || r.CatchupMaxChars > 200000 {
			t.Errorf("knobs out of bounds: %+v", r)
		}
		if d.MaxMessages < 1 || d.MaxMessages > 500 || d.TTLHours < 0 || d.TTLHours > 168 || d.MaxCostUSD < 0 || c.Model.Timeout <= 0 {
			t.Errorf("values out of bounds: %+v %+v", d, c.Model)
		}
		var names []string
		for _, d := range c.Delegates {
			if err := langrooms.CheckName(d.Name); err != nil || slices.Contains(names, d.Name) {
				t.Errorf("the roster took the name %q: %v", d.Name, err)
			}
			names = append(names, d.Name)
		}
	})
}

// FuzzReplace shows that an edit which is not refused gives the value that was asked for,
// leaves all other values as they were, and touches no byte outside one place.
func FuzzReplace(f *testing.F) {
	edits := []struct{ key, value string }{
		{"room.max_rounds", "7"}, {"identity.name", "bo$$"}, {"continuity", "durable"},
		{"shared_sessions.defaults.ttl_hours", "9"}, {"model.timeout_s", "4.5"}, {"shared_sessions.enabled", "false"},
	}
	for i := range edits {
		addCorpus(f, func(data []byte) { f.Add(data, byte(i)) })
	}
	f.Fuzz(func(t *testing.T, data []byte, which byte) {
		e := edits[int(which)%len(edits)]
		before, _, err := Parse("f.yaml", data)
		if err != nil {
			return
		}
		out, err := Replace("f.yaml", data, e.key, e.value)
		if err != nil {
			return
		}
		after, _, err := Parse("f.yaml", out)
		if err != nil {
			t.Fatalf("the edited file is unusable: %v\n%q", err, out)
		}
		was, is := before.Values(), after.Values()
		other := func(v Value) bool { return v.Key == e.key }
		got := slices.Clone(is[slices.IndexFunc(is, other):])[0].Value
		if got != e.value {
			t.Errorf("%s is %q, want %q\n%q", e.key, got, e.value, out)
		}
		if !slices.Equal(slices.DeleteFunc(was, other), slices.DeleteFunc(is, other)) {
			t.Errorf("other values changed\n%q\n%q", data, out)
		}
		if inserted := changedBytes(data, out); len(inserted) > len(e.key)+len(e.value)+30 {
			t.Errorf("more than one place changed: %q\n%q\n%q", inserted, data, out)
		}
	})
}

// changedBytes returns what stands in b between the common beginning and end of a and b.
func changedBytes(a, b []byte) []byte {
	from := 0
	for from < len(a) && from < len(b) && a[from] == b[from] {
		from++
	}
	to := 0
	for to < len(a)-from && to < len(b)-from && a[len(a)-1-to] == b[len(b)-1-to] {
		to++
	}
	return b[from : len(b)-to]
}

// FuzzRoster shows that an entry that was added and taken out again leaves the values as
// they were, and that taking out any entry leaves the others alone.
func FuzzRoster(f *testing.F) {
	addCorpus(f, func(data []byte) { f.Add(data) })
	f.Fuzz(func(t *testing.T, data []byte) {
		before, _, err := Parse("f.yaml", data)
		if err != nil {
			return
		}
		for _, d := range before.Delegates {
			out, err := DropDelegate("f.yaml", data, d.Name)
			if err != nil {
				continue
			}
			if after, _, err := Parse("f.yaml", out); err != nil || len(after.Delegates) < len(before.Delegates)-1 {
				t.Errorf("without %s: %d delegates of %d, %v\n%q", d.Name, len(after.Delegates), len(before.Delegates), err, out)
			}
		}
		added, err := InsertDelegate("f.yaml", data, newACP)
		if err != nil {
			return
		}
		if !bytes.Contains(added, []byte("new")) {
			t.Errorf("nothing was added: %q", added)
		}
		back, err := DropDelegate("f.yaml", added, newACP.Name)
		if err != nil {
			t.Fatalf("cannot be taken out again: %v\n%q", err, added)
		}
		after, _, err := Parse("f.yaml", back)
		if err != nil || !slices.Equal(before.Values(), after.Values()) {
			t.Errorf("added and taken out: %v\n%q\n%q", err, data, back)
		}
	})
}
