package hotreload_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/langrooms/langrooms/hotreload"
)

// What is told as written is what stands there, whatever is in force; no text and no secret is among it.
func TestWritten(t *testing.T) {
	for data, want := range map[string]map[string]string{
		"room: { max_rounds: 99, catchup_max_chars: many }":                                                           {"room.max_rounds": "99", "room.catchup_max_chars": "many"},
		"n: &n 7\nroom: { max_rounds: *n, parallel: first }":                                                          {"room.max_rounds": "7", "room.parallel": "first"},
		"model: { api_key: planted-key, name: gpt, temperature: 0.5 }\nserver: { keys: [{ name: a, key: planted }] }": {"model.temperature": "0.5"},
		"room: { max_rounds: }":     {},
		"room: { max_rounds: [1] }": {},
		"room: 3":                   {},
		"room: [":                   {},
		"":                          {},
		"room: { max_rounds: " + strings.Repeat("9", 500) + " }": {"room.max_rounds": strings.Repeat("9", 40)},
	} {
		got := hotreload.Written("f.yaml", []byte(data))
		if !maps.Equal(got, want) {
			t.Errorf("%.60s: %v, want %v", data, got, want)
		}
	}
}
