package redissaver

import (
	"context"
	"errors"
	"fmt"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
	"github.com/redis/go-redis/v9"
)

// Blobs keeps opaque values by id beside the threads: its Get and Set are those that a
// graph engine asks of its store for interrupted runs (eino's compose.CheckPointStore).
// Values are independent of the thread of the same id: deleting one leaves the other.
// They expire after [Config.TTL].
type Blobs struct{ saver *Saver }

// Blobs returns the store of values on the saver's client.
func (s *Saver) Blobs() *Blobs { return &Blobs{s} }

func (b *Blobs) key(id string) string { return b.saver.config.Prefix + "blob{" + tag(id) + "}" }

// Get returns the value of id, and false when there is none. The id follows the rules of
// a thread id.
func (b *Blobs) Get(ctx context.Context, id string) ([]byte, bool, error) {
	const op = "get of the value"
	if err := record.CheckThread(id); err != nil {
		return nil, false, record.Wrap(op, id, err)
	}
	v, err := b.saver.guard(ctx, false, false, func(ctx context.Context) (any, error) {
		value, err := b.saver.client.Get(ctx, b.key(id)).Bytes()
		if errors.Is(err, redis.Nil) {
			return []byte(nil), nil
		}
		return append([]byte{}, value...), err
	})
	if err != nil {
		return nil, false, record.Wrap(op, id, err)
	}
	value := v.([]byte)
	return value, value != nil, nil
}

// Set stores the value of id in place of an older one. Above checkpointer.MaxStep bytes it is
// checkpointer.ErrTooLarge.
func (b *Blobs) Set(ctx context.Context, id string, value []byte) error {
	const op = "set of the value"
	err := record.CheckThread(id)
	if err == nil && len(value) > checkpointer.MaxStep {
		err = fmt.Errorf("%w: %d bytes, at most %d are allowed", checkpointer.ErrTooLarge, len(value), checkpointer.MaxStep)
	}
	if err != nil {
		return record.Wrap(op, id, err)
	}
	value = append([]byte{}, value...) // the write may go on when the caller has gone
	_, err = b.saver.guard(ctx, true, false, func(ctx context.Context) (any, error) {
		return nil, b.saver.client.Set(ctx, b.key(id), value, b.saver.config.TTL).Err()
	})
	return record.Wrap(op, id, err)
}
