package setup

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/delegate/a2aagent"
	"github.com/langrooms/langrooms/delegate/acpagent"
	"github.com/langrooms/langrooms/delegate/openaiagent"
	"github.com/langrooms/langrooms/hotreload"
)

// entry is a delegate in use and what the file said of it.
type entry struct {
	config   hotreload.Delegate
	delegate delegate.Delegate
}

// members are the configuration in force, and the delegates of the file and the program's own on
// the live roster.
type members struct {
	own        []delegate.Delegate
	live       *delegate.Live
	health     *delegate.HealthView
	continuity delegate.Continuity                                // of those that are made
	ownServer  func(agent string, http bool) []acpagent.MCPServer // of those that are made
	demo       *demoPeers
	entries    []entry

	mu     sync.Mutex // so that config and roster change at once
	config hotreload.Config
}

// newMembers puts the program's own delegates on the roster, so that they are closed with it
// from now on. When it refuses them it closes them.
func newMembers(own []delegate.Delegate, demo *demoPeers) (*members, error) {
	m := &members{own: own, demo: demo, live: delegate.NewLive(nil), health: &delegate.HealthView{}}
	var errs []error
	for _, d := range own {
		if d != nil { // else NewRegistry says so
			errs = append(errs, delegate.CheckName(d.Info().Name))
		}
	}
	registry, err := delegate.NewRegistry(own...)
	if err := errors.Join(append(errs, err)...); err != nil {
		errs = []error{fmt.Errorf("Options.Delegates: %w", err)}
		for _, d := range own {
			if d != nil {
				errs = append(errs, d.Close())
			}
		}
		return m, errors.Join(errs...)
	}
	m.live.Swap(registry)
	return m, nil
}

// acquire returns the configuration and the roster of one moment, and the release of the roster.
func (m *members) acquire() (c hotreload.Config, roster *delegate.Registry, release func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	roster, release = m.live.Acquire()
	return m.config, roster, release
}

func (m *members) inForce() hotreload.Config {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.config
}

// apply puts c in force, and makes the roster that of its entries, so that no turn sees one of
// them alone. Those that did not change keep their
// delegate, with its processes and connections; one that cannot be made is left out, and
// what is to be told of it returned. It is called from one goroutine at a time.
func (m *members) apply(c hotreload.Config) (left []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.config = c
	var entries []entry
	var roster []delegate.Delegate
	for _, d := range c.Delegates {
		e, err := m.keepOrMake(d)
		if err != nil {
			left = append(left, fmt.Sprintf("Delegate %q is left out: %v", d.Name, err))
			continue
		}
		entries, roster = append(entries, e), append(roster, e.delegate)
	}
	registry, err := delegate.NewRegistry(append(roster, m.own...)...)
	if err != nil {
		return left, err
	}
	m.entries = entries
	m.live.Swap(registry)
	m.health.Retain(registry)
	return left, nil
}

var errOwnName = errors.New("the program has a delegate of its own with this name")

func (m *members) keepOrMake(d hotreload.Delegate) (entry, error) {
	if err := delegate.CheckName(d.Name); err != nil {
		return entry{}, err
	}
	if slices.ContainsFunc(m.own, func(own delegate.Delegate) bool { return own.Info().Name == d.Name }) {
		return entry{}, errOwnName
	}
	for _, e := range m.entries {
		if e.config.Equal(d) {
			return entry{d, e.delegate}, nil
		}
	}
	made, err := m.make(d)
	return entry{d, made}, err
}

func (m *members) make(d hotreload.Delegate) (_ delegate.Delegate, err error) {
	if name, ok := demoName(d); ok {
		if d, err = m.demo.entry(d, name); err != nil {
			return nil, err
		}
	}
	newOne, ok := makerOf(d.Type)
	if !ok {
		return nil, fmt.Errorf("this program cannot reach delegates of type %q", d.Type)
	}
	e := Entry{Name: d.Name, Description: d.Description, Instructions: d.Instructions, Accepts: d.Accepts, Continuity: m.continuity}
	if m.ownServer != nil {
		e.ownServer = func(http bool) []acpagent.MCPServer { return m.ownServer(d.Name, http) }
	}
	return newOne(e, d.Settings)
}

// demoName returns the NAME of a demo:NAME address.
func demoName(d hotreload.Delegate) (string, bool) {
	var address string
	switch s := d.Settings.(type) {
	case *a2aagent.Settings:
		address = s.URL
	case *openaiagent.Settings:
		address = s.URL
	case *acpagent.Settings:
		address = s.Command
	}
	return strings.CutPrefix(address, "demo:")
}
