package redissaver

import (
	"context"
	"sync"

	"github.com/redis/go-redis/v9"
)

// bells tell watchers that something was published on a channel, or that nothing was heard for a
// while: after a new connection each of its channels rings. One connection serves all of them, and
// is there only while somebody watches. The zero value is ready.
type bells struct {
	mu     sync.Mutex
	at     map[string]*rope // by channel
	pubsub *redis.PubSub    // nil while nobody watches
	ended  chan struct{}    // closed when nothing of pubsub is passed on any more
}

// rope is what hangs on a channel.
type rope struct {
	bells     map[chan struct{}]struct{}
	confirmed bool // the server has said that it tells
}

// hear returns what rings, once for any number of messages that were not looked at yet. leave must be
// called. A subscription that cannot be sent is tried again by the library; until it succeeds nothing
// rings.
func (b *bells) hear(ctx context.Context, client redis.UniversalClient, channel string) (rung <-chan struct{}, leave func()) {
	bell := make(chan struct{}, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pubsub == nil {
		b.at, b.ended = map[string]*rope{}, make(chan struct{})
		b.pubsub = client.Subscribe(context.WithoutCancel(ctx))
		go b.pass(b.pubsub.ChannelWithSubscriptions(), b.ended)
	}
	if b.at[channel] == nil {
		b.at[channel] = &rope{bells: map[chan struct{}]struct{}{}}
		_ = b.pubsub.Subscribe(ctx, channel) // see above
	} else if b.at[channel].confirmed {
		bell <- struct{}{}
	}
	b.at[channel].bells[bell] = struct{}{}
	return bell, func() { b.leave(channel, bell) }
}

func (b *bells) leave(channel string, bell chan struct{}) {
	b.mu.Lock()
	delete(b.at[channel].bells, bell)
	if len(b.at[channel].bells) > 0 {
		b.mu.Unlock()
		return
	}
	delete(b.at, channel)
	pubsub, ended := b.pubsub, b.ended
	if len(b.at) > 0 {
		_ = pubsub.Unsubscribe(context.Background(), channel) // bounded by the write time-out; what still rings is nobody's
		b.mu.Unlock()
		return
	}
	b.pubsub = nil
	b.mu.Unlock()
	_ = pubsub.Close()
	<-ended
}

// pass rings the bells of what comes, until the connection is closed for good.
func (b *bells) pass(heard <-chan any, ended chan<- struct{}) {
	defer close(ended)
	for what := range heard {
		switch what := what.(type) {
		case *redis.Message:
			b.ring(what.Channel)
		case *redis.Subscription:
			b.ring(what.Channel)
		}
	}
}

func (b *bells) ring(channel string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	rope := b.at[channel]
	if rope == nil {
		return // nobody is left
	}
	rope.confirmed = true
	for bell := range rope.bells {
		select {
		case bell <- struct{}{}:
		default: // it has not been looked at since the last one
		}
	}
}
