package hotreload

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func rounds(n int) string { return fmt.Sprintf("room:\n  max_rounds: %d\n# end\n", n) }

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// open watches the file at path and passes its changes on.
func open(t testing.TB, o Options) (*File, <-chan Change) {
	t.Helper()
	f, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	changes := make(chan Change, 1000)
	f.Subscribe(func(c Change) { changes <- c })
	t.Cleanup(func() { must(t, f.Close()) })
	return f, changes
}

// await returns the first change that is wanted.
func await(t testing.TB, changes <-chan Change, what string, want func(Change) bool) Change {
	t.Helper()
	limit := time.After(10 * time.Second)
	for {
		select {
		case c := <-changes:
			if want(c) {
				return c
			}
		case <-limit:
			t.Fatalf("waited 10 s for %s", what)
		}
	}
}

func awaitRounds(t testing.TB, changes <-chan Change, n int) {
	t.Helper()
	await(t, changes, fmt.Sprintf("max_rounds %d", n), func(c Change) bool { return c.New.Config.Room.MaxRounds == n && c.Fault == nil })
}

// TestSavesAreSeen shows every way in which a file is saved, with the file system's events
// and by looking alone.
func TestSavesAreSeen(t *testing.T) {
	type place struct{ dir, path string }
	tests := []struct {
		name string
		prep func(t *testing.T, dir string) string // makes the file, returns its path
		save func(t *testing.T, p place)           // writes rounds(7)
	}{
		{"written in place", nil, func(t *testing.T, p place) { write(t, p.path, rounds(7)) }},
		{"renamed over", nil, func(t *testing.T, p place) {
			write(t, p.path+".tmp", rounds(7))
			must(t, os.Rename(p.path+".tmp", p.path))
		}},
		{"deleted and created", nil, func(t *testing.T, p place) {
			must(t, os.Remove(p.path))
			write(t, p.path, rounds(7))
		}},
		{"an editor's backup and swap file", nil, func(t *testing.T, p place) {
			write(t, filepath.Join(p.dir, ".langgraph-config.yaml.swp"), "x")
			must(t, os.Rename(p.path, p.path+"~"))
			write(t, p.path, rounds(7))
			must(t, os.Remove(p.path+"~"))
		}},
		{"Set", nil, func(t *testing.T, p place) { must(t, Set(p.path, "room.max_rounds", "7")) }},
		{"the folder renamed away and a new one in its place", nil, func(t *testing.T, p place) {
			must(t, os.Rename(p.dir, p.dir+".old"))
			must(t, os.Mkdir(p.dir, 0o755))
			write(t, p.path, rounds(7))
		}},
		{"a mounted volume's ..data link", func(t *testing.T, dir string) string {
			must(t, os.Mkdir(filepath.Join(dir, "..v1"), 0o755))
			write(t, filepath.Join(dir, "..v1", "c.yaml"), rounds(1))
			must(t, os.Symlink("..v1", filepath.Join(dir, "..data")))
			must(t, os.Symlink("..data/c.yaml", filepath.Join(dir, "c.yaml")))
			return filepath.Join(dir, "c.yaml")
		}, func(t *testing.T, p place) {
			must(t, os.Mkdir(filepath.Join(p.dir, "..v2"), 0o755))
			write(t, filepath.Join(p.dir, "..v2", "c.yaml"), rounds(7))
			must(t, os.Symlink("..v2", filepath.Join(p.dir, "..data_tmp")))
			must(t, os.Rename(filepath.Join(p.dir, "..data_tmp"), filepath.Join(p.dir, "..data")))
			must(t, os.RemoveAll(filepath.Join(p.dir, "..v1")))
		}},
		{"a link to a file elsewhere", func(t *testing.T, dir string) string {
			must(t, os.Mkdir(filepath.Join(dir, "real"), 0o755))
			write(t, filepath.Join(dir, "real", "r.yaml"), rounds(1))
			must(t, os.Symlink(filepath.Join(dir, "real", "r.yaml"), filepath.Join(dir, "c.yaml")))
			return filepath.Join(dir, "c.yaml")
		}, func(t *testing.T, p place) { write(t, filepath.Join(p.dir, "real", "r.yaml"), rounds(7)) }},
	}
	for _, pollOnly := range []bool{false, true} {
		for _, tt := range tests {
			t.Run(fmt.Sprintf("%s/pollOnly=%v", tt.name, pollOnly), func(t *testing.T) {
				t.Parallel()
				dir := filepath.Join(t.TempDir(), "etc")
				must(t, os.Mkdir(dir, 0o755))
				p := place{dir, filepath.Join(dir, "langgraph-config.yaml")}
				if tt.prep != nil {
					p.path = tt.prep(t, dir)
				} else {
					write(t, p.path, rounds(1))
				}
				f, changes := open(t, Options{Path: p.path, PollOnly: pollOnly, Poll: 20 * time.Millisecond})
				if f.Current().Config.Room.MaxRounds != 1 || f.Polling() != pollOnly {
					t.Fatalf("opened with %+v, polling %v", f.Current().Config.Room, f.Polling())
				}
				tt.save(t, p)
				awaitRounds(t, changes, 7)
				write(t, p.path, rounds(8)) // the watch has followed
				awaitRounds(t, changes, 8)
				if f.Fault() != nil {
					t.Errorf("fault: %v", f.Fault())
				}
			})
		}
	}
}

