// Package durable keeps what a process would otherwise only remember — the conversations
// with peers and the late answers still waited for — in the thread's own store, so that a
// restart, or another process that serves the thread, carries on (spec: rooms, 7.4). The
// rules for dropping are the same as in memory.
//
// It lives in a namespace of the thread beside its messages: what deletes the thread deletes
// it too.
//
// # Concurrency
//
// A [Store] is safe for concurrent use, also between processes: each change is a put after
// the checkpoint that it was derived from, tried again when another writer was first.
package durable

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/delegate"
)

// Namespace is where a thread keeps it.
const Namespace = "langrooms.continuity"

// The channels by kind: one a context, one a member waited for.
const (
	contextPrefix = "context:"
	latePrefix    = "late:"
)

// Store implements delegate.Continuity and delegate.HandleStore over a checkpointer. Make
// one with [New].
type Store struct{ saver checkpointer.Saver }

var (
	_ delegate.Continuity  = (*Store)(nil)
	_ delegate.HandleStore = (*Store)(nil)
)

// New returns a store over saver. It does no I/O.
func New(saver checkpointer.Saver) *Store { return &Store{saver} }

// MaxContexts is how many conversations of one delegate a thread keeps: under another url or
// credential it has another one, which is found again when the old url comes back.
const MaxContexts = 8

// storedContext is the value of a context's channel. N orders a delegate's by when they were
// learnt.
type storedContext struct {
	Key delegate.ContextKey `json:"key"`
	ID  string              `json:"id"`
	N   uint64              `json:"n,omitempty"`
}

// Get returns the id to echo, or "".
func (s *Store) Get(ctx context.Context, key delegate.ContextKey) (string, error) {
	cp, err := s.read(ctx, key.Thread)
	if err != nil {
		return "", err
	}
	var c storedContext
	data, ok := cp.Channels[contextChannel(key)]
	if !ok {
		return "", nil
	}
	if err := decode(contextChannel(key), data, &c); err != nil || c.Key != key {
		return "", err
	}
	return c.ID, nil
}

// Learn remembers id in place of an earlier one; nothing is written when it is known and the
// delegate's newest. What the same delegate had in another epoch goes, and of its other urls
// and credentials all but the newest [MaxContexts]: a credential that is rotated often would
// fill the thread.
func (s *Store) Learn(ctx context.Context, key delegate.ContextKey, id string) error {
	if id == "" || len(id) > delegate.MaxContextID {
		return nil
	}
	own := contextChannel(key)
	return s.change(ctx, key.Thread, func(cp checkpointer.Checkpoint) (checkpointer.Step, bool) {
		others, remove := contextsBeside(cp, key)
		next := storedContext{Key: key, ID: id, N: 1}
		if len(others) > 0 {
			next.N = others[0].N + 1
		}
		var known storedContext
		data, ok := cp.Channels[own]
		if ok && json.Unmarshal(data, &known) == nil && known.ID == id && known.N >= next.N {
			return checkpointer.Step{}, false
		}
		for _, c := range others[min(len(others), MaxContexts-1):] {
			remove = append(remove, contextChannel(c.Key))
		}
		data, err := json.Marshal(next)
		if err != nil {
			panic("durable: strings do not marshal: " + err.Error())
		}
		return checkpointer.Step{Channels: map[string][]byte{own: data}, Remove: remove}, true
	})
}

// contextsBeside returns what the thread keeps of key's delegate in key's epoch beside key's
// own, the newest first, and the channels of what cannot stand any more.
func contextsBeside(cp checkpointer.Checkpoint, key delegate.ContextKey) (others []storedContext, remove []string) {
	for channel, data := range cp.Channels {
		if !strings.HasPrefix(channel, contextPrefix) || channel == contextChannel(key) {
			continue
		}
		var c storedContext
		switch err := json.Unmarshal(data, &c); {
		case err != nil || contextChannel(c.Key) != channel:
			remove = append(remove, channel)
		case c.Key.Delegate != key.Delegate:
		case c.Key.Epoch != key.Epoch:
			remove = append(remove, channel)
		default:
			others = append(others, c)
		}
	}
	slices.SortFunc(others, func(a, b storedContext) int { return cmp.Compare(b.N, a.N) })
	return others, remove
}

// Drop forgets what key has.
func (s *Store) Drop(ctx context.Context, key delegate.ContextKey) error {
	channel := contextChannel(key)
	return s.change(ctx, key.Thread, func(cp checkpointer.Checkpoint) (checkpointer.Step, bool) {
		_, ok := cp.Channels[channel]
		return checkpointer.Step{Remove: []string{channel}}, ok
	})
}

// DropThread forgets all contexts of a thread.
func (s *Store) DropThread(ctx context.Context, thread string) error {
	return s.dropAll(ctx, thread, contextPrefix)
}

