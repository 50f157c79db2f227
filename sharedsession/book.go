package sharedsession

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/langrooms/langrooms/checkpointer"
)

// book remembers what this process has read of the rooms, so that a listing reads only those
// that have changed. The store's listing of threads is what says which rooms there are.
type book struct {
	saver checkpointer.Saver
	mu    sync.Mutex
	rooms map[string]entry
}

type entry struct {
	updated time.Time
	length  int64
	read    time.Time // when it was read
	state   *state
}

// settled is how long after a change a reading of a room can be trusted to hold it: times in
// a listing may be as coarse.
const settled = 2 * time.Second

// errNoListing says that the store cannot name its threads.
var errNoListing = errors.New("the store cannot list its rooms")

// all returns every room there is.
func (b *book) all(ctx context.Context) ([]*state, error) {
	return b.since(ctx, time.Time{})
}

// since returns the rooms that were put to since a time.
func (b *book) since(ctx context.Context, from time.Time) ([]*state, error) {
	lister, ok := b.saver.(checkpointer.Lister)
	if !ok {
		return nil, errNoListing
	}
	var states []*state
	seen := map[string]bool{}
	for info, err := range lister.Threads(ctx) {
		if err != nil {
			return nil, fmt.Errorf("listing the rooms: %w", err)
		}
		if info.Updated.Before(from) {
			break
		}
		if !Is(info.Thread) || info.Err != nil {
			continue
		}
		seen[info.Thread] = true
		st, err := b.look(ctx, info)
		if err != nil {
			return nil, err
		}
		if st != nil {
			states = append(states, st)
		}
	}
	if from.IsZero() {
		b.forget(seen)
	}
	return states, nil
}

func (b *book) look(ctx context.Context, info checkpointer.ThreadInfo) (*state, error) {
	b.mu.Lock()
	e, ok := b.rooms[info.Thread]
	b.mu.Unlock()
	if ok && e.updated.Equal(info.Updated) && e.length == info.Length && e.read.Sub(info.Updated) > settled {
		return e.state, nil
	}
	now := time.Now()
	cp, err := b.saver.Get(ctx, checkpointer.Ref{Thread: info.Thread})
	if errors.Is(err, checkpointer.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the room %q: %w", info.Thread, err)
	}
	st, ok, err := decodeCheckpoint(info.Thread, cp)
	if err != nil || !ok {
		return nil, nil // it is no room, or one of another program: what asks for it is told so
	}
	st.keys = nil
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rooms == nil {
		b.rooms = map[string]entry{}
	}
	b.rooms[info.Thread] = entry{info.Updated, info.Length, now, st}
	return st, nil
}

func (b *book) forget(seen map[string]bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id := range b.rooms {
		if !seen[id] {
			delete(b.rooms, id)
		}
	}
}

// position is a room's place in a listing.
type position struct {
	at time.Time
	id string
}

func placeOf(s *state) position {
	at := s.room.CreatedAt
	if last := s.work.LastMessageAt; last != nil {
		at = *last
	}
	return position{at, s.id}
}

// compare orders by activity, newest first.
func (p position) compare(o position) int {
	return cmp.Or(o.at.Compare(p.at), cmp.Compare(p.id, o.id))
}

// before reports whether o comes behind p; everything comes behind the zero position.
func (p position) before(o position) bool { return p.id == "" || p.compare(o) < 0 }

// String is the position as a cursor.
func (p position) String() string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(p.at.UnixNano(), 10) + "/" + p.id))
}

func parseCursor(text string) (position, error) {
	if text == "" {
		return position{}, nil
	}
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return position{}, ErrQuery
	}
	nanos, id, _ := strings.Cut(string(data), "/")
	n, err := strconv.ParseInt(nanos, 10, 64)
	if err != nil || !Is(id) {
		return position{}, ErrQuery
	}
	return position{time.Unix(0, n).UTC(), id}, nil
}
