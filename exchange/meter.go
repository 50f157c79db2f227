package exchange

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/thread"
)

// Meter sums what is spent for a thread outside of turns, such as on a summary. The zero value is
// ready; it is safe for concurrent use.
type Meter struct {
	mu    sync.Mutex
	spent map[string]langrooms.Spending
}

type meterKey struct{}

// WithMeter returns a context under which [Spend] counts on m.
func WithMeter(ctx context.Context, m *Meter) context.Context {
	return context.WithValue(ctx, meterKey{}, m)
}

// Spend counts an answer of member's on the meter that ctx carries, if any; nil is an answer of which
// nothing is known.
func Spend(ctx context.Context, member string, u *langrooms.Usage) {
	m, _ := ctx.Value(meterKey{}).(*Meter)
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.spent == nil {
		m.spent = map[string]langrooms.Spending{}
	}
	m.spent[member] = m.spent[member].Plus(langrooms.SpendingOf(u))
}

// Charge adds what was counted to the sums of the thread that h holds, and counts from nothing
// again. Where nothing was counted nothing is put.
func (m *Meter) Charge(h *thread.Hold) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	set := map[string][]byte{}
	for _, member := range slices.Sorted(maps.Keys(m.spent)) {
		value := charged(func(name string) ([]byte, bool) {
			if value, ok := set[name]; ok {
				return value, true
			}
			return h.Channel(name)
		}, member, m.spent[member])
		if value != nil {
			set[costsChannel] = value
		}
	}
	if len(set) == 0 {
		return nil
	}
	err := h.Put(thread.Step{Source: sourceRoom, Set: set})
	if err == nil {
		m.spent = nil
	}
	return err
}
