package checkpointertest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

func messageRules() []rule {
	return []rule{
		{name: "message-round-trip", check: roundTrip},
		{name: "messages-range", check: messagesRange},
		{name: "messages-limit", check: messagesLimit},
		{name: "messages-early-break", check: messagesEarlyBreak},
		{name: "messages-of-the-first-moment", check: firstMoment},
		{name: "delete-while-reading", check: deleteWhileReading},
	}
}

// rich are messages that use every field of the vocabulary.
func rich() []langrooms.Message {
	when := time.Date(2026, 3, 4, 5, 6, 7, 123456789, time.UTC)
	raw := func(s string) map[string]json.RawMessage {
		return map[string]json.RawMessage{"later": json.RawMessage(s)}
	}
	return []langrooms.Message{
		{ID: "0197f000-0000-7000-8000-000000000001", Time: when, Role: langrooms.RoleHuman,
			Parts: []langrooms.Part{langrooms.TextPart("@proto <b>&\u2028\n\x00 ünï \U0001f600"), langrooms.TextPart("")},
			Stamp: &langrooms.Stamp{From: "operator", To: []string{"proto", "b"}, Exchange: "e1", Extra: raw(`{"a":[1,2]}`)},
			Extra: raw(`"kept"`)},
		{ID: "0197f000-0000-7000-8000-000000000002", Time: when, Role: langrooms.RoleHuman,
			Parts: []langrooms.Part{{Kind: langrooms.PartBinary, MIMEType: "x/y", Data: []byte{0, 1, 0xff, '\n', 0}},
				{Kind: langrooms.PartImageURL, URL: "https://example.org/a?b=c", Detail: "low"}},
			Stamp: fullStamp()},
		{ID: "0197f000-0000-7000-8000-000000000003", Time: when, Role: langrooms.RoleAI, Parts: []langrooms.Part{{Kind: langrooms.PartToolCall,
			ToolCall: &langrooms.ToolCall{ID: "1", Name: "f", Arguments: `{"not json`}}}},
		{ID: "0197f000-0000-7000-8000-000000000004", Time: when, Role: langrooms.RoleTool, Parts: []langrooms.Part{{Kind: langrooms.PartToolResult,
			ToolResult: &langrooms.ToolResult{CallID: "1", Name: "f", Content: "no", IsError: true}},
			{Kind: "of-a-later-version", Extra: raw(`{"x":1}`)}}},
		{ID: "0197f000-0000-7000-8000-000000000005", Time: when, Role: langrooms.RoleSystem, Parts: []langrooms.Part{langrooms.TextPart("sum")},
			Summary: &langrooms.Summary{Replaced: 7, Members: []langrooms.SummaryMember{{Name: "proto", Seen: 5}}}},
	}
}

// fullStamp has a value in every field.
func fullStamp() *langrooms.Stamp {
	var s langrooms.Stamp
	v := reflect.ValueOf(&s).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			f.SetString("a " + v.Type().Field(i).Name)
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Int, reflect.Int64:
			f.SetInt(1 << 30)
		}
	}
	s.To = []string{"proto"}
	return &s
}

func roundTrip(c *check) {
	s := c.saver()
	messages := append(rich(), langrooms.NewMessage(langrooms.RoleHuman, "of ordinary shape"))
	full := len(messages) - 1
	messages[full].Stamp = fullStamp()
	messages[0].Seq = 99 // ignored on write
	at := c.put(s, thread("t"), checkpointer.Step{Log: checkpointer.Append(messages...)})
	got := c.read(s, at, checkpointer.Range{})
	if stored(got...) != stored(messages...) {
		c.Errorf("messages changed on the way:\n got %s\nwant %s", stored(got...), stored(messages...))
	}
	if len(got) > full && !reflect.DeepEqual(got[full].Stamp, fullStamp()) {
		c.Errorf("a stamp came back as %+v, want %+v", got[full].Stamp, fullStamp())
	}
	for i, m := range got {
		if m.Seq != int64(i) {
			c.Errorf("message %d has the position %d", i, m.Seq)
		}
	}
}

// twenty puts the messages m0 … m19, three to a checkpoint.
func twenty(c *check, s checkpointer.Saver) checkpointer.Ref {
	c.Helper()
	at := thread("t")
	for i := 0; i < 20; i += 3 {
		at = c.put(s, at, checkpointer.Step{Log: appends(names(i, min(i+3, 20)))})
	}
	return at
}

