package roomnode_test

import (
	"path/filepath"
	"testing"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/checkpointer/redissaver"
	"github.com/langrooms/langrooms/checkpointer/sqlitesaver"
	"github.com/langrooms/langrooms/internal/redistest"
)

// store is a kind of store that every transcript is played on.
type store struct {
	name string
	// real means that it does I/O, so that the transcript's time is the clock's.
	real bool
	open func(t *testing.T) checkpointer.Saver
}

var stores = []store{
	{"memory", false, func(t *testing.T) checkpointer.Saver { return closed(t, memorysaver.New(), nil) }},
	{"sqlite", true, func(t *testing.T) checkpointer.Saver {
		s, err := sqlitesaver.Open(t.Context(), sqlitesaver.Config{Path: filepath.Join(t.TempDir(), "threads.db")})
		return closed(t, s, err)
	}},
	{"redis", true, func(t *testing.T) checkpointer.Saver {
		s, err := redissaver.Open("redis://" + redisAddr(t) + "?prefix=" + t.Name() + ":")
		return closed(t, s, err)
	}},
}

func closed(t *testing.T, s checkpointer.Saver, err error) checkpointer.Saver {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// redisServer is the one server of this package's tests; each test has a key prefix of its
// own.
var redisServer *redistest.Server

func redisAddr(t *testing.T) string {
	redistest.Need(t)
	return redisServer.Addr
}
