package record_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

// A put is known again by its content, whatever the order of maps and lists of removals.
func TestDigest(t *testing.T) {
	base := func() checkpointer.Step {
		return checkpointer.Step{ID: "c", Log: checkpointer.Append(langrooms.Message{ID: "m"}), Channels: map[string][]byte{"x": {1}, "y": nil},
			Remove: []string{"a", "b"}, Metadata: checkpointer.Metadata{"k": "v"}}
	}
	digest := func(parent string, step checkpointer.Step) []byte {
		t.Helper()
		p, err := record.NewPut(checkpointer.Ref{Thread: "t", ID: parent}, step)
		if err != nil {
			t.Fatal(err)
		}
		return p.Digest
	}
	want := digest("p", base())
	same := base()
	same.ID, same.Remove, same.Channels["y"] = "other", []string{"b", "a"}, []byte{}
	same.Log[0].Message.Seq = 7
	if !bytes.Equal(digest("p", same), want) {
		t.Error("the id, the order of removals, a nil value or Seq changed the digest")
	}
	for name, change := range map[string]func(*checkpointer.Step){
		"fork":     func(s *checkpointer.Step) { s.Fork = true },
		"truncate": func(s *checkpointer.Step) { s.Truncate, s.Fork = new(int64), true },
		"time":     func(s *checkpointer.Step) { s.Time = time.Unix(0, 1) },
		"log":      func(s *checkpointer.Step) { s.Log = append(s.Log, checkpointer.Entry{Op: checkpointer.OpReset}) },
		"channels": func(s *checkpointer.Step) { s.Channels = map[string][]byte{"x": {1, 'y'}} },
		"metadata": func(s *checkpointer.Step) { s.Metadata = nil },
		"base":     func(s *checkpointer.Step) { s.Base = "b" },
		"logs": func(s *checkpointer.Step) {
			s.Logs = map[string][]checkpointer.LogEntry{"l": {{Op: checkpointer.OpAppend}}}
		},
		"number": func(s *checkpointer.Step) { s.Metadata = checkpointer.Metadata{"k": 1} },
		"moved":  func(s *checkpointer.Step) { s.Remove, s.Metadata = append(s.Remove, "k"), nil },
	} {
		step := base()
		change(&step)
		if bytes.Equal(digest("p", step), want) {
			t.Errorf("another %s has the same digest", name)
		}
	}
	if bytes.Equal(digest("q", base()), want) {
		t.Error("another parent has the same digest")
	}
}

func TestDecodeOfBrokenBytes(t *testing.T) {
	for _, data := range []string{"", "{", `{"id":1}`, "null", "{}", "null x"} {
		if _, err := record.Decode([]byte(data), 3); !errors.Is(err, checkpointer.ErrFormat) {
			t.Errorf("decode of %q: %v, want ErrFormat", data, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"id":"m","time":"2026-01-01T00:00:00Z","role":"human","parts":[{"kind":"text","text":"x"}],"new":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := record.Decode(data, 1)
		if err != nil && !errors.Is(err, checkpointer.ErrFormat) {
			t.Fatal(err)
		}
		if err != nil {
			return
		}
		again, err := record.Encode(m)
		if err != nil {
			return
		}
		if _, err := record.Decode(again, 1); err != nil {
			t.Fatalf("what was encoded cannot be read: %v", err)
		}
	})
}
