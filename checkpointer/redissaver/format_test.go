package redissaver_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/redissaver"
)

// dumpFormat writes what this program stores as testdata/format<n>.json. A new format
// gets a new number; an older file is never written again.
var dumpFormat = flag.Int("dump-format", 0, "write testdata/format<n>.json")

// formatDump is what a program of some format had stored under its prefix, and what it
// read of it.
type formatDump struct {
	Keys  map[string]storedKey
	Reads []storedRead
}

type storedKey struct {
	Hash   map[string][]byte  `json:",omitempty"`
	Scores map[string]float64 `json:",omitempty"`
	Text   []byte             `json:",omitempty"`
}

// storedRead is one checkpoint and what it sees, without what a later program may read
// beside it.
type storedRead struct {
	Thread, Namespace, ID, Parent string
	Time                          time.Time
	Length                        int64
	Channels                      map[string][]byte
	Metadata                      string
	Writes                        []string `json:",omitempty"`
	Messages                      []string `json:",omitempty"`
}

var formatThreads = []string{"t", "another {thread}: long, with a name that is digested"}

// A thread of each older format is read as it was, and goes on.
func TestOlderFormats(t *testing.T) {
	files, err := filepath.Glob("testdata/format*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no dumps, %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var want formatDump
			if err := json.Unmarshal(data, &want); err != nil {
				t.Fatal(err)
			}
			prefix := nextPrefix()
			loadFormat(t, client(t, sharedAddr(t)), prefix, want)
			s := open(t, sharedAddr(t), "prefix="+prefix)
			if d := cmp.Diff(want.Reads, readFormat(t, s)); d != "" {
				t.Fatalf("read differently (-then +now):\n%s", d)
			}
			copies(t, s)
			goOn(t, s)
			after := map[string]storedRead{}
			for _, r := range readFormat(t, s) {
				after[r.Thread+"/"+r.Namespace+"/"+r.ID] = r
			}
			for _, r := range want.Reads {
				if d := cmp.Diff(r, after[r.Thread+"/"+r.Namespace+"/"+r.ID]); d != "" {
					t.Errorf("after the thread has gone on (-then +now):\n%s", d)
				}
			}
			endFormat(t, s)
		})
	}
}

// copies checks that a copy of what an earlier version has stored reads as it does, and
// removes it.
func copies(t *testing.T, s *redissaver.Saver) {
	t.Helper()
	for _, thread := range formatThreads {
		want := texts(t, s, checkpointer.Ref{Thread: thread})
		if err := s.CopyThread(t.Context(), thread, "copy"); err != nil {
			t.Fatal(err)
		}
		at, err := s.Put(t.Context(), checkpointer.Ref{Thread: "copy", ID: newestID(t, s, thread)}, checkpointer.Step{})
		if err != nil {
			t.Fatal(err)
		}
		if got := texts(t, s, at); !slices.Equal(got, want) {
			t.Errorf("the copy has %q, want %q", got, want)
		}
		if err := s.DeleteThread(t.Context(), "copy"); err != nil {
			t.Fatal(err)
		}
	}
}

func newestID(t *testing.T, s *redissaver.Saver, thread string) string {
	t.Helper()
	at, err := s.Get(t.Context(), checkpointer.Ref{Thread: thread})
	if err != nil {
		t.Fatal(err)
	}
	return at.Ref.ID
}

// goOn puts after the newest checkpoint, writes, edits what is there, and branches.
func goOn(t *testing.T, s *redissaver.Saver) {
	t.Helper()
	for _, thread := range formatThreads {
		at, err := s.Get(t.Context(), checkpointer.Ref{Thread: thread})
		if err != nil {
			t.Fatal(err)
		}
		want := texts(t, s, at.Ref)
		m := langrooms.Message{ID: "m1", Role: langrooms.RoleAI, Parts: []langrooms.Part{langrooms.TextPart("edited again")}}
		next, err := s.Put(t.Context(), at.Ref, checkpointer.Step{ID: "on", Channels: map[string][]byte{"x": []byte("on")},
			Log: append(checkpointer.Append(message0("on")), checkpointer.Entry{Op: checkpointer.OpReplace, Message: m})})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.PutWrites(t.Context(), next, checkpointer.Task{ID: "task"}, []checkpointer.Write{{Channel: "x", Value: []byte("w")}}); err != nil {
			t.Fatal(err)
		}
		for i, text := range want {
			if strings.Contains(text, " m1 ") {
				want[i] = strings.Fields(text)[0] + " m1 edited again"
			}
		}
		want = append(want, fmt.Sprintf("%d on on", at.Length))
		if got := texts(t, s, next); !slices.Equal(got, want) {
			t.Errorf("after the put %q, want %q", got, want)
		}
		if _, err := s.Put(t.Context(), at.Ref, checkpointer.Step{ID: "branch", Fork: true, Truncate: ptr(int64(2)), Log: checkpointer.Append(message0("branch"))}); err != nil {
			t.Fatal(err)
		}
	}
}

