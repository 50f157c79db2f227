package setup

import (
	"context"
	"slices"
	"sync"

	"github.com/langrooms/langrooms/hotreload"
)

// follower keeps the app up with its configuration file.
type follower struct {
	file    *hotreload.File
	cancel  func()
	notices *notices
	take    func(hotreload.Change) error

	// mu is held while a configuration is taken over; opened says that the app, which takes
	// the first one, is open.
	mu     sync.Mutex
	opened bool
	faulty bool // the newest file was not taken, and that was told
}

// follow opens the file at path. Its changes are taken from opened on; the first look is not
// before, so that no change falls in between.
func follow(ctx context.Context, path string, n *notices, take func(hotreload.Change) error) (*follower, error) {
	file, err := hotreload.Open(ctx, hotreload.Options{Path: path})
	if err != nil {
		return nil, err
	}
	f := &follower{file: file, notices: n, take: take}
	f.mu.Lock() // until open
	f.cancel = file.Subscribe(f.changed)
	return f, nil
}

// open begins to take changes, unless the app could not be opened. A follower that is nil
// follows nothing.
func (f *follower) open(ok bool) {
	if f != nil {
		f.opened = ok
		f.mu.Unlock()
	}
}

// changed takes a new configuration over: the next turn has it.
func (f *follower) changed(c hotreload.Change) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.opened {
		return
	}
	if c.Fault != nil {
		f.faulty = true
		f.notices.tell("The configuration was not taken: " + c.Fault.Error())
		return
	}
	if f.faulty {
		f.faulty = false
		f.notices.tell("The configuration is in order again.")
	}
	f.notices.report(news(c.Old.Findings, c.New.Findings))
	for _, key := range c.Restart {
		f.notices.tell("A change of " + key + " needs a restart.")
	}
	if err := f.take(c); err != nil {
		f.notices.tell("The new roster was not taken: " + err.Error())
	}
}

// news returns the findings that were not there before, wherever they stand now.
func news(before, now []hotreload.Finding) []hotreload.Finding {
	return slices.DeleteFunc(slices.Clone(now), func(f hotreload.Finding) bool {
		return slices.ContainsFunc(before, func(b hotreload.Finding) bool { return b.Key == f.Key && b.Message == f.Message })
	})
}

// Close ends it and waits for a change that is being taken.
func (f *follower) Close() error {
	if f == nil {
		return nil
	}
	f.cancel()
	return f.file.Close()
}
