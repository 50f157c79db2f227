package setup

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"slices"
	"sync"

	"github.com/tmc/langchaingo/llms"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/demo"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/hotreload"
	"github.com/langrooms/langrooms/internal/lifetime"
	"github.com/langrooms/langrooms/late"
	"github.com/langrooms/langrooms/room"
)

// Options say how to open an [App].
type Options struct {
	// Path is the configuration file. When it does not exist and Required is not set, the
	// built-in demo configuration is used and not watched.
	Path     string
	Required bool
	// OneTurn says that the program ends after one turn. What only this process would
	// remember is then not waited for, and nothing says that it will be.
	OneTurn bool
	// Dir is the working folder of the demo's delegates; empty means the process's.
	Dir string
	// Notify is told what the operator should know: a bad file, a change that needs a
	// restart. Nil drops it. It is called from one goroutine at a time.
	Notify func(text string)

	// Delegates are delegates of the program's own. They stand on the roster behind those of
	// the file, whatever is saved there; an entry of the file with the name of one of them is
	// left out. They belong to the App from Open on, which closes them also when it fails.
	Delegates []delegate.Delegate
	// Saver, when set, holds the threads in place of the file's store. It stays the
	// program's: Close does not close it.
	Saver checkpointer.Saver
	// Model, when set, is the lead's in place of the file's.
	Model llms.Model
}

// App is what one configuration file comes to, kept up with the file.
type App struct {
	// Saver holds the threads.
	Saver checkpointer.Saver
	// Roster is the live roster.
	Roster *delegate.Live
	// Health is what the asks of this process showed of the roster's delegates.
	Health *delegate.HealthView
	// Continuity remembers the delegates' conversations.
	Continuity delegate.Continuity
	// Inbox waits for answers that arrive outside of a turn.
	Inbox *late.Inbox

	options   Options
	memory    switched
	transport *http.Transport // the lead's model's
	file      *hotreload.File // nil for the built-in configuration
	cancel    func()

	life *lifetime.Life // of what works beside

	// applying is held while a configuration is taken over; opened says that Open, which
	// takes the first one, has succeeded.
	applying sync.Mutex
	opened   bool
	faulty   bool // the newest file was not taken, and that was told

	mu      sync.Mutex
	config  hotreload.Config
	entries []entry
	model   llms.Model
	modelOf modelKey
	peers   *demo.Peers
	closed  bool

	notifyMu sync.Mutex
}

// ErrClosed says that the app has been closed.
var ErrClosed = errors.New("the app has been closed")

