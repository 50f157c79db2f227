package sharedsession_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/checkpointer/redissaver"
	"github.com/langrooms/langrooms/checkpointer/sqlitesaver"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/internal/redistest"
	"github.com/langrooms/langrooms/sharedsession"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// voice is an agent that is a function.
type voice struct {
	name string
	ask  func(context.Context, delegate.Request) (delegate.Reply, error)
}

func (v *voice) Info() delegate.Info {
	return delegate.Info{Name: v.name, Type: "script", Conversational: true}
}
func (v *voice) Ask(ctx context.Context, req delegate.Request) (delegate.Reply, error) {
	return v.ask(ctx, req)
}
func (v *voice) Probe(context.Context) (delegate.Health, error) { return delegate.Health{}, nil }
func (v *voice) Close() error                                   { return nil }

// says always answers text.
func says(name, text string) *voice {
	return &voice{name, func(context.Context, delegate.Request) (delegate.Reply, error) {
		return delegate.Reply{Text: text}, nil
	}}
}

// held says when it is asked, and answers what it is given.
type held struct {
	*voice
	asked  chan string // the prompts
	answer chan string
}

func holds(name string) held {
	h := held{asked: make(chan string, 16), answer: make(chan string)}
	h.voice = &voice{name, func(ctx context.Context, req delegate.Request) (delegate.Reply, error) {
		h.asked <- req.Prompt
		select {
		case text := <-h.answer:
			return delegate.Reply{Text: text}, nil
		case <-ctx.Done():
			return delegate.Reply{}, &delegate.Error{Delegate: name, Kind: delegate.KindCanceled, Err: ctx.Err()}
		}
	}}
	return h
}

func roomOf(t testing.TB, voices ...*voice) func() (exchange.Room, func()) {
	t.Helper()
	members := make([]delegate.Delegate, len(voices))
	for i, v := range voices {
		members[i] = v
	}
	roster, err := delegate.NewRegistry(members...)
	if err != nil {
		t.Fatal(err)
	}
	return func() (exchange.Room, func()) { return exchange.Room{Roster: roster, MaxRounds: 1}, func() {} }
}

// world is a service for one test.
type world struct {
	*sharedsession.Service
	t     testing.TB
	saver checkpointer.Saver
}

func serve(t testing.TB, saver checkpointer.Saver, change func(*sharedsession.Config), voices ...*voice) world {
	t.Helper()
	cfg := sharedsession.Config{Saver: saver, Room: roomOf(t, voices...), Failed: func(err error) {
		if !errors.Is(err, checkpointer.ErrFenced) {
			t.Errorf("the service failed: %v", err)
		}
	}}
	if change != nil {
		change(&cfg)
	}
	s, err := sharedsession.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return world{s, t, saver}
}

func memory(t testing.TB) checkpointer.Saver { return storeOf(t, "memory") }

// stores calls test with each kind of store.
func stores(t *testing.T, test func(t *testing.T, saver checkpointer.Saver)) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) { test(t, storeOf(t, kind)) })
	}
}

var kinds = []string{"memory", "sqlite", "redis"}

// storeOf returns an empty store, which is closed with the test.
func storeOf(t testing.TB, kind string) (saver checkpointer.Saver) {
	t.Helper()
	var err error
	switch kind {
	case "sqlite":
		saver, err = sqlitesaver.Open(t.Context(), sqlitesaver.Config{Path: filepath.Join(t.TempDir(), "rooms.db")})
	case "redis":
		return redisStore(t)
	default:
		saver = memorysaver.New()
	}
	if err != nil {
		t.Fatal(err)
	}
	closing(t, saver)
	return saver
}

func closing(t testing.TB, saver checkpointer.Saver) {
	t.Cleanup(func() {
		if err := saver.Close(); err != nil {
			t.Error(err)
		}
	})
}

func redisStore(t testing.TB) checkpointer.Saver { return redisAt(t, redistest.Start(t).Addr) }

func redisAt(t testing.TB, addr string) checkpointer.Saver {
	s, err := redissaver.Open("redis://" + addr)
	if err != nil {
		t.Fatal(err)
	}
	closing(t, s)
	return s
}

func user(name string) sharedsession.Caller {
	return sharedsession.Caller{Party: sharedsession.Party{Kind: sharedsession.User, Name: name}}
}

var ada = user("ada")

func invite(names ...string) []sharedsession.Invitee {
	var list []sharedsession.Invitee
	for _, n := range names {
		list = append(list, sharedsession.Invitee{Name: n})
	}
	return list
}

// open creates a room of ada's with agents.
func (w world) open(agents ...string) string {
	w.t.Helper()
	return w.create(sharedsession.NewRoom{Name: "build", Agents: invite(agents...)})
}

func (w world) create(n sharedsession.NewRoom) string {
	w.t.Helper()
	d, err := w.Create(w.t.Context(), ada, n)
	if err != nil {
		w.t.Fatal(err)
	}
	return d.ID
}

func (w world) say(id, content string) sharedsession.Posted {
	w.t.Helper()
	p, err := w.Post(w.t.Context(), ada, id, sharedsession.NewPost{Content: content})
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

func (w world) ask(id, content string) sharedsession.Posted {
	w.t.Helper()
	p, err := w.Post(w.t.Context(), ada, id, sharedsession.NewPost{Content: content, Wait: true})
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

func (w world) read(id string) sharedsession.Detail {
	w.t.Helper()
	limit := sharedsession.MaxLimit
	d, err := w.Read(w.t.Context(), ada, id, sharedsession.Page{Limit: &limit})
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

// lines renders a transcript, a message a line.
func (w world) lines(id string) []string {
	w.t.Helper()
	return linesOf(w.read(id).Messages)
}

func linesOf(messages []sharedsession.Message) []string {
	out := []string{}
	for _, m := range messages {
		who := "*"
		if m.Sender != nil {
			who = m.Sender.Name
		}
		mark := ""
		if m.Late {
			mark = " (late)"
		}
		out = append(out, who+mark+": "+m.Content)
	}
	return out
}

// until follows a room until do says that it has seen enough.
func (w world) until(id string, enough func(sharedsession.Event) bool) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	events, err := w.Events(ctx, ada, id, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	for e, err := range events {
		if err != nil {
			w.t.Fatal(err)
		}
		if enough(e) {
			return
		}
	}
	w.t.Fatal("the events ended")
}

// idle waits until nothing is at work in a room.
func (w world) idle(id string) {
	w.t.Helper()
	if len(w.read(id).Working) == 0 {
		return
	}
	w.until(id, func(sharedsession.Event) bool { return len(w.read(id).Working) == 0 })
}

func ofCode(err error) string {
	var e *sharedsession.Error
	if errors.As(err, &e) {
		return e.Code
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// counter is a number that many goroutines change.
type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) add(d int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n += d
	return c.n
}

func (c *counter) atLeast(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n = max(c.n, n)
}