// DropDelegate forgets what the delegate of the given name has on a thread, under every url and
// credential.
func (s *Store) DropDelegate(ctx context.Context, thread, name string) error {
	return s.change(ctx, thread, func(cp checkpointer.Checkpoint) (checkpointer.Step, bool) {
		var step checkpointer.Step
		for channel, data := range cp.Channels {
			var c storedContext
			if strings.HasPrefix(channel, contextPrefix) && (json.Unmarshal(data, &c) != nil || c.Key.Delegate == name) {
				step.Remove = append(step.Remove, channel)
			}
		}
		return step, len(step.Remove) > 0
	})
}

// PutHandle stores h in place of the one of the same thread and delegate.
func (s *Store) PutHandle(ctx context.Context, h delegate.Handle) error {
	data, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("durable: %w", err)
	}
	return s.change(ctx, h.Thread, func(checkpointer.Checkpoint) (checkpointer.Step, bool) {
		return checkpointer.Step{Channels: map[string][]byte{latePrefix + h.Delegate: data}}, true
	})
}

// HasHandle reports whether h still stands.
func (s *Store) HasHandle(ctx context.Context, h delegate.Handle) (bool, error) {
	cp, err := s.read(ctx, h.Thread)
	if err != nil {
		return false, err
	}
	return holds(cp, h), nil
}

// TakeHandle removes h and reports whether it stood: true for exactly one caller.
func (s *Store) TakeHandle(ctx context.Context, h delegate.Handle) (taken bool, err error) {
	err = s.change(ctx, h.Thread, func(cp checkpointer.Checkpoint) (checkpointer.Step, bool) {
		taken = holds(cp, h)
		return checkpointer.Step{Remove: []string{latePrefix + h.Delegate}}, taken
	})
	return taken && err == nil, err
}

// Handles lists a thread's handles, by delegate name.
func (s *Store) Handles(ctx context.Context, thread string) ([]delegate.Handle, error) {
	cp, err := s.read(ctx, thread)
	if err != nil {
		return nil, err
	}
	var handles []delegate.Handle
	for channel, data := range cp.Channels {
		if !strings.HasPrefix(channel, latePrefix) {
			continue
		}
		var h delegate.Handle
		if err := decode(channel, data, &h); err != nil {
			return nil, err
		}
		handles = append(handles, h)
	}
	slices.SortFunc(handles, func(a, b delegate.Handle) int { return strings.Compare(a.Delegate, b.Delegate) })
	return handles, nil
}

// DropHandles removes all of a thread's handles.
func (s *Store) DropHandles(ctx context.Context, thread string) error {
	return s.dropAll(ctx, thread, latePrefix)
}

func contextChannel(key delegate.ContextKey) string {
	data, err := json.Marshal(key)
	if err != nil {
		panic("durable: strings do not marshal: " + err.Error())
	}
	sum := sha256.Sum256(data)
	return contextPrefix + hex.EncodeToString(sum[:16])
}

func holds(cp checkpointer.Checkpoint, h delegate.Handle) bool {
	var stored delegate.Handle
	data, ok := cp.Channels[latePrefix+h.Delegate]
	return ok && json.Unmarshal(data, &stored) == nil && stored.ID == h.ID
}

func decode(channel string, data []byte, v any) error {
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%w: channel %q: %w", checkpointer.ErrFormat, channel, err)
	}
	return nil
}

// read returns what the thread keeps; nothing kept is an empty checkpoint.
func (s *Store) read(ctx context.Context, thread string) (checkpointer.Checkpoint, error) {
	cp, err := s.saver.Get(ctx, checkpointer.Ref{Thread: thread, Namespace: Namespace})
	if errors.Is(err, checkpointer.ErrNotFound) {
		return checkpointer.Checkpoint{Ref: checkpointer.Ref{Thread: thread, Namespace: Namespace}}, nil
	}
	return cp, err
}

func (s *Store) dropAll(ctx context.Context, thread, prefix string) error {
	return s.change(ctx, thread, func(cp checkpointer.Checkpoint) (checkpointer.Step, bool) {
		var step checkpointer.Step
		for channel := range cp.Channels {
			if strings.HasPrefix(channel, prefix) {
				step.Remove = append(step.Remove, channel)
			}
		}
		return step, len(step.Remove) > 0
	})
}

// change puts the step that derive makes from what is kept, unless derive wants none.
func (s *Store) change(ctx context.Context, thread string, derive func(checkpointer.Checkpoint) (checkpointer.Step, bool)) error {
	return checkpointer.GiveWay(func() error {
		cp, err := s.read(ctx, thread)
		if err != nil {
			return err
		}
		step, wanted := derive(cp)
		if !wanted {
			return nil
		}
		_, err = s.saver.Put(ctx, cp.Ref, step)
		return err
	})
}
