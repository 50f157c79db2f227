package acpagent

import (
	"io"
	"sync"

	"github.com/langrooms/langrooms/internal/redact"
)

// keptTail is how much of what an agent writes beside the protocol is kept, in bytes;
// shownTail is how much of it an error shows. The difference is larger than a secret, so
// that none is shown in halves.
const (
	keptTail  = 16 << 10
	shownTail = 1 << 10
)

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	data []byte
}

var _ io.Writer = (*tail)(nil)

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p[max(0, len(p)-keptTail):]...)
	if over := len(t.data) - keptTail; over > 0 {
		t.data = t.data[:copy(t.data, t.data[over:])]
	}
	return len(p), nil
}

// last returns the end of the text without secrets, at most shownTail bytes.
func (t *tail) last(r redact.Set) string {
	t.mu.Lock()
	text := r.Text(string(t.data))
	t.mu.Unlock()
	return text[max(0, len(text)-shownTail):]
}
