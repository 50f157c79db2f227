package hotreload

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestUnfinishedSaves shows, in virtual time, that bytes which look as if a save were going
// on are judged only when they have rested, and everything else at once.
func TestUnfinishedSaves(t *testing.T) {
	const old = "identity:\n  name: old\nroom:\n  max_rounds: 2\n"
	const half, whole = "identity:\n  name: new\n", "identity:\n  name: new\nroom:\n  max_rounds: 2\n"
	type step struct {
		after time.Duration
		text  string // "-" deletes the file
		want  string // the name in force 100 ms later
	}
	tests := []struct {
		name  string
		steps []step
		fault bool // in the end
	}{
		{"a whole file counts at once", []step{{0, whole, "new"}}, false},
		{"the first half of a new text, whole lines", []step{{0, half, "old"}, {300 * time.Millisecond, whole, "new"}}, false},
		{"a much shorter file", []step{{0, half, "old"}, {400 * time.Millisecond, half, "new"}}, false},
		{"a somewhat shorter file", []step{{0, "identity:\n  name: nw\nroom:\n  max_rounds: 1\n", "nw"}}, false},
		{"truncated, then written", []step{{0, "", "old"}, {200 * time.Millisecond, whole, "new"}}, false},
		{"the beginning of the old text, then the rest", []step{{0, "identity:\n", "old"}, {300 * time.Millisecond, whole, "new"}}, false},
		{"cut within a line", []step{{0, "identity:\n  name: ne", "old"}, {300 * time.Millisecond, "identity:\n  name: newer\nroom:\n  max_rounds: 2\n", "newer"}}, false},
		{"not YAML yet", []step{{0, "identity: {\n", "old"}, {300 * time.Millisecond, "identity: { name: new }\nroom: { max_rounds: 2 }\n", "new"}}, false},
		{"growing slowly", []step{{0, "ident", "old"}, {300 * time.Millisecond, "identity:\n  na", "old"}, {300 * time.Millisecond, "identity:\n  name: n", "old"}, {300 * time.Millisecond, whole, "new"}}, false},
		{"deleted, then created", []step{{0, "-", "old"}, {300 * time.Millisecond, whole, "new"}}, false},
		{"emptied for good", []step{{0, "", "old"}, {600 * time.Millisecond, "", ""}}, false},
		{"shortened for good", []step{{0, "identity:\n", "old"}, {600 * time.Millisecond, "identity:\n", ""}}, false},
		{"broken for good", []step{{0, "identity: {\n", "old"}, {600 * time.Millisecond, "identity: {\n", "old"}}, true},
		{"deleted for good", []step{{0, "-", "old"}, {600 * time.Millisecond, "-", "old"}}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "c.yaml")
			write(t, path, old)
			synctest.Test(t, func(t *testing.T) {
				f, err := Open(context.Background(), Options{Path: path, PollOnly: true, Poll: 10 * time.Millisecond})
				must(t, err)
				defer f.Close()
				for i, s := range tt.steps {
					<-time.After(s.after) // virtual
					if now, _ := os.ReadFile(path); s.text == "-" {
						_ = os.Remove(path) // may be gone already
					} else if string(now) != s.text {
						write(t, path, s.text)
					}
					<-time.After(100 * time.Millisecond) // virtual
					synctest.Wait()
					if got := f.Current().Config.Identity.Name; got != s.want {
						t.Errorf("step %d: the name in force is %s, want %s", i, got, s.want)
					}
				}
				if (f.Fault() != nil) != tt.fault {
					t.Errorf("fault %v, want one: %v", f.Fault(), tt.fault)
				}
			})
		})
	}
}

// TestBusyFileIsStillRead shows that saves which never pause put the reading off for a
// quarter of a second, not for ever.
func TestBusyFileIsStillRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	write(t, path, rounds(1))
	synctest.Test(t, func(t *testing.T) {
		f, err := Open(context.Background(), Options{Path: path, PollOnly: true, Poll: 10 * time.Millisecond})
		must(t, err)
		defer f.Close()
		// Between two looks, which are at whole periods: none catches a file that is half written,
		// however long that takes.
		<-time.After(3 * time.Millisecond) // virtual
		for i := range 50 {
			write(t, path, rounds(2)+strings.Repeat("#", i)+"\n")
			<-time.After(10 * time.Millisecond) // virtual
		}
		synctest.Wait()
		if got := f.Current().Config.Room.MaxRounds; got != 2 {
			t.Errorf("after 500 ms of saves max_rounds is %d", got)
		}
	})
}

