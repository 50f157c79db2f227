package sharedsession

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

// NewPost is a message to a room.
type NewPost struct {
	Content string
	// Mentions, when not nil, are meant in place of those in Content.
	Mentions []string
	// Key is an idempotency key of the caller's; empty is none. A post with the key of an
	// earlier one is that one.
	Key string
	// Wait waits for the chain that the message causes, until the context ends.
	Wait bool
}

// check reports why the post cannot be stored in any room, or nil.
func (p NewPost) check() error {
	switch {
	case utf8.RuneCountInString(p.Content) > MaxContent:
		return ErrTooLarge
	case blank(p.Content):
		return ErrEmpty
	}
	return nil
}

// Post stores a message with the turns that it causes, as one write, and returns (spec 4.5).
// The turns run beside. When p.Wait is set it waits for them, and for all that they cause.
func (s *Service) Post(ctx context.Context, caller Caller, id string, p NewPost) (Posted, error) {
	if err := s.mayPost(ctx, caller, id); err != nil {
		return Posted{}, err
	}
	if err := p.check(); err != nil {
		return Posted{}, err
	}
	p.Content = strings.ToValidUTF8(p.Content, "\uFFFD")
	key := keyOf(caller.Party, p.Key)
	if !s.enter(id, key) {
		return Posted{}, ErrInFlight
	}
	defer s.leave(id, key)
	out, err := s.post(ctx, caller, id, p, key)
	if err != nil || !p.Wait {
		return out, err
	}
	return s.await(ctx, caller, out)
}

// mayPost refuses who cannot post before the thread is held, so that a room of others costs what
// none does (spec 1.3). Of one who was in the room when it was last written to, the hold tells.
func (s *Service) mayPost(ctx context.Context, caller Caller, id string) error {
	if s.seats.has(id, caller.Party) {
		return nil
	}
	st, _, rights, err := s.load(ctx, caller, id)
	if err != nil {
		return err
	}
	s.seats.note(st)
	return rights.refusal()
}

// keyOf is the stored form of a caller's idempotency key.
func keyOf(who Party, key string) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(who.key() + "\x00" + key))
	return hex.EncodeToString(sum[:12])
}

func (s *Service) enter(id, key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if key == "" {
		return true
	}
	if s.posting[id+key] {
		return false
	}
	s.posting[id+key] = true
	return true
}

func (s *Service) leave(id, key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.posting, id+key)
}

func (s *Service) post(ctx context.Context, caller Caller, id string, p NewPost, key string) (out Posted, err error) {
	roster := s.roster()
	replay := int64(0)
	_, err = s.change(ctx, id, func(st *state, now time.Time) ([]langrooms.Message, error) {
		if err := st.rights(caller).refusal(); err != nil {
			return nil, err
		}
		if seq, known := st.keys[key]; known && key != "" {
			replay = seq
			return nil, nil
		}
		if c := st.room.Close; c != nil {
			return nil, closedError(c.Reason)
		}
		if reason := st.exhausted(now); reason != "" {
			return []langrooms.Message{line(st.close(nil, reason, now), note{})}, closedError(reason)
		}
		var messages []langrooms.Message
		messages, out = st.post(caller, p, key, func(agent string) bool { return s.reaches(caller, roster, agent) }, roster, now)
		return messages, nil
	})
	if err == nil && replay > 0 {
		return s.replay(ctx, id, replay, p)
	}
	return out, err
}

// post adds a message of caller's to the room: whom it seats, the message, and who is not
// woken.
func (s *state) post(caller Caller, p NewPost, key string, reaches func(string) bool, roster []string, now time.Time) ([]langrooms.Message, Posted) {
	out := Posted{RoomID: s.id, Mentions: []string{}, Wakes: []Wake{}, Unresolved: []string{}, Added: []string{}}
	var names []string
	for _, m := range s.room.Members {
		if m.Left == nil {
			names = appendNew(names, m.Name)
		}
	}
	if caller.Kind == User {
		for _, agent := range roster {
			if reaches(agent) {
				names = appendNew(names, agent)
			}
		}
	}
	found, unresolved := Mentions(p.Content, names)
	if p.Mentions != nil {
		found, unresolved = Resolve(p.Mentions, names)
	}
	out.Mentions, out.Unresolved = append(out.Mentions, found...), append(out.Unresolved, unresolved...)
	o := s.ownTurn(caller.Party)
	messages, agents, full := s.recruit(caller, found, &out, o, now)
	out.Seq = s.seq(len(messages))
	s.count(&caller.Party, out.Mentions, now)
	wakes, refused := s.call(caller.Party, out.Seq, agents, o, now)
	if len(full) > 0 {
		refused = append(refused, strings.Join(full, ", ")+fmt.Sprintf(" (the room has %d agents)", MaxAgents))
	}
	out.Wakes = append(out.Wakes, wakes...)
	n := note{Mentions: out.Mentions, Wakes: out.Wakes, Unresolved: out.Unresolved, Added: out.Added, Chains: o.chains}
	if key != "" {
		n.Digest = p.digest()
		s.keys = maps.Clone(s.keys)
		if s.keys == nil {
			s.keys = map[string]int64{}
		}
		s.keys[key] = out.Seq
		s.changed[keysChannel] = true
	}
	messages = append(messages, said(caller.Party, p.Content, n))
	if len(refused) > 0 {
		messages = append(messages, line(notWoken(refused), note{Chains: append(slices.Clone(o.chains), out.Seq)}))
	}
	return messages, out
}

