package roomnode_test

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

// faulty is a store that fails, and a process that dies, where the transcript says so.
type faulty struct {
	checkpointer.Saver
	t *testing.T
	// locking is called once, when a turn asks for the thread.
	locking func()

	lease, other checkpointer.Lease
	faults       map[string]string // "put 2" → "fails"
	puts, reads  int
	down         bool
}

func (f *faulty) plan(lines []string) {
	f.faults = map[string]string{}
	for _, line := range lines {
		var op, what string
		var n int
		if _, err := fmt.Sscanf(line, "%s %d %s", &op, &n, &what); err != nil {
			f.t.Fatalf("store %q: %v", line, err)
		}
		f.faults[fmt.Sprintf("%s %d", op, n)] = what
	}
}

// heal ends the faults of a turn; all of them must have happened.
func (f *faulty) heal() {
	for at, what := range f.faults {
		f.t.Errorf("%s %s: it never came to that", at, what)
	}
	f.faults, f.puts, f.reads, f.down = nil, 0, 0, false
	if f.other != nil {
		f.release(f.other)
		f.other = nil
	}
}

// next counts an operation and returns what is to happen to it.
func (f *faulty) next(op string, count *int) string {
	*count++
	at := fmt.Sprintf("%s %d", op, *count)
	what := f.faults[at]
	delete(f.faults, at)
	f.down = f.down || what == "down"
	if f.down {
		return "fails"
	}
	return what
}

var errAway = fmt.Errorf("%w: connection refused", checkpointer.ErrUnavailable)

func (f *faulty) Put(ctx context.Context, parent checkpointer.Ref, step checkpointer.Step) (checkpointer.Ref, error) {
	switch what := f.next("put", &f.puts); what {
	case "fails":
		return checkpointer.Ref{}, errAway
	case "large":
		return checkpointer.Ref{}, checkpointer.ErrTooLarge
	case "lost":
		f.die()
	case "dies":
		if _, err := f.Saver.Put(ctx, parent, step); err != nil {
			f.t.Fatal(err)
		}
		f.die()
	}
	return f.Saver.Put(ctx, parent, step)
}

func (f *faulty) Messages(ctx context.Context, at checkpointer.Ref, r checkpointer.Range) iter.Seq2[langrooms.Message, error] {
	if f.next("read", &f.reads) == "fails" {
		return func(yield func(langrooms.Message, error) bool) { yield(langrooms.Message{}, errAway) }
	}
	return f.Saver.Messages(ctx, at, r)
}

func (f *faulty) Lock(ctx context.Context, thread string) (checkpointer.Lease, error) {
	if f.locking != nil {
		f.locking()
		f.locking = nil
	}
	lease, err := f.Saver.(checkpointer.Locker).Lock(ctx, thread)
	if err != nil {
		return nil, err
	}
	f.lease = onlyLease{lease} // its last put comes by Put, where the faults are
	return f.lease, nil
}

// onlyLease hides the abilities of a lease.
type onlyLease struct{ checkpointer.Lease }

// die ends the process: nothing of it runs on, and its lease, which would run out, is
// taken away.
func (f *faulty) die() {
	f.release(f.lease)
	panic(crash{})
}

// usurp gives the thread to another writer, as if this process had been asleep.
func (f *faulty) usurp() {
	f.release(f.lease)
	other, err := f.Saver.(checkpointer.Locker).Lock(f.t.Context(), thread)
	if err != nil {
		f.t.Fatal(err)
	}
	f.other = other
}

func (f *faulty) release(lease checkpointer.Lease) {
	if err := lease.Release(); err != nil {
		f.t.Error(err)
	}
}
