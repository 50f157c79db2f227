package room_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/room"
)

func asks(id, text string) langrooms.Message {
	return langrooms.Message{ID: id, Role: langrooms.RoleHuman, Parts: []langrooms.Part{langrooms.TextPart(text)}}
}

func called(id string) langrooms.Message {
	return langrooms.Message{ID: id, Role: langrooms.RoleAI, Parts: []langrooms.Part{{Kind: langrooms.PartToolCall, ToolCall: &langrooms.ToolCall{ID: "c" + id, Name: "f", Arguments: "{}"}}}}
}

func returned(id, call, text string) langrooms.Message {
	return langrooms.Message{ID: id, Role: langrooms.RoleTool, Parts: []langrooms.Part{{Kind: langrooms.PartToolResult, ToolResult: &langrooms.ToolResult{CallID: "c" + call, Name: "f", Content: text}}}}
}

func sizeOf(messages []langrooms.Message) (n int) {
	for _, m := range messages {
		n += room.Tokens(m)
	}
	return n
}

func ids(messages []langrooms.Message) string {
	var all []string
	for _, m := range messages {
		all = append(all, m.ID)
	}
	return strings.Join(all, " ")
}

func TestHistory(t *testing.T) {
	big := strings.Repeat("word ", 600) // 1000 tokens
	summary := langrooms.Message{ID: "s", Role: langrooms.RoleSystem, Summary: &langrooms.Summary{Replaced: 7}, Parts: []langrooms.Part{langrooms.TextPart("so far")}}
	for _, tt := range []struct {
		name     string
		messages []langrooms.Message
		limit    int
		want     string
		left     int
	}{
		{"nothing", nil, 1000, "", 0},
		{"all of it", []langrooms.Message{asks("1", big), asks("2", big)}, 3000, "1 2", 0},
		{"half of the limit is free again", []langrooms.Message{asks("1", big), asks("2", big), asks("3", big), asks("4", big)}, 3500, "4-omitted 4", 3},
		{"and stays what it is until then", []langrooms.Message{asks("1", big), asks("2", big), asks("3", big), asks("4", big), asks("5", big)}, 3500, "4-omitted 4 5", 3},
		{"a summary stays in front", []langrooms.Message{summary, asks("1", big), asks("2", big), asks("3", big), asks("4", big)}, 3500, "s 4-omitted 4", 3},
		{"a result stays with its call", []langrooms.Message{asks("1", big), called("2"), returned("3", "2", big), returned("4", "2", big), asks("5", "and?")}, 2000, "5-omitted 5", 4},
		{"the newest result brings its call, and the question stays", []langrooms.Message{asks("1", "please"), called("2"), returned("3", "2", big), called("4"), returned("5", "4", big)}, 1500, "4-omitted 1 4 5", 2},
		{"what is first a result", []langrooms.Message{summary, returned("1", "0", big), asks("2", big)}, 1500, "s 2-omitted 2", 1},
	} {
		shown, left := room.History(tt.messages, tt.limit)
		if got := ids(shown); got != tt.want || left != tt.left {
			t.Errorf("%s: %q, %d left out; want %q, %d", tt.name, got, left, tt.want, tt.left)
		}
		if n := sizeOf(shown); n > tt.limit {
			t.Errorf("%s: %d tokens of %d", tt.name, n, tt.limit)
		}
	}
}

// An image takes its room, however short the words beside it.
func TestHistoryCountsImages(t *testing.T) {
	var messages []langrooms.Message
	for n := range 10 {
		m := asks(fmt.Sprint(n), "look")
		m.Parts = append(m.Parts, langrooms.Part{Kind: langrooms.PartBinary, MIMEType: "image/png", Data: []byte("x")})
		messages = append(messages, m)
	}
	if shown, left := room.History(messages, 8000); left != 8 || ids(shown) != "8-omitted 8 9" {
		t.Errorf("shown %s, %d left", ids(shown), left)
	}
}

// What alone is too long is clipped, and the caller's messages stay as they were.
func TestHistoryClips(t *testing.T) {
	big := strings.Repeat("wörd ", 10_000)
	messages := []langrooms.Message{asks("1", "why? "+big), called("2"), returned("3", "2", big)}
	shown, left := room.History(messages, 1000)
	if ids(shown) != "1 2 3" || left != 0 {
		t.Errorf("shown: %s, %d left", ids(shown), left)
	}
	if n := sizeOf(shown); n > 1000 || n < 700 {
		t.Errorf("%d tokens of 1000", n)
	}
	for _, m := range []langrooms.Message{shown[0], shown[2]} {
		text := m.Text()
		if m.Role == langrooms.RoleTool {
			text = m.Parts[0].ToolResult.Content
		}
		if !strings.HasSuffix(text, "(The rest was left out: it is too long to be sent.)") || !strings.Contains(text, "wörd wörd") {
			t.Errorf("%s: %.80q", m.ID, text)
		}
	}
	if messages[0].Text() != "why? "+big || messages[2].Parts[0].ToolResult.Content != big {
		t.Error("the caller's messages have changed")
	}
}

// Of a thread that grows, each request is under the limit and begins with the one before, but for
// the few times when much is left out at once; a tool's result always stands behind its call.
func TestHistoryIsStable(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var thread, before []langrooms.Message
	changes := 0
	for n := 0; n < 5000; n++ {
		switch id := fmt.Sprint(n); random.IntN(10) {
		case 0:
			thread = append(thread, called(id), returned(id+"r", id, strings.Repeat("x", random.IntN(2000))))
		default:
			thread = append(thread, asks(id, strings.Repeat("x", random.IntN(600))))
		}
		shown, _ := room.History(thread, 24_000)
		if size := sizeOf(shown); size > 24_000 {
			t.Fatalf("%d messages: %d tokens", n, size)
		}
		if len(shown) < len(before) || ids(shown[:len(before)]) != ids(before) {
			changes++
		}
		for i, m := range shown {
			if m.Role == langrooms.RoleTool && (i == 0 || shown[i-1].ID+"r" != m.ID) {
				t.Fatalf("%d messages: the result %s stands behind %s", n, m.ID, shown[max(0, i-1)].ID)
			}
		}
		before = shown
	}
	total := sizeOf(thread)
	if most := total/12_000 + 1; changes > most {
		t.Errorf("the beginning changed %d times in %d tokens, at most %d are expected", changes, total, most)
	}
}
