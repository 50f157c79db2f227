package acpagent

import (
	"testing"

	"github.com/langrooms/langrooms/delegate"
)

// BenchmarkAsk is one address of a conversation whose process runs.
func BenchmarkAsk(b *testing.B) {
	a := newScripted(b)
	ask(b, a, "say x")
	for b.Loop() {
		ask(b, a, "say x")
	}
}

// BenchmarkUpdates is one answer of 5,000 chunks.
func BenchmarkUpdates(b *testing.B) {
	a := newScripted(b)
	for b.Loop() {
		ask(b, a, "flood 5000")
	}
}

// BenchmarkAskKeyless starts a process, asks, and ends it.
func BenchmarkAskKeyless(b *testing.B) {
	a := newScripted(b)
	for b.Loop() {
		if _, err := a.Ask(b.Context(), delegate.Request{Prompt: "say x"}); err != nil {
			b.Fatal(err)
		}
	}
}
