package setup

import (
	"context"
	"errors"
	"io/fs"
	"sync"

	"github.com/tmc/langchaingo/llms"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/delegate"
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

	// Permission is asked where a delegate is configured to ask a person; nil refuses.
	Permission func(context.Context, delegate.PermissionRequest) delegate.PermissionAnswer

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

	options Options
	notices *notices
	demo    *demoPeers
	lead    *leadModels
	members *members
	memory  *switched
	file    *follower      // nil for the built-in configuration
	life    *lifetime.Life // of what works beside

	mu     sync.Mutex // so that config and roster change at once
	config hotreload.Config
}

// ErrClosed says that the app has been closed.
var ErrClosed = errors.New("the app has been closed")

// Open reads the configuration and opens what it names. Errors name the file and the part
// that failed; nothing stays open then.
func Open(ctx context.Context, o Options) (*App, error) {
	a, err := newApp(o)
	if err == nil {
		err = a.open(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// newApp returns an app with the parts that need no configuration. It is to be closed also
// when there is an error.
func newApp(o Options) (*App, error) {
	a := &App{options: o, notices: &notices{to: o.Notify}, demo: &demoPeers{dir: o.Dir}, life: lifetime.New(nil)}
	a.lead = newLeadModels(o.Model, a.demo)
	var err error
	a.members, err = newMembers(o.Delegates, a.demo)
	a.Roster, a.Health = a.members.live, a.members.health
	return a, err
}

func (a *App) open(ctx context.Context) error {
	err := a.openConfig(ctx)
	if err == nil {
		err = a.openParts(ctx)
	}
	a.file.open(err == nil)
	return err
}

func (a *App) openConfig(ctx context.Context) (err error) {
	a.file, err = follow(ctx, a.options.Path, a.notices, a.changed)
	if errors.Is(err, fs.ErrNotExist) && !a.options.Required {
		a.notices.tell("There is no " + a.options.Path + " here: using the built-in demo configuration.")
		a.config, _, _, err = ReadConfig(a.options.Path, false)
		return err
	}
	if err != nil {
		return err
	}
	first := a.file.file.Current()
	a.config = first.Config
	if a.options.Saver == nil {
		if err := storeUsable(first.Findings); err != nil {
			return err
		}
	}
	a.notices.report(first.Findings)
	return nil
}

func (a *App) openParts(ctx context.Context) (err error) {
	a.Saver = a.options.Saver
	if a.Saver == nil {
		if a.Saver, err = OpenSaver(ctx, a.config.Checkpointer.URL); err != nil {
			return err
		}
	}
	a.remember(newSwitched(a.Saver, a.config.Continuity))
	a.Inbox, err = late.New(late.Config{
		Saver: a.Saver, Roster: a.Roster, Handles: a.memory, Health: a.Health, OneTurn: a.options.OneTurn,
		Failed: func(err error) { a.notices.tell(err.Error()) },
	})
	if err != nil {
		return err
	}
	return a.take(a.config)
}

// remember has the conversations of the members kept in s.
func (a *App) remember(s *switched) {
	a.memory = s
	a.Continuity = delegate.NewEchoGuard(s, func(k delegate.ContextKey) {
		a.notices.tell("Delegate @" + k.Delegate + " gives several chats, or one that was rewound, the same conversation; it is not continued any more.")
	})
	a.members.continuity = a.Continuity
}

// take puts c in force, and its roster: both at once, so that no turn sees one of them alone.
func (a *App) take(c hotreload.Config) error {
	a.mu.Lock()
	a.config = c
	left, err := a.members.apply(c.Delegates)
	a.mu.Unlock()
	for _, text := range left {
		a.notices.tell(text)
	}
	return err
}

// changed takes over what the file says now.
func (a *App) changed(c hotreload.Change) error {
	a.memory.remember(c.New.Config.Continuity)
	if err := a.take(c.New.Config); err != nil {
		return err
	}
	for _, name := range left(c.Old, c.New) {
		a.memory.remove(name)
	}
	return nil
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
	r = exchange.Room{MaxRounds: a.config.Room.MaxRounds, Lead: a.config.Identity.Name, Collect: a.Collect, Health: a.Health, Permission: a.options.Permission,
		Limits: room.Limits{Messages: a.config.Room.CatchupMaxMessages, Chars: a.config.Room.CatchupMaxChars}}
	r.Roster, release = a.Roster.Acquire()
	return r, release
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
	err := a.file.Close() // first, so that nothing new begins
	a.life.Close()
	if a.Inbox != nil {
		a.Inbox.Close()
	}
	err = errors.Join(err, a.members.live.Close(), a.lead.Close(), a.demo.Close())
	if a.Saver != nil && a.options.Saver == nil {
		err = errors.Join(err, a.Saver.Close())
	}
	return err
}
