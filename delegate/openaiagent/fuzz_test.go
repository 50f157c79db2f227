package openaiagent

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/internal/completion"
	"github.com/langrooms/langrooms/internal/redact"
)

// Whatever a peer sends: no panic, valid UTF-8, the key never shown, and the progress is
// the answer.
func FuzzReadAnswer(f *testing.F) {
	for _, seed := range []string{
		whole("hi"), "data: " + chunk("hi") + "\n\ndata: [DONE]\n\n", `{"choices":[null]}`, `{"error":{"message":7}}`,
		"data: " + chunk(testKey[:9]) + "\ndata: " + chunk(testKey[9:]) + "\ndata: [DONE]",
		`data: {"choices":[{"delta":{"content":"\ud83d"}}]}` + "\n" + `data: {"choices":[{"delta":{"content":"\ude00\\"}}]}` + "\ndata: [DONE]",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var got recorder
		c := &call{agent: &Agent{}, secrets: redact.New(testKey), progress: got.note}
		a, err := completion.Read(bytes.NewReader(body), completion.NewReporter(c.secrets, c.progress))
		shown := got.text(langrooms.ProgressText)
		if !utf8.ValidString(shown) || strings.Contains(shown, testKey) {
			t.Errorf("progress = %q", shown)
		}
		if err != nil {
			return
		}
		text := c.secrets.Text(a.Text)
		if !utf8.ValidString(text) || shown != "" && shown != text {
			t.Errorf("answer %q, progress %q", text, shown)
		}
		if _, err := a.Encode(); err != nil {
			t.Error(err)
		}
	})
}
