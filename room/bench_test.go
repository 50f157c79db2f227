package room_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/room"
)

// The cost of a window depends on its limits and not on the thread (spec 3.9).
func BenchmarkReadWindow(b *testing.B) {
	for _, n := range []int{100, 100_000} {
		messages := make([]langrooms.Message, n)
		for i := range messages {
			messages[i] = at(human("what broke the build, and who is going to mend it?"), int64(i))
		}
		b.Run(fmt.Sprintf("thread=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			taken := 0
			for b.Loop() {
				if _, err := room.ReadWindow(backwards(messages, &taken), room.WindowQuery{Member: "me"}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(taken)/float64(b.N), "messages/op")
		})
	}
}

func BenchmarkPrompt(b *testing.B) {
	var w room.Window
	for range room.DefaultCatchupMessages {
		w.Lines = append(w.Lines, room.Line{Author: "reviewer", Text: strings.Repeat("a line of some length\n", 9)})
	}
	b.ReportAllocs()
	for b.Loop() {
		room.Prompt(room.PromptInput{Member: "proto", Message: "what broke the build?", Window: w, MultiRound: true})
	}
}

func BenchmarkNeutralizeTags(b *testing.B) {
	text := strings.Repeat("a reply with a few < signs and one </room-message> in it\n", 20)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		room.NeutralizeTags(text)
	}
}