func notWoken(refused []string) string { return "Not woken: " + strings.Join(refused, "; ") + "." }

// recruit sorts the mentioned names: agents are those to wake. One who is not in the room is
// seated first, within the room's bound, when a person mentions it (spec 4.3).
func (s *state) recruit(caller Caller, found []string, out *Posted, o origin, now time.Time) (lines []langrooms.Message, agents, full []string) {
	for _, name := range found {
		who := Party{Agent, name}
		switch {
		case s.present(who) != nil:
			agents = append(agents, name)
		case s.present(Party{User, name}) != nil:
		case len(s.agents()) >= MaxAgents:
			full = append(full, "@"+name)
		default:
			s.seat(who, Member, s.seq(len(lines)), now)
			lines = append(lines, line(fmt.Sprintf("%s joined, called by %s.", who.shown(), caller.shown()), note{Chains: o.chains}))
			agents = append(agents, name)
			out.Added = append(out.Added, name)
		}
	}
	return lines, agents, full
}

// digest tells one post's content from another's.
func (p NewPost) digest() string {
	sum := sha256.Sum256([]byte(p.Content + "\x00" + strings.Join(p.Mentions, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// replay answers a post that was stored before.
func (s *Service) replay(ctx context.Context, id string, seq int64, p NewPost) (Posted, error) {
	st, at, err := s.get(ctx, id)
	if err != nil || st == nil {
		return Posted{}, errors.Join(err, ErrNotFound)
	}
	for m, err := range s.cfg.Saver.Messages(ctx, at, checkpointer.Range{From: seq - 1, To: seq}) {
		if err != nil {
			return Posted{}, fmt.Errorf("reading the room %q: %w", id, err)
		}
		n := noteOf(m)
		if n.Digest != p.digest() {
			return Posted{}, ErrKeyReused
		}
		out := Posted{RoomID: id, Seq: seq, Replayed: true, Mentions: append([]string{}, n.Mentions...), Wakes: []Wake{},
			Unresolved: append([]string{}, n.Unresolved...), Added: append([]string{}, n.Added...)}
		for _, w := range n.Wakes {
			out.Wakes = append(out.Wakes, st.wakeState(w))
		}
		return out, nil
	}
	return Posted{}, ErrNotFound
}

// waitBound is how long a post is waited for at most.
const waitBound = 10 * time.Minute

// await waits until the chain of a post is over, and tells what it wrote.
func (s *Service) await(ctx context.Context, caller Caller, out Posted) (Posted, error) {
	sub := s.hub.join(out.RoomID)
	defer sub.leave()
	waiting, cancel := context.WithTimeout(ctx, waitBound)
	defer cancel()
	for {
		st, at, err := s.get(ctx, out.RoomID)
		if err != nil || st == nil {
			return out, errors.Join(err, ErrNotFound)
		}
		if !st.busy(out.Seq, caller.Party) || waiting.Err() != nil {
			for i, w := range out.Wakes {
				out.Wakes[i] = st.wakeState(w)
			}
			out.Messages, err = s.chain(ctx, at, out.Seq)
			return out, err
		}
		if err := sub.wait(waiting, pollEvery); err != nil {
			return out, err
		}
	}
}

// chain returns what the chain of the message at seq wrote.
func (s *Service) chain(ctx context.Context, at checkpointer.Ref, seq int64) ([]Message, error) {
	messages := []Message{}
	for m, err := range s.cfg.Saver.Messages(ctx, at, checkpointer.Range{From: seq}) {
		if err != nil {
			return nil, fmt.Errorf("reading the room %q: %w", at.Thread, err)
		}
		if slices.Contains(noteOf(m).Chains, seq) {
			messages = append(messages, shown(m))
		}
	}
	return messages, nil
}
