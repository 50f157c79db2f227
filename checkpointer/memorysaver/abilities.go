package memorysaver

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

// Threads implements checkpointer.Lister. It yields what there was at the first read.
func (s *Saver) Threads(ctx context.Context) iter.Seq2[checkpointer.ThreadInfo, error] {
	return func(yield func(checkpointer.ThreadInfo, error) bool) {
		infos, err := s.threadInfos(ctx)
		if err != nil {
			yield(checkpointer.ThreadInfo{}, fmt.Errorf("threads: %w", err))
			return
		}
		for _, info := range infos {
			if !yield(info, nil) {
				return
			}
		}
	}
}

func (s *Saver) threadInfos(ctx context.Context) ([]checkpointer.ThreadInfo, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	type found struct {
		seq  int64
		info checkpointer.ThreadInfo
	}
	var all []found
	for name := range s.threads {
		t := s.live(name)
		if !t.exists() {
			continue
		}
		f := found{t.order[len(t.order)-1].seq, checkpointer.ThreadInfo{Thread: name, Updated: t.updated.UTC()}}
		if r := t.newest[""]; r != nil {
			f.info.Length = r.log().Length
		}
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b found) int { return cmp.Compare(b.seq, a.seq) })
	infos := make([]checkpointer.ThreadInfo, len(all))
	for i, f := range all {
		infos[i] = f.info
	}
	return infos, nil
}

// SetTTL implements checkpointer.Expirer. An expired thread is dropped when it is next
// asked for.
func (s *Saver) SetTTL(ctx context.Context, name string, ttl time.Duration) error {
	const op = "set TTL"
	if err := record.CheckTTL(name, ttl); err != nil {
		return record.Wrap(op, name, err)
	}
	return s.do(ctx, op, name, func(t *thread) error {
		if !t.exists() {
			return checkpointer.ErrNotFound
		}
		t.ttl, t.expires = ttl, time.Time{}
		if ttl > 0 {
			t.expires = t.updated.Add(ttl)
		}
		return nil
	})
}

// Watch implements checkpointer.Watcher. It yields once at the beginning, as soon as no
// later change can be missed.
func (s *Saver) Watch(ctx context.Context, name string) iter.Seq2[checkpointer.Change, error] {
	return func(yield func(checkpointer.Change, error) bool) {
		const op = "watch"
		if err := record.CheckThread(name); err != nil {
			yield(checkpointer.Change{}, record.Wrap(op, name, err))
			return
		}
		changes := make(chan checkpointer.Change, 1)
		changes <- checkpointer.Change{Thread: name}
		s.mu.Lock()
		if s.watchers[name] == nil {
			s.watchers[name] = map[chan checkpointer.Change]struct{}{}
		}
		s.watchers[name][changes] = struct{}{}
		s.mu.Unlock()
		defer s.unwatch(name, changes)
		for {
			select {
			case <-ctx.Done():
				return
			case <-s.done:
				yield(checkpointer.Change{}, record.Wrap(op, name, checkpointer.ErrClosed))
				return
			default:
			}
			select {
			case change := <-changes:
				if !yield(change, nil) {
					return
				}
			case <-ctx.Done():
			case <-s.done:
			}
		}
	}
}

func (s *Saver) unwatch(name string, changes chan checkpointer.Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.watchers[name], changes)
	if len(s.watchers[name]) == 0 {
		delete(s.watchers, name)
	}
}

// notify leaves the newest change with every watcher of its thread. The mutex is held,
// so nothing else sends.
func (s *Saver) notify(change checkpointer.Change) {
	for changes := range s.watchers[change.Thread] {
		select {
		case <-changes:
		default:
		}
		changes <- change
	}
}