// endFormat compacts, prunes and deletes.
func endFormat(t *testing.T, s *redissaver.Saver) {
	t.Helper()
	for _, thread := range formatThreads {
		at, err := s.Compact(t.Context(), checkpointer.Ref{Thread: thread}, message0("summary"), 1)
		if err != nil {
			t.Fatal(err)
		}
		want := texts(t, s, at)
		if _, err := s.Prune(t.Context(), thread, checkpointer.Retention{Keep: 1}); err != nil {
			t.Fatal(err)
		}
		if got := texts(t, s, at); !slices.Equal(got, want) {
			t.Errorf("after the pruning %q, want %q", got, want)
		}
		if err := s.DeleteThread(t.Context(), thread); err != nil {
			t.Fatal(err)
		}
	}
	if err := drain(s.Threads(t.Context()), 0); err != nil {
		t.Error(err)
	}
}

func texts(t *testing.T, s checkpointer.Saver, at checkpointer.Ref) []string {
	t.Helper()
	var all []string
	for m, err := range s.Messages(t.Context(), at, checkpointer.Range{}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprint(m.Seq, " ", m.ID, " ", m.Text()))
	}
	return all
}

func message0(id string) langrooms.Message {
	return langrooms.Message{ID: id, Time: time.Unix(1_790_000_000, 0).UTC(), Role: langrooms.RoleHuman, Parts: []langrooms.Part{langrooms.TextPart(id)}}
}

