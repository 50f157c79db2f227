package delegate

import (
	"context"
	"errors"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a delegate that counts what is done to it.
type fake struct {
	name     string
	closeErr error
	// hold keeps Close from returning until it is closed; nil does not.
	hold   chan struct{}
	mu     sync.Mutex
	closes int
}

func (f *fake) Info() Info { return Info{Name: f.name, Type: "test"} }

func (f *fake) Ask(context.Context, Request) (Reply, error) { return Reply{}, errors.ErrUnsupported }

func (f *fake) Probe(context.Context) (Health, error) { return Health{}, errors.ErrUnsupported }

func (f *fake) Close() error {
	if f.hold != nil {
		<-f.hold
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closes++
	return f.closeErr
}

func (f *fake) closed() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closes
}

func roster(t *testing.T, delegates ...Delegate) *Registry {
	t.Helper()
	r, err := NewRegistry(delegates...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
