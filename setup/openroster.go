package setup

import (
	"context"
	"errors"
)

// OpenRoster opens only the roster of a configuration: no store, no model, no watch. The
// App has no Saver and no Inbox.
func OpenRoster(_ context.Context, o Options) (*App, error) {
	config, findings, _, err := ReadConfig(o.Path, o.Required)
	if err != nil {
		return nil, err
	}
	a, err := newApp(o)
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	a.notices.report(findings)
	a.remember(newSwitched(nil, "memory"))
	if err := a.take(config); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}
