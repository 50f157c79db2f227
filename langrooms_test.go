package langrooms_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/langrooms/langrooms"
)

// full is a message with every part and every field of a stamp, and with fields of a later
// version everywhere.
func full() langrooms.Message {
	later := map[string]json.RawMessage{"later": json.RawMessage(`{"a":[1,9007199254740993]}`)}
	return langrooms.Message{
		ID: "01", Time: time.Date(2026, 11, 30, 12, 0, 0, 123456789, time.UTC), Role: langrooms.RoleHuman,
		Parts: []langrooms.Part{
			langrooms.TextPart("a <b> & \u2028 \"c\"\n\t"),
			langrooms.TextPart(""),
			{Kind: langrooms.PartImageURL, URL: "https://example.org/?a=b&c", Detail: "low"},
			{Kind: langrooms.PartBinary, MIMEType: "image/png", Data: []byte{0, 1, 254, 255}},
			{Kind: langrooms.PartToolCall, ToolCall: &langrooms.ToolCall{ID: "c", Name: "n", Arguments: `{"x":`}},
			{Kind: langrooms.PartToolResult, ToolResult: &langrooms.ToolResult{CallID: "c", Name: "n", Content: "r", IsError: true}},
			{Kind: "hologram", Extra: map[string]json.RawMessage{"depth": json.RawMessage(`3.50`)}},
		},
		Stamp: &langrooms.Stamp{From: "operator", To: []string{"proto", "reviewer"}, Exchange: "x", Round: 2,
			Failed: true, Late: true, Incognito: true, Incomplete: true, Seen: 1 << 60, Extra: later},
		Summary: &langrooms.Summary{Replaced: 7, Members: []langrooms.SummaryMember{{Name: "proto", Seen: 3}}},
		Extra:   later,
	}
}

func TestMessageRoundTrip(t *testing.T) {
	for name, m := range map[string]langrooms.Message{
		"everything": full(),
		"ordinary":   {ID: "02", Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Role: langrooms.RoleAI, Parts: []langrooms.Part{langrooms.TextPart("hi")}},
		"no parts":   {ID: "03", Role: langrooms.RoleSystem},
	} {
		data, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var got langrooms.Message
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(m, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		again, err := json.Marshal(got)
		if err != nil || string(again) != string(data) {
			t.Errorf("%s: marshalled again it is %s, %v; first it was %s", name, again, err, data)
		}
	}
}

// The position is the saver's word and no part of the stored form.
func TestSeqIsNotStored(t *testing.T) {
	m := full()
	m.Seq = 777777
	data, err := json.Marshal(m)
	if err != nil || strings.Contains(string(data), "777777") {
		t.Errorf("the stored form is %s, %v", data, err)
	}
}

// What an extra field says never overrides a field of this version.
func TestExtraDoesNotOverride(t *testing.T) {
	m := full()
	m.Extra = map[string]json.RawMessage{"role": json.RawMessage(`"ai"`)}
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var got langrooms.Message
	if err := json.Unmarshal(data, &got); err != nil || got.Role != langrooms.RoleHuman {
		t.Errorf("the role is %q, %v; want human", got.Role, err)
	}
}

func TestUnmarshalRefuses(t *testing.T) {
	for _, text := range []string{`[]`, `{"id":1}`, `{"parts":{}}`, `{"parts":[{"data":"!"}]}`, `{"stamp":"x"}`, `{"parts":["text"]}`} {
		var m langrooms.Message
		if err := json.Unmarshal([]byte(text), &m); err == nil {
			t.Errorf("%s is read as %+v", text, m)
		}
	}
}

func TestCloneSharesNothing(t *testing.T) {
	m := full()
	c := m.Clone()
	if diff := cmp.Diff(m, c); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	c.Parts[0].Text, c.Parts[3].Data[0], c.Parts[4].ToolCall.Name, c.Parts[5].ToolResult.Content = "x", 9, "x", "x"
	c.Parts[6].Extra["depth"][0] = '9'
	c.Stamp.To[0], c.Stamp.Extra["later"][0], c.Summary.Members[0].Name, c.Extra["later"][0] = "x", 'x', "x", 'x'
	if diff := cmp.Diff(full(), m); diff != "" {
		t.Errorf("a change of the copy shows in the original (-want +got):\n%s", diff)
	}
}

func TestNewID(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	last := ""
	for range 100_000 { // many of one millisecond
		id := langrooms.NewID()
		if !form.MatchString(id) || id <= last {
			t.Fatalf("%q is no UUIDv7 that sorts behind %q", id, last)
		}
		last = id
	}
}

func TestCheckThreadID(t *testing.T) {
	for id, ok := range map[string]bool{
		"main": true, "a\nb": true, " ": true, "{x}*?[a]:|\x00": true, strings.Repeat("ä", 512): true,
		"": false, "\xff": false, strings.Repeat("x", 1025): false,
	} {
		if err := langrooms.CheckThreadID(id); (err == nil) != ok || !ok && !errors.Is(err, langrooms.ErrThreadID) {
			t.Errorf("CheckThreadID(%.20q) = %v", id, err)
		}
	}
}

func TestCheckText(t *testing.T) {
	for text, ok := range map[string]bool{
		"": true, "hi": true, strings.Repeat("ä", langrooms.MaxText): true,
		strings.Repeat("x", langrooms.MaxText+1): false, "\xff": false,
	} {
		if err := langrooms.CheckText(text); (err == nil) != ok || !ok && !errors.Is(err, langrooms.ErrText) {
			t.Errorf("CheckText of %d bytes = %v", len(text), err)
		}
	}
}

func TestCheckName(t *testing.T) {
	for name, ok := range map[string]bool{
		"proto": true, "claude-code": true, "data.scout": true, "Prüfer": true, "日本": true, strings.Repeat("x", langrooms.MaxName): true,
		"": false, "two words": false, "tab\t": false, "@x": false, "a@b": false, "Operator": false, "LEAD": false, "room": false,
		"system": false, "assistant": false, "\u202ex": false, "a\u200bb": false, "\xff": false, "a\x00": false,
		strings.Repeat("x", langrooms.MaxName+1): false,
	} {
		if err := langrooms.CheckName(name); (err == nil) != ok {
			t.Errorf("CheckName(%.20q) = %v", name, err)
		}
	}
	if err := langrooms.CheckIdentity("lead"); err != nil {
		t.Errorf("CheckIdentity refuses a reserved name: %v", err)
	}
}

func FuzzMessage(f *testing.F) {
	data, err := json.Marshal(full())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"id":"","parts":[{"kind":"text"}],"x":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var m, again langrooms.Message
		if json.Unmarshal(data, &m) != nil {
			return
		}
		stored, err := json.Marshal(m)
		if err != nil {
			t.Skip("a time that JSON cannot hold")
		}
		if err := json.Unmarshal(stored, &again); err != nil {
			t.Fatalf("%s cannot be read again: %v", stored, err)
		}
		if restored, err := json.Marshal(again); err != nil || string(restored) != string(stored) || !utf8.Valid(restored) {
			t.Errorf("stored %s, then %s, %v", stored, restored, err)
		}
	})
}

func ExampleMessage() {
	m := langrooms.NewMessage(langrooms.RoleHuman, "auth did")
	m.Stamp = &langrooms.Stamp{From: "proto", Exchange: "x1", Round: 1}
	data, err := json.Marshal(m.Stamp)
	fmt.Println(m.Text(), string(data), err)
	// Output: auth did {"from":"proto","exchange":"x1","round":1} <nil>
}
