package sharedsession

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/internal/lifetime"
	"github.com/langrooms/langrooms/thread"
)

// Price is what a turn of an agent costs, in US dollars for a million tokens.
type Price struct{ InputPerMTok, OutputPerMTok float64 }

// Budgets bound a room.
type Budgets struct {
	// MaxMessages is 1 to 500.
	MaxMessages int
	// MaxCostUSD is above 0; nil means no bound.
	MaxCostUSD *float64
	// TTLHours is 0 to 168; 0 means that the room does not expire.
	TTLHours float64
}

// Config wires a [Service].
type Config struct {
	// Saver keeps the rooms. Required.
	Saver checkpointer.Saver
	// Room returns what a turn fixes at its start: roster, limits, health. Release is called
	// at its end. Required.
	Room func() (r exchange.Room, release func())
	// Defaults are the budgets of a room whose creator names none; nil means 60 messages, no
	// cost and 24 hours.
	Defaults func() Budgets
	// Enabled says whether there are shared sessions; nil means yes.
	Enabled func() bool
	// Price returns what an agent's turns cost; nil, and false, mean that it is not known.
	Price func(agent string) (Price, bool)
	// Parallel is how many turns this process runs at once; 0 means 16.
	Parallel int
	// Idle runs no turns here: they are left to other processes on the same store.
	Idle bool
	// Failed is told of errors of the service's own work; nil drops them.
	Failed func(error)
}

// Service is the rooms of a store. Make one with [New].
type Service struct {
	cfg Config
	hub hub

	life  *lifetime.Life  // of the turns and the sweep
	ctx   context.Context // life's
	slots chan struct{}
	book  book
	seats seats

	mu      sync.Mutex
	runners map[seatKey]*runner
	turns   map[string]context.CancelCauseFunc // by wake, those that run here
	posting map[string]bool                    // idempotency keys being stored here
}

// seatKey is an agent in a room.
type seatKey struct{ room, agent string }

// New returns a service and starts to take up what waits in the store.
func New(cfg Config) (*Service, error) {
	switch {
	case cfg.Saver == nil:
		return nil, errors.New("sharedsession: Config.Saver is nil")
	case cfg.Room == nil:
		return nil, errors.New("sharedsession: Config.Room is nil")
	case cfg.Parallel < 0:
		return nil, errors.New("sharedsession: Config.Parallel is negative")
	}
	if cfg.Parallel == 0 {
		cfg.Parallel = 16
	}
	if cfg.Enabled == nil {
		cfg.Enabled = func() bool { return true }
	}
	if cfg.Defaults == nil {
		cfg.Defaults = func() Budgets { return Budgets{MaxMessages: 60, TTLHours: 24} }
	}
	if cfg.Price == nil {
		cfg.Price = func(string) (Price, bool) { return Price{}, false }
	}
	if cfg.Failed == nil {
		cfg.Failed = func(error) {}
	}
	s := &Service{cfg: cfg, slots: make(chan struct{}, cfg.Parallel), runners: map[seatKey]*runner{},
		turns: map[string]context.CancelCauseFunc{}, posting: map[string]bool{}}
	s.book.saver = cfg.Saver
	s.life = lifetime.New(errEnding)
	s.ctx = s.life.Context()
	if !cfg.Idle {
		s.life.Go(func(context.Context) { s.sweep() })
	}
	return s, nil
}

// errEnding is the cause of turns that end with the service. They are begun again by
// whoever serves the store next.
var errEnding = errors.New("the service is ending")

// Close stops the turns that run here and waits for them. Idempotent.
func (s *Service) Close() { s.life.Close(s.hub.close) }

// Enabled reports whether there are shared sessions here.
func (s *Service) Enabled() bool { return s.cfg.Enabled() }

// Is reports whether a thread is a room's, by its name.
func Is(thread string) bool { return idPattern.MatchString(thread) }

var idPattern = regexp.MustCompile(`^room_[0-9a-f]{16}$`)

// nowhere is a room that does not exist: what is no id at all is looked up as this one, so
// that it costs the same (spec 1.3).
const nowhere = "room_no"

func newRoomID() string {
	var b [8]byte
	rand.Read(b[:])
	return "room_" + hex.EncodeToString(b[:])
}

// load reads a room and what caller may do there. ErrNotFound when that is nothing.
func (s *Service) load(ctx context.Context, caller Caller, id string) (*state, checkpointer.Ref, may, error) {
	st, at, err := s.get(ctx, id)
	if err != nil {
		return nil, at, may{}, err
	}
	rights := may{upTo: -1}
	if st != nil {
		rights = st.rights(caller)
	}
	if rights.upTo < 0 {
		return nil, at, may{}, ErrNotFound
	}
	return st, at, rights, nil
}