// names is "m<from> …" up to before to, in either direction.
func names(from, to int) string {
	var words []string
	for i := from; i < to; i++ {
		words = append(words, fmt.Sprintf("m%d", i))
	}
	for i := from - 1; i >= to; i-- {
		words = append(words, fmt.Sprintf("m%d", i))
	}
	return strings.Join(words, " ")
}

func messagesRange(c *check) {
	s := c.saver()
	at := twenty(c, s)
	for _, tc := range []struct {
		from, to int64
		want     [2]int
	}{
		{0, 0, [2]int{0, 20}}, {5, 0, [2]int{5, 20}}, {0, 5, [2]int{0, 5}}, {4, 11, [2]int{4, 11}},
		{19, 20, [2]int{19, 20}}, {20, 0, [2]int{0, 0}}, {7, 7, [2]int{0, 0}}, {9, 3, [2]int{0, 0}}, {15, 1000, [2]int{15, 20}},
	} {
		c.reads(s, at, checkpointer.Range{From: tc.from, To: tc.to}, names(tc.want[0], tc.want[1]))
		c.reads(s, at, checkpointer.Range{From: tc.from, To: tc.to, Backward: true}, names(tc.want[1], tc.want[0]))
	}
}

func messagesLimit(c *check) {
	s := c.saver()
	at := twenty(c, s)
	c.reads(s, at, checkpointer.Range{Limit: nil}, names(0, 20))
	c.reads(s, at, checkpointer.Range{Limit: checkpointer.N(0)}, "")
	c.reads(s, at, checkpointer.Range{Limit: checkpointer.N(0), Backward: true}, "")
	c.reads(s, at, checkpointer.Range{Limit: checkpointer.N(1)}, "m0")
	c.reads(s, at, checkpointer.Range{Limit: checkpointer.N(1), Backward: true}, "m19")
	c.reads(s, at, checkpointer.Range{From: 3, To: 9, Limit: checkpointer.N(4)}, names(3, 7))
	c.reads(s, at, checkpointer.Range{From: 3, To: 9, Limit: checkpointer.N(4), Backward: true}, names(9, 5))
	c.reads(s, at, checkpointer.Range{Limit: checkpointer.N(99)}, names(0, 20))
}

func messagesEarlyBreak(c *check) {
	s := c.saver()
	at := twenty(c, s)
	for _, backward := range []bool{false, true} {
		n := 0
		for _, err := range s.Messages(c.Context(), at, checkpointer.Range{Backward: backward}) {
			c.ok(err, "messages")
			if n++; n == 2 {
				break
			}
		}
	}
	for m, err := range s.Messages(c.Context(), at, checkpointer.Range{}) {
		c.ok(err, "messages")
		// A store may not hold a lock while its caller works.
		c.put(s, checkpointer.Ref{Thread: "other", Namespace: m.ID}, checkpointer.Step{})
	}
}

// firstMoment changes the thread while it is being read, over more than one page.
func firstMoment(c *check) {
	s := c.saver()
	first := c.put(s, thread("t"), checkpointer.Step{Log: appends(names(0, 500))})
	for i, r := range []checkpointer.Range{{}, {Backward: true}} {
		var got []langrooms.Message
		for m, err := range s.Messages(c.Context(), thread("t"), r) {
			c.ok(err, "messages")
			if len(got) == 0 {
				log := append(appends(fmt.Sprintf("new%d", i)), replace("m250", "changed"), remove("m1"), remove("m498"), reset())
				c.put(s, c.get(s, thread("t")).Ref, checkpointer.Step{Log: log})
			}
			got = append(got, m)
		}
		// The messages stand again, for the next reading, on a branch.
		c.put(s, first, checkpointer.Step{Fork: true})
		want := names(0, 500)
		if r.Backward {
			want = names(500, 0)
		}
		if texts(got) != want {
			c.Errorf("a reading in %s saw later changes: %d messages", showRange(r), len(got))
		}
	}
}

// deleteWhileReading: the whole, or an error, but never a piece that looks like the whole.
func deleteWhileReading(c *check) {
	s := c.saver()
	c.put(s, thread("t"), checkpointer.Step{Log: appends(names(0, 500))})
	var got []langrooms.Message
	for m, err := range s.Messages(c.Context(), thread("t"), checkpointer.Range{}) {
		if err != nil {
			return
		}
		if got = append(got, m); len(got) == 1 {
			c.ok(s.DeleteThread(c.Context(), "t"), "delete")
			c.put(s, thread("t"), checkpointer.Step{Log: appends(strings.Repeat("other ", 500))})
		}
	}
	if texts(got) != names(0, 500) {
		c.Errorf("a thread deleted while it was read yielded %d of 500 messages, or others, without an error", len(got))
	}
}
