package setup

import (
	"cmp"
	"context"
	"errors"
	"io/fs"

	"github.com/tmc/langchaingo/llms"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/delegate/acpagent"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/hotreload"
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

	// OwnServer returns the program's own tool server, for an agent whose mcp_servers hold
	// the word langrooms; http says that the agent takes a URL. It is asked at each of the
	// agent's sessions; nil, and an empty answer, mean that there is none.
	OwnServer func(agent string, http bool) []acpagent.MCPServer

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
	self    func() string
	notices *notices
	demo    *demoPeers
	lead    *leadModels
	members *members
	memory  *switched
	file    *follower // nil for the built-in configuration
	threads *threads
	shorts  shortener
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
	a := &App{self: selfOf(o.Path), options: o, notices: &notices{to: o.Notify}, demo: &demoPeers{dir: o.Dir}}
	a.lead = newLeadModels(o.Model, a.demo)
	var err error
	a.members, err = newMembers(o.Delegates, a.demo)
	a.members.ownServer = o.OwnServer
	a.Roster, a.Health = a.members.live, a.members.health
	return a, err
}

func (a *App) open(ctx context.Context) error {
	config, err := a.openConfig(ctx)
	if err == nil {
		err = a.openParts(ctx, config)
	}
	a.file.open(err == nil)
	return err
}

func (a *App) openConfig(ctx context.Context) (c hotreload.Config, err error) {
	a.file, err = follow(ctx, a.options.Path, a.notices, a.changed)
	if errors.Is(err, fs.ErrNotExist) && !a.options.Required {
		a.notices.tell("There is no " + a.options.Path + " here: using the built-in demo configuration.")
		c, _, _, err = ReadConfig(a.options.Path, false)
		return c, err
	}
	if err != nil {
		return c, err
	}
	first := a.file.file.Current()
	if a.options.Saver == nil {
		if err := storeUsable(first.Findings); err != nil {
			return c, err
		}
	}
	a.notices.report(first.Findings)
	return first.Config, nil
}

func (a *App) openParts(ctx context.Context, c hotreload.Config) (err error) {
	a.threads, err = openThreads(ctx, a.options, c.Checkpointer.URL, a.notices)
	if err != nil {
		return err
	}
	a.Saver = a.threads.saver
	a.remember(newSwitched(a.Saver, c.Continuity))
	if err := a.threads.wait(late.Config{Saver: a.Saver, Roster: a.Roster, Handles: a.memory, Health: a.Health,
		Price: func(member string) *langrooms.Price { return pricesOf(a.Config())(member) }}); err != nil {
		return err
	}
	a.Inbox = a.threads.inbox
	return a.take(c)
}

// remember has the conversations of the members kept in s.
func (a *App) remember(s *switched) {
	a.memory = s
	a.Continuity = delegate.NewEchoGuard(s, func(k delegate.ContextKey) {
		a.notices.tell("Delegate @" + k.Delegate + " gives several chats, or one that was rewound, the same conversation; it is not continued any more.")
	})
	a.members.continuity = a.Continuity
}

// take puts c in force, and its roster.
func (a *App) take(c hotreload.Config) error {
	left, err := a.members.apply(c)
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
	var c hotreload.Config
	c, r.Roster, release = a.members.acquire()
	r.MaxRounds, r.Parallel, r.Lead = c.Room.MaxRounds, c.Room.Parallel == hotreload.ParallelFirst, c.Identity.Name
	r.Limits = room.Limits{Messages: c.Room.CatchupMaxMessages, Chars: c.Room.CatchupMaxChars}
	r.Price, r.MaxCostUSD = pricesOf(c), c.Room.MaxCostUSD
	r.Collect, r.Health, r.Permission, r.Self = a.Collect, a.Health, a.options.Permission, a.Self()
	return r, release
}

// leadName is the lead's name by c.
func leadName(c hotreload.Config) string { return cmp.Or(c.Identity.Name, langrooms.Assistant) }

// pricesOf is what the members and the lead cost by c.
func pricesOf(c hotreload.Config) func(string) *langrooms.Price {
	lead := leadName(c)
	return func(member string) *langrooms.Price {
		for _, d := range c.Delegates {
			if d.Name == member {
				return d.Cost.Price()
			}
		}
		if member == lead {
			return c.Model.Cost.Price()
		}
		return nil
	}
}

// Config returns the configuration in force.
func (a *App) Config() hotreload.Config { return a.members.inForce() }

// File returns the configuration file that is followed, or nil where the built-in configuration
// is used. The App closes it.
func (a *App) File() *hotreload.File {
	if a.file == nil {
		return nil
	}
	return a.file.file
}

// Lead returns the lead's configured name, or "".
func (a *App) Lead() string { return a.Config().Identity.Name }

// Close ends everything that Open began and waits for it. Idempotent, and safe from many
// goroutines.
func (a *App) Close() error {
	err := a.file.Close() // first, so that nothing new begins
	a.threads.end()
	return errors.Join(err, a.members.live.Close(), a.lead.Close(), a.demo.Close(), a.threads.Close())
}