// TestDumpFormat writes the dump of today's format where the flag asks for it.
func TestDumpFormat(t *testing.T) {
	if *dumpFormat == 0 {
		t.Skip("writes only with -dump-format")
	}
	prefix := nextPrefix()
	s := open(t, sharedAddr(t), "prefix="+prefix)
	for _, thread := range formatThreads {
		fillFormat(t, s, thread)
	}
	data, err := json.MarshalIndent(formatDump{saveFormat(t, client(t, sharedAddr(t)), prefix), readFormat(t, s)}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(fmt.Sprintf("testdata/format%d.json", *dumpFormat), append(data, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// fillFormat makes a thread with everything that a format has to hold.
func fillFormat(t *testing.T, s *redissaver.Saver, thread string) {
	t.Helper()
	put := func(parent string, step checkpointer.Step) {
		t.Helper()
		ns := ""
		if strings.HasPrefix(step.ID, "sub") {
			ns = "sub:1"
		}
		step.Time = time.Unix(1_790_000_000+int64(len(step.ID)), 5).UTC()
		if _, err := s.Put(t.Context(), checkpointer.Ref{Thread: thread, Namespace: ns, ID: parent}, step); err != nil {
			t.Fatal(step.ID, err)
		}
	}
	edit := func(id, text string) checkpointer.Entry {
		m := message0(id)
		m.Parts[0].Text = text
		return checkpointer.Entry{Op: checkpointer.OpReplace, Message: m}
	}
	stamped := message0("m2")
	stamped.Stamp = &langrooms.Stamp{From: "proto", Exchange: "x1", Round: 1, Seen: 1}
	two := int64(2)
	put("", checkpointer.Step{ID: "c1", Log: checkpointer.Append(message0("m0"), message0("m1")), Channels: map[string][]byte{"x": []byte("1"), "y": {0, 255}},
		Metadata: checkpointer.Metadata{"source": "input", "step": "-1", "run_id": "r1"}})
	put("c1", checkpointer.Step{ID: "c2", Log: append(checkpointer.Append(stamped), edit("m1", "edited")), Channels: map[string][]byte{"x": []byte("2")}, Metadata: checkpointer.Metadata{"run_id": "r1"}})
	put("c2", checkpointer.Step{ID: "c3", Log: append(checkpointer.Append(message0("m3")), checkpointer.Entry{Op: checkpointer.OpRemove, ID: "m0"}), Remove: []string{"y"}})
	put("c2", checkpointer.Step{ID: "b1", Fork: true, Truncate: &two, Log: checkpointer.Append(message0("m4"))})
	put("b1", checkpointer.Step{ID: "b2", Log: append(checkpointer.Append(message0("m5"), message0("m5")), edit("m5", "both"))})
	put("c3", checkpointer.Step{ID: "d1", Fork: true, Log: append([]checkpointer.Entry{{Op: checkpointer.OpReset}}, checkpointer.Append(message0("m6"), message0("m1"), message0("m7"))...)})
	put("", checkpointer.Step{ID: "sub1", Channels: map[string][]byte{"s": nil}})
	put("sub1", checkpointer.Step{ID: "sub2", Log: checkpointer.Append(message0("s1"))})
	write := func(ns, id, task string, w ...checkpointer.Write) {
		if err := s.PutWrites(t.Context(), checkpointer.Ref{Thread: thread, Namespace: ns, ID: id}, checkpointer.Task{ID: task}, w); err != nil {
			t.Fatal(err)
		}
	}
	write("", "d1", "task", checkpointer.Write{Channel: "x", Value: []byte("w")}, checkpointer.Write{Channel: "y", Value: []byte("v")})
	write("", "c2", "task", checkpointer.Write{Channel: checkpointer.ChannelInterrupt, Value: []byte("?")})
	write("sub:1", "sub2", "other", checkpointer.Write{Channel: checkpointer.ChannelError, Value: []byte("e")})
	if _, err := s.Compact(t.Context(), checkpointer.Ref{Thread: thread}, message0("s0"), 2); err != nil {
		t.Fatal(err)
	}
}

func readFormat(t *testing.T, s *redissaver.Saver) []storedRead {
	t.Helper()
	var all []storedRead
	for _, thread := range formatThreads {
		for c, err := range s.List(t.Context(), checkpointer.Query{Thread: thread}) {
			if err != nil {
				t.Fatal(err)
			}
			if c, err = s.Get(t.Context(), c.Ref); err != nil {
				t.Fatal(err)
			}
			if c.Metadata == nil {
				c.Metadata = checkpointer.Metadata{}
			}
			meta, err := json.Marshal(c.Metadata)
			if err != nil {
				t.Fatal(err)
			}
			r := storedRead{Thread: thread, Namespace: c.Ref.Namespace, ID: c.Ref.ID, Parent: c.Parent, Time: c.Time, Length: c.Length,
				Channels: c.Channels, Metadata: string(meta), Messages: texts(t, s, c.Ref)}
			for _, w := range c.Writes {
				r.Writes = append(r.Writes, fmt.Sprintf("%s %d %s %q", w.Task.ID, w.Index, w.Channel, w.Value))
			}
			all = append(all, r)
		}
	}
	return all
}

func saveFormat(t *testing.T, c *redis.Client, prefix string) map[string]storedKey {
	t.Helper()
	all := map[string]storedKey{}
	for _, key := range c.Keys(t.Context(), prefix+"*").Val() {
		var k storedKey
		switch kind := c.Type(t.Context(), key).Val(); kind {
		case "hash":
			k.Hash = map[string][]byte{}
			for f, v := range c.HGetAll(t.Context(), key).Val() {
				k.Hash[f] = []byte(v)
			}
		case "zset":
			k.Scores = map[string]float64{}
			for _, z := range c.ZRangeWithScores(t.Context(), key, 0, -1).Val() {
				k.Scores[z.Member.(string)] = z.Score
			}
		case "string":
			k.Text = []byte(c.Get(t.Context(), key).Val())
		default:
			t.Fatalf("key %s is a %s", key, kind)
		}
		all[strings.TrimPrefix(key, prefix)] = k
	}
	return all
}

func loadFormat(t *testing.T, c *redis.Client, prefix string, d formatDump) {
	t.Helper()
	for key, k := range d.Keys {
		key = prefix + key
		for f, v := range k.Hash {
			c.HSet(t.Context(), key, f, v)
		}
		for m, score := range k.Scores {
			c.ZAdd(t.Context(), key, redis.Z{Score: score, Member: m})
		}
		if k.Text != nil {
			c.Set(t.Context(), key, k.Text, 0)
		}
	}
}