// get reads a room; nil when there is none.
func (s *Service) get(ctx context.Context, id string) (*state, checkpointer.Ref, error) {
	if !Is(id) {
		id = nowhere
	}
	cp, err := s.cfg.Saver.Get(ctx, checkpointer.Ref{Thread: id})
	if errors.Is(err, checkpointer.ErrNotFound) {
		return nil, cp.Ref, nil
	}
	if err != nil {
		return nil, cp.Ref, fmt.Errorf("reading the room %q: %w", id, err)
	}
	st, _, err := decodeCheckpoint(id, cp)
	return st, cp.Ref, err
}

func decodeCheckpoint(id string, cp checkpointer.Checkpoint) (*state, bool, error) {
	return decode(id, cp.Length, func(name string) ([]byte, bool) {
		data, ok := cp.Channels[name]
		return data, ok
	})
}

// source is the source of the rooms' checkpoints.
const source = "session"

// change holds a room's thread and stores what do makes of it as one write: its messages and
// the channels it has changed. What do returns with an error is stored too. The view is that
// of the thread behind the write.
func (s *Service) change(ctx context.Context, id string, do func(*state, time.Time) ([]langrooms.Message, error)) (thread.View, error) {
	return s.holding(ctx, id, func(_ *thread.Hold, st *state, now time.Time) ([]langrooms.Message, error) { return do(st, now) })
}

// holding is [Service.change] for what needs the hold itself. The thread is given back with the
// write, and only then others are told: those who come at once would have to wait for it.
func (s *Service) holding(ctx context.Context, id string, do func(*thread.Hold, *state, time.Time) ([]langrooms.Message, error)) (view thread.View, err error) {
	h, err := exchange.Hold(ctx, s.cfg.Saver, id)
	if err != nil {
		return view, fmt.Errorf("writing to the room %q: %w", id, err)
	}
	var told *state
	defer func() {
		err = errors.Join(err, h.End())
		if told != nil {
			s.stored(told)
		}
	}()
	st, ok, err := decode(id, h.Length(), h.Channel)
	if err != nil {
		return view, err
	}
	if !ok {
		return view, ErrNotFound
	}
	if err := s.absorb(h, st); err != nil {
		return view, err
	}
	messages, refused := do(h, st, time.Now().UTC())
	s.seats.note(st)
	if len(messages) > 0 || len(st.changed) > 0 {
		if err := put(h.PutLast, st, messages); err != nil {
			return view, err
		}
		told = st
	}
	return h.View(), refused
}

// put stores a room's state with new messages.
func put(by func(thread.Step) error, st *state, messages []langrooms.Message) error {
	if len(messages) > 0 {
		st.work.Length = st.length + int64(len(messages))
		st.changed[workChannel] = true
	}
	err := by(thread.Step{Source: source, Messages: messages, Set: st.encode()})
	if err == nil {
		st.length += int64(len(messages))
	}
	return err
}

// absorb counts messages that another road has put on the thread.
func (s *Service) absorb(h *thread.Hold, st *state) error {
	if st.length <= st.work.Length {
		return nil
	}
	from := checkpointer.Range{From: st.work.Length}
	for m, err := range s.cfg.Saver.Messages(h.Context(), h.Head(), from) {
		if err != nil {
			return fmt.Errorf("reading the room %q: %w", st.id, err)
		}
		n := noteOf(m)
		if n.Kind == Said {
			st.count(n.Sender, n.Mentions, m.Time.UTC())
		}
	}
	st.work.Length = st.length
	st.changed[workChannel] = true
	return nil
}

// stored tells those who look at the room, and starts what waits in it.
func (s *Service) stored(st *state) {
	s.hub.nudge(st.id)
	var agents []string
	for _, w := range st.work.Wakes {
		agents = appendNew(agents, w.Agent)
	}
	for _, agent := range agents {
		s.start(seatKey{st.id, agent})
	}
}

// reaches reports whether caller may add an agent: it is on the roster and not kept from the
// caller (spec 1.4).
func (s *Service) reaches(caller Caller, roster []string, agent string) bool {
	return slices.Contains(roster, agent) && (caller.Agents == nil || slices.Contains(caller.Agents, agent))
}

// roster names the agents there are.
func (s *Service) roster() []string {
	r, release := s.cfg.Room()
	defer release()
	return r.Roster.Names()
}

// Access reports whether there is a room for caller, to take part in or, of one who has left,
// to read: ErrNotFound when not. It is the one reading that every refusal begins with.
func (s *Service) Access(ctx context.Context, caller Caller, id string, partake bool) error {
	_, _, rights, err := s.load(ctx, caller, id)
	if err == nil && partake && !rights.present {
		return ErrNotFound
	}
	return err
}
