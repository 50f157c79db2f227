package sharedsession

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/room"
	"github.com/langrooms/langrooms/thread"
)

// turn asks the agent of w and stores what came of it. before is the room when the turn was
// claimed, view the thread behind the claim.
func (s *Service) turn(ctx context.Context, r exchange.Room, before *state, w wake, view thread.View) error {
	s.hub.nudge(before.id)
	asking, done := s.began(ctx, before.id, w)
	if w.Scribe {
		var cancel context.CancelFunc
		asking, cancel = context.WithDeadlineCause(asking, before.room.Close.At.Add(scribeBound), errStopped)
		defer cancel()
	}
	a, err := s.ask(asking, r, before, w, view)
	cause := context.Cause(asking)
	done()
	switch {
	case ctx.Err() != nil && !a.Outcome.OK:
		return context.Cause(ctx) // whoever has the seat's lease next begins the turn again
	case errors.Is(cause, errStopped) && !w.Scribe:
		return nil
	case err != nil:
		a.Outcome.Error = delegate.Cause(err)
	}
	recording, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordBound)
	defer cancel()
	_, err = s.holding(recording, before.id, func(h *thread.Hold, st *state, now time.Time) ([]langrooms.Message, error) {
		if !st.owns(w) {
			return nil, nil
		}
		waits := func(anchor int64) bool {
			if a.Late == nil || r.Collect == nil || w.Scribe {
				return false
			}
			a.Late.Anchor = anchor
			return r.Collect(h.Outliving(), *a.Late) != delegate.NotWaited
		}
		return st.answered(w, a.Outcome, s.cost(a.Outcome), before.work.Places[Party{Agent, w.Agent}.key()], view.Next, waits, now), nil
	})
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// recordBound is how long storing an answer may take, also while the service ends: what was
// heard is recorded.
const recordBound = 20 * time.Second

// ask asks the agent of w with what it has not seen.
func (s *Service) ask(ctx context.Context, r exchange.Room, before *state, w wake, view thread.View) (exchange.Answer, error) {
	messages, err := s.sinceView(ctx, view, before.work.Places[Party{Agent, w.Agent}.key()].Read)
	if err != nil {
		return exchange.Answer{}, err
	}
	defer s.hub.hush(before.id, w.ID)
	c := cut(messages, w.Agent, w.Seqs, r.Limits)
	if called, err := s.callers(ctx, view, w, c); err != nil {
		return exchange.Answer{}, err
	} else if len(called) > 0 {
		c.called = called
	}
	r.Events = s.reporter(before.id, w)
	return exchange.Ask(ctx, r, view, exchange.Question{
		Exchange: w.ID, Round: 1, Member: w.Agent, MayPass: !w.Scribe,
		From:    room.Speaker{Kind: room.SpeakerKind(w.By.Kind), Name: w.By.Name},
		Message: content(c.called),
		Frame:   func(room.PromptInput) string { return before.frame(w, c, time.Now().UTC()) },
	})
}

// callers reads the messages that woke the agent where its place is behind them already.
func (s *Service) callers(ctx context.Context, view thread.View, w wake, c slice) ([]langrooms.Message, error) {
	if len(c.called) == len(w.Seqs) || len(w.Seqs) == 0 {
		return nil, nil
	}
	messages, err := s.sinceView(ctx, view, w.Seqs[0]-1)
	return slices.DeleteFunc(messages, func(m langrooms.Message) bool { return !slices.Contains(w.Seqs, m.Seq+1) }), err
}

func content(messages []langrooms.Message) string {
	var texts []string
	for _, m := range messages {
		texts = append(texts, room.Content(m))
	}
	return strings.Join(texts, "\n\n")
}

// reporter passes on what the agent reports while it works.
func (s *Service) reporter(id string, w wake) langrooms.Sink {
	var text strings.Builder
	return func(e langrooms.Event) {
		if e.Type != langrooms.EventProgress || e.Progress == nil {
			return
		}
		p := e.Progress
		if p.Kind == langrooms.ProgressText {
			text.WriteString(p.Text)
			s.hub.say(id, Event{Type: EventPartial, Data: Partial{Wake: w.ID, Agent: w.Agent, Text: text.String()}})
			return
		}
		s.hub.say(id, Event{Type: EventProgress, Data: Progress{Wake: w.ID, Agent: w.Agent, Kind: p.Kind, Text: p.Text, State: p.State}})
	}
}

