package sharedsession

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

// DefaultLimit and MaxLimit bound a page.
const (
	DefaultLimit = 100
	MaxLimit     = 1000
)

// Page selects messages of a room.
type Page struct {
	// Since keeps messages with a greater seq, Before those with a smaller one; 0 keeps
	// all. With Before alone the page is the last before it, else the first.
	Since, Before int64
	// Limit is at most MaxLimit; nil is DefaultLimit.
	Limit *int
}

func (p Page) check() error {
	if p.Since < 0 || p.Before < 0 || p.Limit != nil && *p.Limit < 0 {
		return ErrQuery
	}
	return nil
}

// Read returns a room with a page of its messages, ascending. What a person is shown counts
// as read.
func (s *Service) Read(ctx context.Context, caller Caller, id string, p Page) (Detail, error) {
	st, at, rights, err := s.load(ctx, caller, id)
	if err != nil {
		return Detail{}, err
	}
	if err := p.check(); err != nil {
		return Detail{}, err
	}
	messages, more, err := s.page(ctx, at, rights.upTo, p)
	if err != nil {
		return Detail{}, err
	}
	if n := len(messages); n > 0 && caller.Kind == User {
		if err := s.markRead(ctx, caller, st, messages[n-1].Seq); err != nil {
			return Detail{}, err
		}
	}
	d := Detail{Room: st.view(caller, time.Now().UTC()), Participants: st.participants(rights.upTo), Messages: messages, HasMore: more, Working: []Working{}}
	if rights.present {
		d.Working = st.working()
	}
	return d, nil
}

// page reads messages up to the seq upTo.
func (s *Service) page(ctx context.Context, at checkpointer.Ref, upTo int64, p Page) ([]Message, bool, error) {
	limit := DefaultLimit
	if p.Limit != nil {
		limit = min(*p.Limit, MaxLimit)
	}
	end := upTo
	if p.Before > 0 {
		end = min(end, p.Before-1)
	}
	messages := []Message{}
	if end <= p.Since {
		return messages, false, nil
	}
	r := checkpointer.Range{From: p.Since, To: end, Limit: checkpointer.N(limit + 1), Backward: p.Before > 0 && p.Since == 0}
	for m, err := range s.cfg.Saver.Messages(ctx, at, r) {
		if err != nil {
			return nil, false, fmt.Errorf("reading the room %q: %w", at.Thread, err)
		}
		messages = append(messages, shown(m))
	}
	more := len(messages) > limit
	messages = messages[:min(limit, len(messages))]
	if r.Backward {
		slices.Reverse(messages)
	}
	return messages, more, nil
}

// markRead moves a person's place to seq, never back. St is what is shown: it stays what it was but
// for that, whatever has been said since, for it must fit the messages that it is shown with.
func (s *Service) markRead(ctx context.Context, caller Caller, st *state, seq int64) error {
	if st.present(caller.Party) == nil || st.work.Places[caller.key()].Read >= seq {
		return nil
	}
	var read place
	_, err := s.change(ctx, st.id, func(now *state, _ time.Time) ([]langrooms.Message, error) {
		p := now.work.Places[caller.key()]
		if read = p; now.present(caller.Party) == nil || p.Read >= seq {
			return nil, nil
		}
		p.ReadOthers, p.ReadMentions, p.Read = p.Others, p.Mentions, seq
		if seq < now.length { // what is behind it has not been read
			for m, err := range s.cfg.Saver.Messages(ctx, checkpointer.Ref{Thread: now.id}, checkpointer.Range{From: seq, To: now.length}) {
				if err != nil {
					return nil, fmt.Errorf("reading the room %q: %w", now.id, err)
				}
				if n := noteOf(m); n.Kind == Said && *n.Sender != caller.Party {
					p.ReadOthers--
					if slices.Contains(n.Mentions, caller.Name) {
						p.ReadMentions--
					}
				}
			}
		}
		now.place(caller.Party, p)
		read = p
		return nil, nil
	})
	own := st.work.Places[caller.key()]
	own.Read, own.ReadOthers, own.ReadMentions = read.Read, min(read.ReadOthers, own.Others), min(read.ReadMentions, own.Mentions)
	st.place(caller.Party, own)
	return err
}

