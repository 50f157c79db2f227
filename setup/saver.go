package setup

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/redissaver"
)

// OpenSaver opens the store that a checkpointer url names: memory:, sqlite:PATH (relative
// to the working folder), redis://, rediss://, redis+sentinel:// or redis+cluster://, or one of [RegisterStore].
func OpenSaver(ctx context.Context, url string) (checkpointer.Saver, error) {
	scheme, _, _ := strings.Cut(url, ":")
	open, ok := openerOf(scheme)
	if !ok {
		return nil, fmt.Errorf("checkpointer: no store for a url of the scheme %q", scheme)
	}
	s, err := open(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("checkpointer: %w", err)
	}
	return s, nil
}

// OpenStore opens only the store of a configuration. A store whose entry is in error is
// refused: the default in its place is not where the threads are.
func OpenStore(ctx context.Context, o Options) (checkpointer.Saver, error) {
	config, findings, _, err := ReadConfig(o.Path, o.Required)
	if err != nil {
		return nil, err
	}
	if err := storeUsable(findings); err != nil {
		return nil, err
	}
	return OpenSaver(ctx, config.Checkpointer.URL)
}

// openRedis also asks the server whether it can serve, so that a wrong password or a
// dangerous eviction policy is told at the start and not in the middle of a turn.
func openRedis(ctx context.Context, url string) (checkpointer.Saver, error) {
	s, err := redissaver.Open(url)
	if err != nil {
		return nil, err
	}
	if err := s.Ping(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}
