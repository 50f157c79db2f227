package redissaver

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
	"github.com/redis/go-redis/v9"
)

//go:embed lua/head.lua
var luaHead string

//go:embed lua/lib.lua
var luaLib string

//go:embed lua/log.lua
var luaLog string

//go:embed lua/pending.lua
var luaPending string

//go:embed lua/lease.lua
var luaLease string

//go:embed lua/token.lua
var luaToken string

//go:embed lua/fence.lua
var luaFence string

//go:embed lua/edit.lua
var luaEdit string

//go:embed lua/state.lua
var luaState string

//go:embed lua/foot.lua
var luaFoot string

// script joins the parts that a script needs between the common head and foot.
func script(parts ...string) *redis.Script { return redis.NewScript(source(parts...)) }

// quickly is a script that tries fast first, which calls slow() for what it does not know: Lua
// makes slow's functions only then.
func quickly(slow, fast string) *redis.Script {
	return redis.NewScript("local function slow()\n" + slow + "end\n" + fast)
}

// leaseTimes are the constants of lua/lease.lua.
var leaseTimes = fmt.Sprintf("local LEASE, PLACE = %d, %d\n", leaseTime.Milliseconds(), placeTime.Milliseconds())

func source(parts ...string) string {
	src := luaHead + leaseTimes
	for _, p := range parts {
		src += p
	}
	return src + luaFoot
}

const (
	// writeLimit bounds a write that goes on after its caller's context has ended.
	writeLimit = 10 * time.Second
	// grace is how long such a caller waits for the write's true outcome.
	grace = time.Second
)

// pauses lie between the attempts of an operation that is safe to repeat. Together they
// stay below a second, in which a dead server must be reported.
var pauses = []time.Duration{
	10 * time.Millisecond, 30 * time.Millisecond, 90 * time.Millisecond, 200 * time.Millisecond, 350 * time.Millisecond,
}

// request is one script run.
type request struct {
	op, thread string
	script     *redis.Script
	keys       []string
	args       []any
	write      bool // goes on when ctx ends
	once       bool // must not be repeated after an unknown outcome
}

// eval runs r and returns the answer's elements after the code.
func (s *Saver) eval(ctx context.Context, r request) ([]any, error) {
	v, err := s.guard(ctx, r.write, r.once, r.run(s.client))
	return r.answer(v, err)
}

// past is eval for the work of a lease, which goes on while Close waits for it.
func (s *Saver) past(ctx context.Context, r request) ([]any, error) {
	v, err := s.repeat(ctx, false, r.run(s.client))
	return r.answer(v, err)
}

func (r request) run(client redis.Scripter) func(context.Context) (any, error) {
	return func(ctx context.Context) (any, error) { return r.script.Run(ctx, client, r.keys, r.args...).Result() }
}

func (r request) answer(v any, err error) ([]any, error) {
	var list []any
	if err == nil {
		list, err = answer(v)
	}
	if err != nil {
		return nil, record.Wrap(r.op, r.thread, err)
	}
	return list, nil
}

// guard runs fn, again after faults of the connection, and returns when ctx ends: at
// once for a read, after the grace for a write, which goes on.
func (s *Saver) guard(ctx context.Context, write, once bool, fn func(context.Context) (any, error)) (any, error) {
	if err := ended(ctx); err != nil {
		return nil, err
	}
	if err := s.enter(); err != nil {
		return nil, err
	}
	if ctx.Done() == nil {
		defer s.work.Done()
		return s.repeat(ctx, once, fn)
	}
	type result struct {
		v   any
		err error
	}
	done := make(chan result, 1)
	go func() {
		defer s.work.Done()
		work := ctx
		if write {
			var cancel context.CancelFunc
			work, cancel = context.WithTimeout(context.WithoutCancel(ctx), writeLimit)
			defer cancel()
		}
		v, err := s.repeat(work, once, fn)
		if err != nil && work.Err() != nil && ctx.Err() == nil {
			err = fmt.Errorf("%w: no answer in %v", checkpointer.ErrUnavailable, writeLimit)
		}
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.v, r.err
	case <-ctx.Done():
	}
	if write {
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case r := <-done:
			return r.v, r.err
		case <-timer.C:
		}
	}
	return nil, ended(ctx)
}

// maxClosed bounds how many connections one call finds closed after a drop.
const maxClosed = 1000

// repeat runs fn, again after what passes. A server that answers READONLY was a master and
// is none any more: all connections to it are of no use.
func (s *Saver) repeat(ctx context.Context, once bool, fn func(context.Context) (any, error)) (any, error) {
	for attempt, closed := 0, 0; ; attempt++ {
		v, err := fn(ctx)
		if err == nil {
			return v, nil
		}
		if s.drop != nil && redis.IsReadOnlyError(err) {
			s.drop()
		}
		if s.drop != nil && errors.Is(err, net.ErrClosed) && !once && closed < maxClosed && ctx.Err() == nil {
			attempt--
			closed++
			continue
		}
		if !passing(err) || once && !refused(err) || attempt == len(pauses) || ctx.Err() != nil {
			return nil, classify(err)
		}
		timer := time.NewTimer(pauses[attempt])
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, classify(err)
		}
	}
}

// refused says that the server has answered, so that nothing was done.
func refused(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply)
}

// passing says that the same request may succeed in a moment: the connection broke or
// was refused, or the server is starting or changing its role. A timeout is not one:
// the server hangs, and asking again would only double the wait.
func passing(err error) bool {
	if redis.IsLoadingError(err) || redis.IsReadOnlyError(err) || redis.IsClusterDownError(err) ||
		redis.IsMasterDownError(err) || redis.IsTryAgainError(err) {
		return true
	}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return false
	}
	var op *net.OpError
	return errors.As(err, &op) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// classify gives a client's error its identity in the contract. What the server says of
// itself, and everything that is wrong on the way to it, is unavailability. (Scripts
// check the types of their keys themselves.)
func classify(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if redis.HasErrorPrefix(err, "WRONGTYPE") {
		return fmt.Errorf("%w: %w", checkpointer.ErrFormat, err)
	}
	return fmt.Errorf("%w: %w", checkpointer.ErrUnavailable, err)
}

var codes = map[string]error{
	"NOTFOUND": checkpointer.ErrNotFound,
	"CONFLICT": checkpointer.ErrConflict,
	"FENCED":   checkpointer.ErrFenced,
	"FORMAT":   checkpointer.ErrFormat,
	"LOST":     checkpointer.ErrUnavailable,
}

// answer takes the code off a script's reply and turns a refusal into its error.
func answer(v any) ([]any, error) {
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return nil, malformed("a reply")
	}
	code, _ := list[0].(string)
	if code == "OK" || code == "WAIT" {
		return list, nil
	}
	err, known := codes[code]
	if !known {
		return nil, malformed("a reply")
	}
	if text, _ := list[len(list)-1].(string); len(list) > 1 && text != "" {
		return nil, fmt.Errorf("%w: %q", err, text)
	}
	return nil, err
}

func malformed(what string) error {
	return fmt.Errorf("%w: %s is not as this program writes it", checkpointer.ErrFormat, what)
}