// cost is what a turn has cost in US dollars; nil when nobody knows. What never reached the
// agent has cost nothing.
func (s *Service) cost(o langrooms.Outcome) *float64 {
	if o.ErrorKind == langrooms.ErrorUnreachable || o.ErrorKind == langrooms.ErrorRefused {
		return new(float64)
	}
	if o.Usage == nil {
		return nil
	}
	if o.Usage.CostUSD != nil {
		return o.Usage.CostUSD
	}
	price, ok := s.cfg.Price(o.Author)
	if !ok {
		return nil
	}
	c := (float64(o.Usage.InputTokens)*price.InputPerMTok + float64(o.Usage.OutputTokens)*price.OutputPerMTok) / 1e6
	return &c
}

// maxFailure is how much of an error's words a failed turn's line has (spec 4.7).
const maxFailure = 200

// answered takes an agent's answer in: its words with its place, its cost and the turns that
// it causes (spec 4.7, 4.8). at was its place before the turn, next the position up to which
// it was shown the thread; waits sees to it that an answer which did not come in time is
// collected, where the line at anchor stands, and reports whether it is.
func (s *state) answered(w wake, o langrooms.Outcome, cost *float64, at place, next int64, waits func(anchor int64) bool, now time.Time) []langrooms.Message {
	who := Party{Agent, w.Agent}
	if cost == nil {
		s.work.CostUnknown = true
	} else {
		s.work.CostUSD += *cost
		s.work.TurnCost = max(s.work.TurnCost, *cost)
	}
	lines := s.expire(now)
	n := note{Wake: w.ID, CostUSD: cost, Chains: w.Chains, Late: s.room.Close != nil}
	if len(w.Seqs) > 0 {
		n.ReplyTo = w.Seqs[0]
	}
	switch {
	case w.Scribe:
		return append(lines, s.summed(w, o)...)
	case !o.OK:
		s.finish(w.ID, Failed)
		n.Failed, n.Late = true, false
		text := "@" + w.Agent + " failed: " + clip(delegate.OneLine(o.Error, delegate.MaxCause), maxFailure)
		if waits(s.length + int64(len(lines))) {
			text += " (its answer is posted late if it comes)"
		}
		failed := line(text, n)
		failed.Stamp = &langrooms.Stamp{Exchange: w.ID} // a late answer belongs to it
		lines = append(lines, failed)
	case o.Silent || o.Reply == "":
		s.finish(w.ID, Passed)
		s.seen(who, at, next)
	default:
		lines = append(lines, s.replied(who, w, o.Reply, n, int64(len(lines)), now)...)
		s.seen(who, at, next)
	}
	if reason := s.exhausted(now); reason != "" && s.room.Close == nil {
		lines = append(lines, line(s.close(nil, reason, now), note{Chains: w.Chains}))
	}
	return lines
}

// replied ends a turn with words: the message, and the turns that its mentions cause.
func (s *state) replied(who Party, w wake, text string, n note, behind int64, now time.Time) []langrooms.Message {
	var names, agents []string
	for _, m := range s.room.Members {
		if m.Left == nil {
			names = appendNew(names, m.Name)
		}
	}
	n.Mentions, _ = Mentions(text, names)
	s.count(&who, n.Mentions, now)
	var refused []string
	seq := s.length + behind + 1
	if s.room.Close == nil {
		for _, name := range n.Mentions {
			if s.present(Party{Agent, name}) != nil {
				agents = append(agents, name)
			}
		}
		n.Wakes, refused = s.call(who, seq, agents, w.origin(), now)
	}
	s.finish(w.ID, Done)
	messages := []langrooms.Message{said(who, text, n)}
	if len(refused) > 0 {
		messages = append(messages, line(notWoken(refused), note{Chains: w.Chains}))
	}
	return messages
}

// summed ends the scribe's last turn: its words are the room's summary.
func (s *state) summed(w wake, o langrooms.Outcome) []langrooms.Message {
	s.changed[workChannel] = true
	if !o.OK || o.Reply == "" {
		s.finish(w.ID, Failed)
		return nil
	}
	s.finish(w.ID, Done)
	if s.room.Close != nil {
		s.room.Summary = &o.Reply
		s.changed[roomChannel] = true
	}
	return nil
}

// seen moves an agent's place to what it was shown, never back. was is what there was to read
// then.
func (s *state) seen(who Party, was place, next int64) {
	p := s.work.Places[who.key()]
	if m := s.present(who); m == nil || next < m.JoinedSeq || next <= p.Read {
		return
	}
	p.Read, p.ReadOthers, p.ReadMentions = next, was.Others, was.Mentions
	s.place(who, p)
}

func clip(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	return string([]rune(text)[:limit-1]) + "…"
}
