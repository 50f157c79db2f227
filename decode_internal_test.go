package langrooms

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// ordinary are messages that the quick way must read.
func ordinary() []Message {
	at := time.Date(2026, 12, 1, 2, 3, 4, 567, time.UTC)
	var all []Message
	for _, text := range []string{"", "hello", "a \"quoted\" \\ line\nand\ttab", "é 漢 😀", "<b>&amp;</b>", strings.Repeat("x", 3000)} {
		for _, stamp := range []*Stamp{nil, {From: "proto"}, {From: "operator", To: []string{"a", "b"}, Exchange: "x", Incognito: true},
			{From: "é", Exchange: "x", Round: 2, Failed: true, Late: true, Incomplete: true, Seen: 120}, {From: "a", Usage: &Usage{InputTokens: 3, CostUSD: new(1e-7)}}} {
			all = append(all, Message{ID: "m", Time: at, Role: RoleHuman, Parts: []Part{TextPart(text), TextPart("two")}, Stamp: stamp})
		}
	}
	return all
}

// The quick way writes the very bytes that encoding/json writes, or leaves it to that.
func TestQuickEncoding(t *testing.T) {
	for _, m := range ordinary() {
		want, err := m.encodeThoroughly()
		if got := m.encodeQuickly(); err != nil || string(got) != string(want) {
			t.Errorf("written as\n%s, want\n%s, %v", got, want, err)
		}
	}
	for _, text := range []string{"\x00", "\x1f", "\b", "\u2028", "\u2029", "\xff", "\x7f", "\ufffd"} {
		m := Message{ID: "m", Role: RoleAI, Parts: []Part{TextPart(text)}}
		want, err := m.encodeThoroughly()
		if got := m.encodeQuickly(); err != nil || got != nil && string(got) != string(want) {
			t.Errorf("%q is written as\n%s, want\n%s, %v", text, got, want, err)
		}
	}
}

func TestQuickDecoding(t *testing.T) {
	for _, m := range ordinary() {
		data, err := m.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var quick, thorough Message
		if !quick.quickly(data) {
			t.Errorf("not read quickly: %s", data)
			continue
		}
		if err := thorough.thoroughly(data); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(thorough, quick); d != "" {
			t.Errorf("%s (-encoding/json +quick):\n%s", data, d)
		}
	}
}

// Every field of a stamp, whichever are added, is written and read, on both ways, and cloned.
func TestEveryFieldOfAStamp(t *testing.T) {
	var s Stamp
	v := reflect.ValueOf(&s).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			f.SetString("a " + v.Type().Field(i).Name)
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Int, reflect.Int64:
			f.SetInt(7)
		case reflect.Slice:
			f.Set(reflect.ValueOf([]string{"a", "b"}))
		case reflect.Pointer: // Usage
			f.Set(reflect.ValueOf(&Usage{InputTokens: 3, OutputTokens: 4, CostUSD: new(0.25)}))
		case reflect.Map: // Extra, which the quick way leaves to the other
		default:
			t.Errorf("this test does not know how to set Stamp.%s", v.Type().Field(i).Name)
		}
	}
	m := Message{ID: "m", Time: time.Unix(0, 0).UTC(), Role: RoleHuman, Parts: []Part{TextPart("x")}, Stamp: &s}
	data, err := m.encodeThoroughly()
	if quick := m.encodeQuickly(); err != nil || string(quick) != string(data) {
		t.Errorf("written as\n%s, want\n%s, %v", quick, data, err)
	}
	var quick, thorough Message
	if err := thorough.thoroughly(data); err != nil || !quick.quickly(data) {
		t.Fatalf("not read: %v", err)
	}
	for way, got := range map[string]Message{"quick": quick, "encoding/json": thorough, "clone": m.Clone()} {
		if d := cmp.Diff(m, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", way, d)
		}
	}
	var names []string
	for name := range strings.SplitSeq(string(data), `"`) {
		names = append(names, name)
	}
	for _, field := range stampFields {
		if !slices.Contains(names, field) {
			t.Errorf("%q is not written", field)
		}
	}
}

// Records of failures that earlier versions have stored get the kind that their words told.
func TestRecordsOfEarlierVersionsAreRead(t *testing.T) {
	for text, want := range map[string]ErrorKind{
		"(stopped by the operator)": ErrorStopped, "(stopped: the client went away)": ErrorDisconnected,
		"(interrupted: no answer was stored)": ErrorInterrupted, "(could not be reached: connection refused)": "",
		"(stopped by the operator) he said": "", "(This arrived after its turn.)": "",
	} {
		for _, failed := range []bool{true, false} {
			m := Message{ID: "m", Role: RoleHuman, Parts: []Part{TextPart(text)}, Stamp: &Stamp{From: "proto", Failed: failed}}
			data, err := m.MarshalJSON()
			if err == nil {
				err = m.UnmarshalJSON(data)
			}
			if !failed {
				want = ""
			}
			if err != nil || m.Stamp.ErrorKind != want {
				t.Errorf("%s, failed %t: kind %q, %v", text, failed, m.Stamp.ErrorKind, err)
			}
		}
	}
}

// What the quick way reads is what encoding/json reads of the same bytes.
func FuzzQuickDecoding(f *testing.F) {
	for _, m := range ordinary() {
		data, err := m.MarshalJSON()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"id":"m","time":"2026-01-01T00:00:00Z","role":"ai","parts":[{"kind":"text","text":"\ud83d"}]}`))
	f.Add([]byte(`{"id":"m","time":"0000-01-01T00:00:00+00:00","role":"ai","parts":[{"kind":"text","text":"x"}],"stamp":{"from":"a","round":007}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var quick, thorough Message
		if !quick.quickly(data) {
			return
		}
		if err := thorough.thoroughly(data); err != nil {
			t.Fatalf("read quickly, and not by encoding/json: %v", err)
		}
		if d := cmp.Diff(thorough, quick); d != "" {
			t.Errorf("-encoding/json +quick:\n%s", d)
		}
	})
}

// Whatever its text, the quick way writes a message as encoding/json does.
func FuzzQuickEncoding(f *testing.F) {
	f.Add("m", "text \u2028 \x00 <", "from", int64(3))
	f.Fuzz(func(t *testing.T, id, text, from string, seen int64) {
		m := Message{ID: id, Time: time.Unix(seen, 1).UTC(), Role: RoleAI, Parts: []Part{TextPart(text)}, Stamp: &Stamp{From: from, To: []string{text}, Seen: seen, Round: int(seen)}}
		want, err := m.encodeThoroughly()
		if got := m.encodeQuickly(); got != nil && (err != nil || string(got) != string(want)) {
			t.Errorf("written as\n%s, want\n%s, %v", got, want, err)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	m := NewMessage(RoleHuman, strings.Repeat("some words\n", 40))
	data, err := m.MarshalJSON()
	if err != nil {
		b.Fatal(err)
	}
	b.Run("quick", func(b *testing.B) {
		for b.Loop() {
			if err := m.UnmarshalJSON(data); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("thorough", func(b *testing.B) {
		for b.Loop() {
			if err := m.thoroughly(data); err != nil {
				b.Fatal(err)
			}
		}
	})
}
