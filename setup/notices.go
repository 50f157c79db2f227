package setup

import (
	"sync"

	"github.com/langrooms/langrooms/hotreload"
)

// notices tells the operator, from one goroutine at a time.
type notices struct {
	mu sync.Mutex
	to func(text string) // nil drops it
}

func (n *notices) tell(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.to != nil {
		n.to(text)
	}
}

func (n *notices) report(findings []hotreload.Finding) {
	for _, f := range findings {
		n.tell(f.String())
	}
}
