package redissaver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/waiters"
	"github.com/redis/go-redis/v9"
)

// DefaultPrefix starts the keys of a [Config] without a Prefix.
const DefaultPrefix = "langrooms:"

// Config says how a [Saver] or [Blobs] uses the server.
type Config struct {
	// Prefix starts every key; empty means [DefaultPrefix]. Braces are refused, because
	// Redis Cluster would take them for the hash tag.
	Prefix string
	// TTL lets a thread that has no TTL of its own (see Saver.SetTTL) expire this long
	// after its last put; 0 means never. Whole milliseconds.
	TTL time.Duration
	// RefreshOnRead lets reads put off the expiry too, once less than half of the TTL
	// is left.
	RefreshOnRead bool
}

func (c Config) check() (Config, error) {
	if c.Prefix == "" {
		c.Prefix = DefaultPrefix
	}
	switch {
	case strings.ContainsAny(c.Prefix, "{}"):
		return c, fmt.Errorf("redissaver: Config.Prefix %q: %w: braces are not allowed", c.Prefix, checkpointer.ErrInvalid)
	case len(c.Prefix) > 256:
		return c, fmt.Errorf("redissaver: Config.Prefix: %w: longer than 256 bytes", checkpointer.ErrInvalid)
	case c.TTL < 0 || c.TTL > 0 && c.TTL < time.Millisecond:
		return c, fmt.Errorf("redissaver: Config.TTL %v: %w: it must be 0 or at least a millisecond", c.TTL, checkpointer.ErrInvalid)
	}
	return c, nil
}

// Saver is a [checkpointer.Saver] with all optional abilities. Make one with [New] or
// [Open].
type Saver struct {
	client redis.UniversalClient
	config Config
	owned  bool   // Close closes the client
	drop   func() // closes the connections that are open; nil where they are not ours

	mu     sync.Mutex
	closed bool
	stop   chan struct{}
	work   sync.WaitGroup

	waiters waiters.Lines // for leases
	bells   bells         // for watchers
}

var (
	_ checkpointer.Saver       = (*Saver)(nil)
	_ checkpointer.Locker      = (*Saver)(nil)
	_ checkpointer.Lister      = (*Saver)(nil)
	_ checkpointer.Forker      = (*Saver)(nil)
	_ checkpointer.Copier      = (*Saver)(nil)
	_ checkpointer.Pruner      = (*Saver)(nil)
	_ checkpointer.Compacter   = (*Saver)(nil)
	_ checkpointer.Expirer     = (*Saver)(nil)
	_ checkpointer.Watcher     = (*Saver)(nil)
	_ checkpointer.Snapshotter = (*Saver)(nil)
	_ checkpointer.HeadLocker  = (*Saver)(nil)
	_ checkpointer.LastPutter  = (*lease)(nil)
	_ checkpointer.Logger      = (*Saver)(nil)
	_ checkpointer.Selector    = (*Saver)(nil)
	_ checkpointer.Walker      = (*Saver)(nil)
)

// New returns a saver on client, without any I/O. The client stays the caller's: Close
// does not close it. A dead server is reported as quickly as the client's own dialling
// gives up; [Open] makes clients that do within a second. An unusable config is
// checkpointer.ErrInvalid.
func New(client redis.UniversalClient, config Config) (*Saver, error) {
	if client == nil {
		return nil, fmt.Errorf("redissaver: client: %w: nil", checkpointer.ErrInvalid)
	}
	config, err := config.check()
	if err != nil {
		return nil, err
	}
	return &Saver{client: client, config: config, stop: make(chan struct{})}, nil
}

// Open returns a saver on a client of its own, made from a URL as [ParseURL] reads it,
// without connecting. Close closes the client.
func Open(url string) (*Saver, error) {
	options, config, dialer, err := parse(url)
	if err != nil {
		return nil, err
	}
	s, err := New(redis.NewUniversalClient(options), config)
	if err != nil {
		return nil, err
	}
	s.owned, s.drop = true, dialer.drop
	return s, nil
}

// Close ends waits and watches, gives back the leases that are held, waits for what was
// begun (bounded by the client's timeouts), and closes the client that [Open] has made.
// Idempotent and safe from many goroutines.
func (s *Saver) Close() error {
	s.mu.Lock()
	first := !s.closed
	if first {
		s.closed = true
		close(s.stop)
	}
	s.mu.Unlock()
	s.work.Wait()
	if !first || !s.owned {
		return nil
	}
	if err := s.client.Close(); err != nil && !errors.Is(err, redis.ErrClosed) {
		return fmt.Errorf("redissaver: close: %w", err)
	}
	return nil
}

// enter counts a piece of work that Close waits for; leave with s.work.Done.
func (s *Saver) enter() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return checkpointer.ErrClosed
	}
	s.work.Add(1)
	return nil
}

// ended returns why ctx has ended, its cause included, or nil.
func ended(ctx context.Context) error {
	err := ctx.Err()
	if cause := context.Cause(ctx); err != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}