// TestUnfinishedEachTimeItIsRead shows that a file which is caught empty again and again,
// between saves that the readings miss, is not taken for one that rests.
func TestUnfinishedEachTimeItIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	write(t, path, rounds(2))
	synctest.Test(t, func(t *testing.T) {
		f, err := Open(context.Background(), Options{Path: path, PollOnly: true, Poll: 10 * time.Millisecond})
		must(t, err)
		defer f.Close()
		for i := range 100 {
			write(t, path, rounds(4))
			write(t, path, "")
			stamp := time.Now().Add(time.Duration(i) * time.Second) // virtual time outruns the disk's
			must(t, os.Chtimes(path, stamp, stamp))
			<-time.After(20 * time.Millisecond) // virtual
			synctest.Wait()
			if f.Current().Config.Room.MaxRounds == Default().Room.MaxRounds {
				t.Fatal("the empty file was taken")
			}
		}
	})
}

// TestPollingInterval shows how long a file system without events takes: the interval and
// the rest after it.
// TestPollingComparesBytes shows, in virtual time, that a write which leaves size, time and
// inode as they were is seen all the same.
func TestPollingComparesBytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	synctest.Test(t, func(t *testing.T) {
		past := time.Now().Add(-time.Hour) // virtual
		old := func(text string) {
			write(t, path, text)
			must(t, os.Chtimes(path, past, past))
		}
		old(rounds(1))
		f, err := Open(context.Background(), Options{Path: path, PollOnly: true})
		must(t, err)
		defer f.Close()
		<-time.After(1250 * time.Millisecond) // the first looks are over, and no tick is due that would see half a write
		old(rounds(2))
		<-time.After(15 * time.Second)
		if got := f.Current().Config.Room.MaxRounds; got != 2 {
			t.Errorf("max_rounds is %d, want 2", got)
		}
	})
}

func TestPollingInterval(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	write(t, path, rounds(1))
	synctest.Test(t, func(t *testing.T) {
		f, err := Open(context.Background(), Options{Path: path, PollOnly: true})
		must(t, err)
		defer f.Close()
		<-time.After(100 * time.Millisecond) // virtual
		changed := make(chan time.Time, 1)
		f.Subscribe(func(Change) { changed <- time.Now() })
		begin := time.Now()
		write(t, path, rounds(2))
		if d := (<-changed).Sub(begin); d > 525*time.Millisecond {
			t.Errorf("the change took %v", d)
		}
	})
}

// TestNoMixedSnapshots rewrites the file 1000 times, by rename, in place and by Set, while
// 200 turns read: each turn sees values of one version only, the same ones to its end, and the last
// version arrives.
func TestNoMixedSnapshots(t *testing.T) {
	version := func(n int) string {
		return fmt.Sprintf("identity: { name: v%d }\nroom: { max_rounds: %d, catchup_max_chars: %d }\ndelegates:\n- { name: d%d, type: acp, command: c }\n# end\n", n, n%10+1, n+1, n)
	}
	whole := func(c Config) bool {
		var n int
		_, err := fmt.Sscanf(c.Identity.Name, "v%d", &n)
		return err == nil && c.Room.MaxRounds == n%10+1 && c.Room.CatchupMaxChars == n+1 && len(c.Delegates) == 1 && c.Delegates[0].Name == fmt.Sprintf("d%d", n)
	}
	path := filepath.Join(t.TempDir(), "c.yaml")
	write(t, path, version(0))
	f, changes := open(t, Options{Path: path, Poll: 20 * time.Millisecond})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := 1; n <= 1000; n++ {
			if n%2 == 0 {
				write(t, path, version(n))
				continue
			}
			write(t, path+".new", version(n))
			if err := os.Rename(path+".new", path); err != nil {
				t.Error(err)
			}
		}
	}()
	turns := make(chan string, 200)
	for range 200 {
		go func() {
			for reads := 0; ; reads++ {
				s := f.Current()
				first := s.Config.Identity.Name
				if !whole(s.Config) {
					turns <- fmt.Sprintf("a mixed snapshot: %+v", s.Config)
					return
				}
				select {
				case <-done:
					turns <- ""
					return
				case <-time.After(time.Millisecond):
				}
				if s.Config.Identity.Name != first {
					turns <- "a snapshot changed under a turn"
					return
				}
			}
		}()
	}
	problems := map[string]int{}
	for range 200 {
		problems[<-turns]++
	}
	if delete(problems, ""); len(problems) > 0 {
		t.Errorf("problems and the number of turns that had them: %v", problems)
	}
	await(t, changes, "the last version", func(c Change) bool { return c.New.Config.Identity.Name == "v1000" })
	if f.Fault() != nil {
		t.Errorf("fault: %v", f.Fault())
	}
}
