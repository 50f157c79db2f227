package redissaver_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/checkpointertest"
	"github.com/langrooms/langrooms/checkpointer/redissaver"
	"github.com/langrooms/langrooms/internal/redistest"
)

// shared is one server for all tests that do not hurt it; each has a prefix of its own.
var shared = sync.OnceValues(func() (*redistest.Server, error) {
	dir, err := os.MkdirTemp("", "redissaver")
	if err != nil {
		return nil, err
	}
	sharedDir = dir
	return redistest.Launch(dir)
})

var (
	sharedDir string
	prefixes  atomic.Int64
)

func TestMain(m *testing.M) {
	if child := os.Getenv("REDISSAVER_CHILD"); child != "" {
		os.Exit(runChild(child))
	}
	if !redistest.Installed() {
		flag.Parse()
		flag.Set("test.skip", "^Example") // an example cannot skip itself; tests say why
	}
	code := m.Run()
	closeBench()
	if sharedDir != "" {
		if s, err := shared(); err == nil {
			s.Kill()
		}
		os.RemoveAll(sharedDir)
	}
	// go-redis' own probe of a server that was away ends within a second of Close.
	probe := goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial")
	if err := goleak.Find(probe); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func sharedAddr(t testing.TB) string {
	t.Helper()
	redistest.Need(t)
	s, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return s.Addr
}

func nextPrefix() string { return fmt.Sprintf("p%d:", prefixes.Add(1)) }

// open returns a saver on addr with further URL parameters; it is closed with the test.
func open(t testing.TB, addr string, params ...string) *redissaver.Saver {
	t.Helper()
	s, err := redissaver.Open("redis://" + addr + "?" + strings.Join(params, "&"))
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

// fresh returns an empty saver on the shared server.
func fresh(t testing.TB, params ...string) *redissaver.Saver {
	t.Helper()
	return open(t, sharedAddr(t), append(params, "prefix="+nextPrefix())...)
}

// client returns a plain client of addr.
func client(t testing.TB, addr string) *redis.Client {
	t.Helper()
	options, _, err := redissaver.ParseURL("redis://" + addr)
	if err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(options.Simple())
	t.Cleanup(func() { c.Close() })
	return c
}

func TestConformance(t *testing.T) {
	addr := sharedAddr(t)
	prefix := map[checkpointer.Saver]string{}
	openWith := func(t testing.TB, p string) checkpointer.Saver {
		s := open(t, addr, "prefix="+p)
		prefix[s] = p
		return s
	}
	checkpointertest.Run(t, func(t testing.TB) checkpointer.Saver { return openWith(t, nextPrefix()) }, checkpointertest.Config{
		Abilities: abilities,
		Reopen:    func(t testing.TB, s checkpointer.Saver) checkpointer.Saver { return openWith(t, prefix[s]) },
		Contains:  func(t testing.TB, s checkpointer.Saver, text string) bool { return holds(t, addr, prefix[s], text) },
	})
}

// holds says whether text is anywhere in the hashes under prefix, which hold all contents.
func holds(t testing.TB, addr, prefix, text string) bool {
	t.Helper()
	c := client(t, addr)
	for _, key := range c.Keys(t.Context(), prefix+"*").Val() {
		if c.Type(t.Context(), key).Val() != "hash" {
			continue
		}
		all, err := c.HGetAll(t.Context(), key).Result()
		if err != nil {
			t.Fatal(err)
		}
		for field, value := range all {
			if strings.Contains(field+value, text) {
				return true
			}
		}
	}
	return false
}

// within returns a context that ends a hanging test.
func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