// TestChange shows what a subscriber is told: old, new, the keys, those that need a restart.
func TestChange(t *testing.T) {
	const start = "room: { max_rounds: 2 }\ncheckpointer: { url: 'memory:' }\ndelegates: [ { name: a, type: acp, command: c } ]\nmodel: { api_key: hunter2 }\n"
	tests := []struct {
		name, text    string
		keys, restart string
	}{
		{"knobs and roster", "# moved\n" + strings.Replace(strings.Replace(start, "2 }", "4 }", 1), "command: c", "command: d", 1), "room.max_rounds delegates", ""},
		{"what needs a restart", strings.Replace(start, "memory:", "sqlite:x", 1) + "server: { addr: ':1' }\n", "checkpointer.url server.addr", "checkpointer.url server.addr"},
		{"a secret is named, not shown", strings.Replace(start, "hunter2", "hunter3", 1), "model.api_key", ""},
		{"a server key", start + "server: { keys: [ { name: a, key: k } ] }\n", "server.keys", ""},
		{"only lines moved", "\n\n# c\n" + start, "", ""},
		{"a key gone is its default", strings.Replace(start, "room: { max_rounds: 2 }", "", 1), "room.max_rounds", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "c.yaml")
			write(t, path, start)
			f, changes := open(t, Options{Path: path})
			before := f.Current()
			write(t, path, tt.text)
			must(t, f.Reload(t.Context()))
			c := await(t, changes, "the change", func(Change) bool { return true })
			if c.Old != before || c.New != f.Current() || c.Fault != nil || c.New.Digest == before.Digest {
				t.Errorf("got %+v", c)
			}
			if got := strings.Join(c.Keys, " "); got != tt.keys {
				t.Errorf("keys %q, want %q", got, tt.keys)
			}
			if got := strings.Join(c.Restart, " "); got != tt.restart {
				t.Errorf("restart %q, want %q", got, tt.restart)
			}
		})
	}
}

// TestRestartUndone shows that going back to what the program runs with needs no restart.
func TestRestartUndone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	write(t, path, "checkpointer: { url: 'memory:' }\n")
	f, changes := open(t, Options{Path: path})
	for _, step := range []struct{ text, restart string }{
		{"checkpointer: { url: 'sqlite:x' }\n", "checkpointer.url"},
		{"checkpointer: { url: 'sqlite:y' }\n", "checkpointer.url"},
		{"checkpointer: { url: 'memory:' }\n# as it was\n", ""},
	} {
		write(t, path, step.text)
		must(t, f.Reload(t.Context()))
		c := await(t, changes, "the change", func(Change) bool { return true })
		if got := strings.Join(c.Restart, " "); len(c.Keys) != 1 || got != step.restart {
			t.Errorf("%q: keys %v, restart %q, want %q", step.text, c.Keys, got, step.restart)
		}
	}
}

// TestFaultKeepsTheLastGood shows that what cannot be used is said, with its place, and
// changes nothing; and that the fault ends with the next good bytes, also the old ones.
func TestFaultKeepsTheLastGood(t *testing.T) {
	tests := []struct {
		name   string
		damage func(t *testing.T, path string)
		says   string
		is     error
	}{
		{"not YAML", func(t *testing.T, path string) { write(t, path, "room:\n  max_rounds: 7\n bad\n") }, "c.yaml:3: ", ErrUnusable},
		{"too large", func(t *testing.T, path string) { write(t, path, strings.Repeat("# large\n", 200_000)) }, "c.yaml:1: the file has 1048577 bytes, more than", ErrUnusable},
		{"deleted", func(t *testing.T, path string) { must(t, os.Remove(path)) }, "c.yaml: no such file", fs.ErrNotExist},
		{"the folder gone", func(t *testing.T, path string) { must(t, os.RemoveAll(filepath.Dir(path))) }, "c.yaml: no such file", fs.ErrNotExist},
		{"a folder in its place", func(t *testing.T, path string) {
			must(t, os.Remove(path))
			must(t, os.Mkdir(path, 0o755))
		}, "c.yaml: is not a regular file", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "etc", "c.yaml")
			must(t, os.Mkdir(filepath.Dir(path), 0o755))
			write(t, path, rounds(2))
			f, changes := open(t, Options{Path: path, Poll: 50 * time.Millisecond})
			before := f.Current()
			tt.damage(t, path)
			c := await(t, changes, "the fault", func(c Change) bool { return c.Fault != nil })
			if !strings.Contains(c.Fault.Error(), tt.says) || tt.is != nil && !errors.Is(c.Fault, tt.is) {
				t.Errorf("fault %v, want %q", c.Fault, tt.says)
			}
			if f.Fault() == nil || f.Current() != before || c.New != before || c.Keys != nil {
				t.Errorf("fault %v; the current snapshot changed: %v", f.Fault(), f.Current() != before)
			}
			must(t, os.RemoveAll(path))
			must(t, os.MkdirAll(filepath.Dir(path), 0o755))
			write(t, path, rounds(2))
			await(t, changes, "the end of the fault", func(c Change) bool { return c.Fault == nil && c.New == before })
			write(t, path, rounds(3))
			awaitRounds(t, changes, 3)
		})
	}
}