// Open reads the configuration and opens what it names. Errors name the file and the part
// that failed; nothing stays open then.
func Open(ctx context.Context, o Options) (*App, error) {
	a := newApp(o)
	if err := a.open(ctx); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

func newApp(o Options) *App {
	return &App{options: o, Roster: delegate.NewLive(nil), Health: &delegate.HealthView{}, life: lifetime.New(),
		transport: http.DefaultTransport.(*http.Transport).Clone()}
}

func (a *App) open(ctx context.Context) error {
	a.applying.Lock()
	defer a.applying.Unlock()
	if err := a.ownDelegates(); err != nil {
		return err
	}
	if err := a.openConfig(ctx); err != nil {
		return err
	}
	if err := a.openParts(ctx); err != nil {
		return err
	}
	a.opened = true
	return nil
}

func (a *App) openConfig(ctx context.Context) error {
	file, err := hotreload.Open(ctx, hotreload.Options{Path: a.options.Path})
	if errors.Is(err, fs.ErrNotExist) && !a.options.Required {
		a.notify("There is no " + a.options.Path + " here: using the built-in demo configuration.")
		a.config, _, _, err = ReadConfig(a.options.Path, false)
		return err
	}
	if err != nil {
		return err
	}
	a.file = file
	a.cancel = file.Subscribe(a.changed) // before the first look, so that no change falls in between
	first := file.Current()
	a.config = first.Config
	if a.options.Saver == nil {
		if err := storeUsable(first.Findings); err != nil {
			return err
		}
	}
	a.report(first.Findings)
	return nil
}

func (a *App) openParts(ctx context.Context) error {
	a.Saver = a.options.Saver
	if a.Saver == nil {
		saver, err := OpenSaver(ctx, a.config.Checkpointer.URL)
		if err != nil {
			return err
		}
		a.Saver = saver
	}
	a.remember(a.config.Continuity)
	a.Continuity = delegate.NewEchoGuard(&a.memory, func(k delegate.ContextKey) {
		a.notify("Delegate @" + k.Delegate + " gives several chats, or one that was rewound, the same conversation; it is not continued any more.")
	})
	if err := a.openInbox(); err != nil {
		return err
	}
	return a.applyConfig(a.config)
}

func (a *App) openInbox() error {
	var err error
	a.Inbox, err = late.New(late.Config{
		Saver: a.Saver, Roster: a.Roster, Handles: &a.memory, Health: a.Health, OneTurn: a.options.OneTurn,
		Failed: func(err error) { a.notify(err.Error()) },
	})
	return err
}

// Collect takes over a late answer, if this process or, with durable continuity, a later one
// will be there to take it. It is the Collect of [App.Room].
func (a *App) Collect(ctx context.Context, h delegate.Handle) delegate.Waiting {
	if a.options.OneTurn && !a.memory.durable.Load() {
		return delegate.NotWaited
	}
	return a.Inbox.Collect(ctx, h)
}

// Room returns what a turn fixes at its start, the configuration and the roster of one
// moment. It is what the nodes and the lead's tools want.
func (a *App) Room() (r exchange.Room, release func()) {
	a.mu.Lock() // so that no configuration comes in between
	defer a.mu.Unlock()
	r = exchange.Room{MaxRounds: a.config.Room.MaxRounds, Lead: a.config.Identity.Name, Collect: a.Collect, Health: a.Health,
		Limits: room.Limits{Messages: a.config.Room.CatchupMaxMessages, Chars: a.config.Room.CatchupMaxChars}}
	r.Roster, release = a.Roster.Acquire()
	return r, release
}

// changed takes a new configuration over: the next turn has it.
func (a *App) changed(c hotreload.Change) {
	a.applying.Lock()
	defer a.applying.Unlock()
	if !a.opened {
		return
	}
	if c.Fault != nil {
		a.faulty = true
		a.notify("The configuration was not taken: " + c.Fault.Error())
		return
	}
	if a.faulty {
		a.faulty = false
		a.notify("The configuration is in order again.")
	}
	a.report(news(c.Old.Findings, c.New.Findings))
	for _, key := range c.Restart {
		a.notify("A change of " + key + " needs a restart.")
	}
	a.remember(c.New.Config.Continuity)
	if err := a.applyConfig(c.New.Config); err != nil {
		a.notify("The new roster was not taken: " + err.Error())
		return
	}
	for _, name := range left(c.Old, c.New) {
		a.memory.remove(name)
	}
}

// news returns the findings that were not there before, wherever they stand now.
func news(before, now []hotreload.Finding) []hotreload.Finding {
	return slices.DeleteFunc(slices.Clone(now), func(f hotreload.Finding) bool {
		return slices.ContainsFunc(before, func(b hotreload.Finding) bool { return b.Key == f.Key && b.Message == f.Message })
	})
}

func (a *App) report(findings []hotreload.Finding) {
	for _, f := range findings {
		a.notify(f.String())
	}
}

func (a *App) notify(text string) {
	a.notifyMu.Lock()
	defer a.notifyMu.Unlock()
	if a.options.Notify != nil {
		a.options.Notify(text)
	}
}

// Config returns the configuration in force.
func (a *App) Config() hotreload.Config {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.config
}

// Lead returns the lead's configured name, or "".
func (a *App) Lead() string { return a.Config().Identity.Name }

// Close ends everything that Open began and waits for it. Idempotent, and safe from many
// goroutines.
func (a *App) Close() error {
	var errs []error
	if a.cancel != nil {
		a.cancel()
	}
	if a.file != nil {
		errs = append(errs, a.file.Close())
	}
	a.life.Close()
	a.mu.Lock()
	a.closed = true
	peers := a.peers
	a.mu.Unlock()
	if a.Inbox != nil {
		a.Inbox.Close()
	}
	errs = append(errs, a.Roster.Close())
	a.transport.CloseIdleConnections()
	if peers != nil {
		errs = append(errs, peers.Close())
	}
	if a.Saver != nil && a.options.Saver == nil {
		errs = append(errs, a.Saver.Close())
	}
	return errors.Join(errs...)
}
