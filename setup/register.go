package setup

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/checkpointer/sqlitesaver"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/delegate/a2aagent"
	"github.com/langrooms/langrooms/delegate/acpagent"
	"github.com/langrooms/langrooms/delegate/openaiagent"
	"github.com/langrooms/langrooms/hotreload"
	"github.com/langrooms/langrooms/room"
	"github.com/langrooms/langrooms/setting"
)

// maker makes the delegate that an entry describes.
type maker func(e Entry, settings any) (delegate.Delegate, error)

// opener opens the store that a url names.
type opener func(ctx context.Context, url string) (checkpointer.Saver, error)

// registry is the protocols by the types of their delegates, and the stores by the schemes of
// their urls. It only grows.
var registry = struct {
	sync.RWMutex
	makers  map[string]maker
	openers map[string]opener
}{
	makers: map[string]maker{},
	openers: map[string]opener{
		"memory": func(context.Context, string) (checkpointer.Saver, error) { return memorysaver.New(), nil },
		"sqlite": func(ctx context.Context, url string) (checkpointer.Saver, error) {
			return sqlitesaver.Open(ctx, sqlitesaver.Config{Path: strings.TrimPrefix(url, "sqlite:")})
		},
		"redis": openRedis, "rediss": openRedis, "redis+sentinel": openRedis, "redis+cluster": openRedis,
	},
}

// The protocols of this module.
func init() {
	RegisterType("a2a", func(e Entry, s a2aagent.Settings) (delegate.Delegate, error) {
		c := s.Config(e.Name, e.Description, e.Continuity)
		c.Preamble, c.Accepts = room.Instructions(e.Instructions), e.Accepts
		return a2aagent.New(c)
	}, (*a2aagent.Settings).Problems, a2aagent.Fields()...)
	RegisterType("openai", func(e Entry, s openaiagent.Settings) (delegate.Delegate, error) {
		c := s.Config(e.Name, e.Description)
		c.Accepts = e.Accepts
		c.SystemPrompt = strings.TrimSpace(c.SystemPrompt + "\n\n" + e.Instructions)
		return openaiagent.New(c)
	}, (*openaiagent.Settings).Problems, openaiagent.Fields()...)
	RegisterType("acp", func(e Entry, s acpagent.Settings) (delegate.Delegate, error) {
		c := s.Config(e.Name, e.Description, e.Continuity)
		c.Preamble, c.Accepts = room.Instructions(e.Instructions), e.Accepts
		if slices.ContainsFunc(s.MCPServers, setting.MCPServer.Own) {
			c.MoreServers = e.ownServer
		}
		if s.Worktree {
			c.Workplace = workplace(c.WorkDir, c.Name)
		}
		return acpagent.New(c)
	}, nil, acpagent.Fields()...)
}

// Entry is what each entry of the roster has, whatever its type.
type Entry struct {
	Name, Description string
	// Instructions are what the delegate is to be told of its part, once at the beginning of
	// each conversation; empty is nothing. Where the protocol has no place for them, put
	// room.Instructions in front of the first prompt.
	Instructions string
	// Accepts are the media types of files that it takes; nil leaves that to the protocol. See
	// delegate.Takes.
	Accepts []string
	// Continuity remembers the conversations at the peer, for as long as the setting
	// `continuity` says.
	Continuity delegate.Continuity

	ownServer func(http bool) []acpagent.MCPServer // see Options.OwnServer; nil means none
}

// RegisterType adds a type of delegates, such as a protocol of the program's own: from now on an
// entry of the configuration file may have it, with these keys, and make makes its delegate. check,
// if any, applies the rules that span keys; what make refuses is left out too, when the roster is
// made. [setting.Register] has the rest.
func RegisterType[T any](name string, make func(e Entry, settings T) (delegate.Delegate, error), check func(settings *T) []setting.Problem, fields ...setting.Of[T]) {
	setting.Register(name, check, fields...)
	registry.Lock()
	defer registry.Unlock()
	registry.makers[name] = func(e Entry, settings any) (delegate.Delegate, error) { return make(e, *settings.(*T)) }
}

// RegisterStore adds a store that checkpointer.url may name, by the scheme of its urls without the
// colon. open is given the whole url; its saver is closed with the App. See
// [hotreload.RegisterStore].
func RegisterStore(scheme string, open func(ctx context.Context, url string) (checkpointer.Saver, error)) {
	hotreload.RegisterStore(scheme + ":")
	registry.Lock()
	defer registry.Unlock()
	registry.openers[scheme] = open
}

func makerOf(typ string) (maker, bool) {
	registry.RLock()
	defer registry.RUnlock()
	m, ok := registry.makers[typ]
	return m, ok
}

func openerOf(scheme string) (opener, bool) {
	registry.RLock()
	defer registry.RUnlock()
	o, ok := registry.openers[scheme]
	return o, ok
}