// WaitForMention waits until a message behind since mentions the caller, and returns those
// that do; none when the time is over first. Nil since means from now on.
func (s *Service) WaitForMention(ctx context.Context, caller Caller, id string, since *int64, most time.Duration) ([]Message, error) {
	_, at, rights, err := s.load(ctx, caller, id)
	if err != nil {
		return nil, err
	}
	from := rights.upTo
	if since != nil {
		if from = *since; from < 0 {
			return nil, ErrQuery
		}
	}
	sub := s.hub.join(id)
	defer sub.leave()
	waiting, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for {
		messages := []Message{}
		if from < rights.upTo {
			for m, err := range s.cfg.Saver.Messages(ctx, at, checkpointer.Range{From: from, To: rights.upTo}) {
				if err != nil {
					return nil, fmt.Errorf("reading the room %q: %w", id, err)
				}
				from = m.Seq + 1
				if n := noteOf(m); n.Kind == Said && *n.Sender != caller.Party && slices.Contains(n.Mentions, caller.Name) {
					messages = append(messages, shown(m))
				}
			}
		}
		if len(messages) > 0 || waiting.Err() != nil || !rights.present {
			return messages, ctx.Err()
		}
		if err := sub.wait(waiting, pollEvery); err != nil {
			return messages, err
		}
		if ctx.Err() != nil {
			return messages, ctx.Err()
		}
		if _, at, rights, err = s.load(ctx, caller, id); err != nil {
			return nil, err
		}
	}
}

// Format is what a transcript is exported as.
type Format string

// The formats.
const (
	Markdown Format = "md"
	JSON     Format = "json"
)

// Export writes the whole transcript that the caller may read.
func (s *Service) Export(ctx context.Context, caller Caller, id string, f Format, w io.Writer) error {
	st, at, rights, err := s.load(ctx, caller, id)
	if err != nil {
		return err
	}
	if f != Markdown && f != JSON {
		return ErrQuery
	}
	d := Detail{Room: st.view(caller, time.Now().UTC()), Participants: st.participants(rights.upTo), Messages: []Message{}, Working: []Working{}}
	for m, err := range s.cfg.Saver.Messages(ctx, at, checkpointer.Range{To: max(rights.upTo, 1)}) {
		if err != nil {
			return fmt.Errorf("reading the room %q: %w", id, err)
		}
		d.Messages = append(d.Messages, shown(m))
	}
	if f == JSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(d)
	}
	_, err = io.WriteString(w, d.markdown())
	return err
}

func (d Detail) markdown() string {
	var b strings.Builder
	oneLine := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	b.WriteString("# " + oneLine(d.Name) + "\n\n")
	if d.Topic != nil {
		b.WriteString("Topic: " + oneLine(*d.Topic) + "\n\n")
	}
	for _, m := range d.Messages {
		who := "*room*"
		if m.Sender != nil {
			who = "**" + m.Sender.shown() + "**"
		}
		fmt.Fprintf(&b, "%s · %d · %s\n\n", who, m.Seq, m.CreatedAt.Format(time.RFC3339))
		b.WriteString("> " + strings.ReplaceAll(strings.TrimRight(m.Content, "\n"), "\n", "\n> ") + "\n\n")
	}
	if d.Summary != nil {
		b.WriteString("## Summary\n\n> " + strings.ReplaceAll(*d.Summary, "\n", "\n> ") + "\n")
	}
	return b.String()
}

// List returns a page of the rooms that the caller is a member of, newest activity first.
func (s *Service) List(ctx context.Context, caller Caller, limit *int, cursor string) (Listing, error) {
	after, err := parseCursor(cursor)
	if err != nil || limit != nil && *limit < 0 {
		return Listing{}, ErrQuery
	}
	n := DefaultLimit
	if limit != nil {
		n = min(*limit, MaxLimit)
	}
	states, err := s.book.all(ctx)
	if err != nil {
		return Listing{}, err
	}
	var own []*state
	for _, st := range states {
		if st.present(caller.Party) != nil && after.before(placeOf(st)) {
			own = append(own, st)
		}
	}
	slices.SortFunc(own, func(a, b *state) int { return placeOf(a).compare(placeOf(b)) })
	out := Listing{Rooms: []Room{}}
	now := time.Now().UTC()
	for _, st := range own[:min(n, len(own))] {
		out.Rooms = append(out.Rooms, st.view(caller, now))
	}
	if n > 0 && len(own) > n {
		next := placeOf(own[n-1]).String()
		out.Next = &next
	}
	return out, nil
}

// All returns every room of the store, newest activity first, to an admin user.
func (s *Service) All(ctx context.Context, caller Caller) ([]Room, error) {
	if !caller.Admin || caller.Kind != User {
		return nil, ErrForbidden
	}
	states, err := s.book.all(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(states, func(a, b *state) int { return placeOf(a).compare(placeOf(b)) })
	var rooms []Room
	now := time.Now().UTC()
	for _, st := range states {
		rooms = append(rooms, st.view(caller, now))
	}
	return rooms, nil
}

// Settle waits until no turn of a room waits or runs, or ctx ends.
func (s *Service) Settle(ctx context.Context, caller Caller, id string) error {
	sub := s.hub.join(id)
	defer sub.leave()
	for {
		st, _, _, err := s.load(ctx, caller, id)
		if err != nil || len(st.work.Wakes) == 0 {
			return err
		}
		if err := sub.wait(ctx, pollEvery); err != nil {
			return err
		}
	}
}