// TestErrorsKeepTheOldValue shows that a value of the wrong type leaves the one in force,
// while the rest of the file is taken.
func TestErrorsKeepTheOldValue(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	write(t, path, "continuity: durable\nmodel: { timeout_s: 5 }\nserver: { addr: ':1' }\n")
	f, _ := open(t, Options{Path: path})
	write(t, path, "continuity: durabel\nmodel: [5]\nserver: { addr: ':2' }\n")
	must(t, f.Reload(t.Context()))
	s := f.Current()
	if s.Config.Continuity != "durable" || s.Config.Model.Timeout != 5*time.Second || s.Config.Server.Addr != ":2" {
		t.Errorf("got %+v", s.Config)
	}
	if len(s.Findings) != 2 || !HasErrors(s.Findings) {
		t.Errorf("findings %v", s.Findings)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.yaml")
	write(t, bad, "room: [\n")
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	tests := []struct {
		name string
		ctx  context.Context
		o    Options
		is   error
		says string
	}{
		{"no path", t.Context(), Options{}, nil, "Options.Path is empty"},
		{"a negative interval", t.Context(), Options{Path: bad, Poll: -1}, nil, "Options.Poll is negative"},
		{"no file", t.Context(), Options{Path: filepath.Join(dir, "none.yaml")}, fs.ErrNotExist, "none.yaml: no such file"},
		{"no folder", t.Context(), Options{Path: filepath.Join(dir, "none", "c.yaml")}, fs.ErrNotExist, "c.yaml: no such file"},
		{"a folder", t.Context(), Options{Path: dir}, nil, "is not a regular file"},
		{"a bad file", t.Context(), Options{Path: bad}, ErrUnusable, "bad.yaml:1"},
		{"an ended context", canceled, Options{Path: bad}, context.Canceled, "canceled"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := Open(tt.ctx, tt.o)
			if f != nil || err == nil || tt.is != nil && !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, %v; want an error that says %q", f, err, tt.says)
			}
		})
	}
}

// TestSlowSubscriber shows that one that does not return delays neither the file nor the
// others, and then learns everything as one change.
func TestSlowSubscriber(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	write(t, path, rounds(1))
	f, fast := open(t, Options{Path: path})
	started, release, slow := make(chan struct{}, 10), make(chan struct{}), make(chan Change, 10)
	cancel := f.Subscribe(func(c Change) {
		started <- struct{}{}
		<-release
		slow <- c
	})
	for n := 2; n <= 6; n++ {
		text := rounds(n)
		if n == 3 {
			text += "identity: { name: boss }\n"
		}
		write(t, path, text)
		must(t, f.Reload(t.Context()))
		awaitRounds(t, fast, n)
		if n == 2 {
			<-started
		}
	}
	close(release)
	first, second := <-slow, <-slow
	if first.New.Config.Room.MaxRounds != 2 || second.Old != first.New || second.New != f.Current() || !slices.Equal(second.Keys, []string{"room.max_rounds"}) {
		t.Errorf("the slow one was told %v then %v", first.Keys, second.Keys)
	}
	cancel()
	cancel()
	write(t, path, rounds(7))
	must(t, f.Reload(t.Context()))
	awaitRounds(t, fast, 7)
	select {
	case c := <-slow:
		t.Errorf("told after cancel: %v", c.Keys)
	default:
	}
}

// TestClose shows that Close is idempotent, waits for a running subscriber, may be called
// from many goroutines, and leaves the snapshot.
func TestClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	write(t, path, rounds(1))
	f, err := Open(t.Context(), Options{Path: path})
	must(t, err)
	var cancelled func()
	cancelled = f.Subscribe(func(Change) { cancelled() })
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() { _ = f.Close() })
		group.Go(func() { f.Subscribe(func(Change) {})() })
	}
	group.Wait()
	must(t, f.Close())
	f.Subscribe(func(Change) { t.Error("called after Close") })()
	write(t, path, rounds(2))
	must(t, f.Reload(t.Context()))
	if f.Current().Config.Room.MaxRounds != 2 {
		t.Error("Reload after Close did not read")
	}
}
