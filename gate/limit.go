package gate

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// limits bound how often one identity asks.
type limits struct {
	posts, reads float64
	mu           sync.Mutex
	of           map[limited]*rate.Limiter
}

// limited is whose requests of which kind are counted together.
type limited struct {
	kind  Kind
	name  string
	write bool
}

// maxLimited is how many are counted apart: strangers come from many addresses.
const maxLimited = 10_000

// wait returns 0 when the request may pass, else how long to wait before another try.
func (l *limits) wait(who Identity, reads bool) time.Duration {
	key := limited{who.Kind, who.Name, !reads}
	per := l.reads
	if key.write {
		per = l.posts
	}
	l.mu.Lock()
	if l.of == nil || len(l.of) >= maxLimited {
		l.of = map[limited]*rate.Limiter{}
	}
	limiter := l.of[key]
	if limiter == nil {
		limiter = rate.NewLimiter(rate.Limit(per), int(4*per))
		l.of[key] = limiter
	}
	l.mu.Unlock()
	r := limiter.Reserve()
	wait := r.Delay()
	if wait > 0 {
		r.Cancel()
	}
	return wait
}
