package openaiagent

import (
	"context"
	"fmt"
	"io"
	"time"
)

// quiet returns a context that ends limit after the last call of alive.
func quiet(ctx context.Context, limit time.Duration, key string) (_ context.Context, alive, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(limit, func() { cancel(fmt.Errorf("%w of %v without a sign of life%s", errTimeLimit, limit, key)) })
	return ctx, func() { timer.Reset(limit) }, func() {
		timer.Stop()
		cancel(nil)
	}
}

// pulse tells of every piece that is read.
type pulse struct {
	io.Reader
	alive func()
}

// Read implements [io.Reader].
func (p *pulse) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	if n > 0 {
		p.alive()
	}
	return n, err
}
