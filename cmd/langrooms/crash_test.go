package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/langrooms/langrooms/internal/clitest"
	"github.com/langrooms/langrooms/internal/redistest"
)

// leaseFree is the latest time at which the lease of a dead or stopped process is free
// (design 6).
const leaseFree = 25 * time.Second

// eachStore runs test on SQLite and on Redis. config is the checkpointer's part of the
// configuration.
func eachStore(t *testing.T, test func(t *testing.T, config string)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, "checkpointer: { url: \"sqlite:threads.db\" }\n")
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		server := redistest.Start(t)
		test(t, fmt.Sprintf("checkpointer: { url: \"redis://%s/0\" }\n", server.Addr))
	})
}

// answersOnce is a model that never answers the first question, and then always text.
func answersOnce(t testing.TB, text string) (m *clitest.Model, first <-chan struct{}) {
	asked, once := make(chan struct{}), make(chan struct{}, 1)
	once <- struct{}{}
	m = clitest.NewModel(t, func(q clitest.Question) clitest.Answer {
		select {
		case <-once:
			close(asked)
			<-q.Ctx.Done()
		default:
		}
		return clitest.Say(text)
	})
	return m, asked
}

// spec 2.4, design 6: the program is killed in the middle of a dispatch. The operator's
// words are there, the next turn says what was interrupted, and gets the thread within 25 s.
func TestKilledInADispatch(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, config string) {
		proto, asked := answersOnce(t, "auth broke")
		f := folder(t, says(t, "I am the lead."), config+roster(openaiEntry("proto", proto), openaiEntry("reviewer", says(t, "fine"))))
		p := f.Start("chat", "-m", "@proto @reviewer what broke?")
		<-asked
		p.Signal(syscall.SIGKILL)
		p.Wait()
		expect(t, "the operator's words", []string{"operator: what broke?"}, voices(show(t, f, "main")))
		began := time.Now()
		r := f.Run("chat", "-m", "hello")
		if took := time.Since(began); took > leaseFree {
			t.Errorf("the thread was free after %v", took)
		}
		expect(t, "status", 0, r.Status)
		expectMatch(t, "the next turn", `I am the lead\.\n\n[^\n]*interrupted[^\n]*@proto, @reviewer[^\n]*\n`, r.Out)
		const interrupted = " failed: (interrupted: no answer was stored)"
		expect(t, "the thread", []string{"operator: what broke?", "proto" + interrupted, "reviewer" + interrupted,
			"human: hello", "ai: I am the lead."}, voices(show(t, f, "main")))
		expect(t, "and no more", clitest.Result{Out: "auth broke\n"}, f.Run("chat", "-m", "@proto what broke?"))
	})
}

// design 6: a stopped process loses its lease within 25 s. When it wakes it ends its turn
// with a clear error, and nothing of it lands.
func TestStoppedInADispatch(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, config string) {
		proto, asked, letGo := held(t, "too late")
		f := folder(t, says(t, "I am the lead."), config+roster(openaiEntry("proto", proto)))
		p := f.Start("chat", "-m", "@proto what broke?")
		<-asked
		p.Signal(syscall.SIGSTOP)
		began := time.Now()
		r := f.Run("chat", "-m", "hello")
		if took := time.Since(began); took > leaseFree {
			t.Errorf("the thread was free after %v", took)
		}
		expectContains(t, "the next turn", "I am the lead.", r.Out)
		before := voices(show(t, f, "main"))
		p.Signal(syscall.SIGCONT)
		letGo()
		woken := p.WaitFor(10 * time.Second)
		expect(t, "the woken process: status", 1, woken.Status)
		expectMatch(t, "its error", `error: [^\n]*(lease|writer|hold)[^\n]*\n`, woken.Diag)
		expect(t, "nothing of it lands", before, voices(show(t, f, "main")))
	})
}

// spec 2.4, issue of concurrency: two processes that address one thread take turns; their
// runs do not mix, and another thread does not wait.
func TestTwoProcessesTakeTurns(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, config string) {
		started, release := make(chan string, 16), make(chan struct{})
		model := func(name string) *clitest.Model {
			return clitest.NewModel(t, func(q clitest.Question) clitest.Answer {
				if strings.Contains(q.Last(), "elsewhere") {
					return clitest.Say("at once")
				}
				started <- name
				<-release
				return clitest.Say(name + " here")
			})
		}
		f := folder(t, says(t, "hi"), config+"room: { max_rounds: 1 }\n"+roster(openaiEntry("a", model("a")), openaiEntry("b", model("b"))))
		first := f.Start("chat", "-m", "@a @b one")
		<-started
		second := f.Start("chat", "-m", "@b @a two")
		deleted := f.Start("thread", "show")
		deleted.Wait() // reading does not wait
		expect(t, "another thread does not wait", clitest.Result{Out: "at once\n"}, f.Run("chat", "-t", "other", "-m", "@a elsewhere"))
		close(release)
		expect(t, "the first", clitest.Result{Out: "**@a** — a here\n\n**@b** — b here\n"}, first.Wait())
		expect(t, "the second", clitest.Result{Out: "**@b** — b here\n\n**@a** — a here\n"}, second.Wait())
		expect(t, "the thread", []string{"operator: one", "a: a here", "b: b here", "operator: two", "b: b here", "a: a here"},
			voices(show(t, f, "main")))
	})
}

// design 6: delete during a run waits for it.
func TestDeleteWaits(t *testing.T) {
	t.Parallel()
	proto, asked, letGo := held(t, "auth broke")
	f := folder(t, says(t, "hi"), roster(openaiEntry("proto", proto)))
	run := f.Start("chat", "-m", "@proto what broke?")
	<-asked
	remove := f.Start("thread", "delete", "--yes")
	soonBusy(t, f)
	expect(t, "meanwhile", []string{"operator: what broke?"}, voices(show(t, f, "main")))
	letGo()
	expect(t, "the run is whole", clitest.Result{Out: "auth broke\n"}, run.Wait())
	expect(t, "delete", 0, remove.Wait().Status)
	expect(t, "the thread is gone", 1, f.Run("thread", "show").Status)
}

// design 6: the store goes away in the middle of a dispatch; the reply is shown within
// 30 s, with a word that it could not be stored.
func TestRedisGoesAway(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	proto, asked, letGo := held(t, "auth broke")
	f := folder(t, says(t, "hi"), fmt.Sprintf("checkpointer: { url: \"redis://%s/0\" }\n", server.Addr)+roster(openaiEntry("proto", proto)))
	p := f.Start("chat", "--json", "-m", "@proto what broke?")
	<-asked
	server.Kill()
	began := time.Now()
	letGo()
	r := p.WaitFor(30 * time.Second)
	t.Logf("the reply was shown after %v", time.Since(began))
	last := done(clitest.ParseLines(t, r.Out))[0]
	expectMatch(t, "the text", `auth broke\n\nWhat came from @proto could not be stored on the thread.*`, last.Text("text"))
	expect(t, "notes", any(map[string]any{"unrecorded": []any{"proto"}}), last["notes"])
	r = f.Run("chat", "-m", "hello")
	expect(t, "an unreachable store: status and stdout", []any{1, ""}, []any{r.Status, r.Out})
	expectContains(t, "an unreachable store", server.Addr, r.Diag)
}

// A chat outlives its store: turns fail while the server is away, and work when it is back.
func TestRedisComesBack(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	f := folder(t, says(t, "hi"), fmt.Sprintf("checkpointer: { url: \"redis://%s/0\" }\n", server.Addr))
	p := f.Start("chat", "--json")
	turn := func(n int) clitest.Line {
		p.Say("hello")
		return done(p.Lines(n, "done"))[n-1]
	}
	expect(t, "before", "hi", turn(1).Text("text"))
	server.Kill()
	expectContains(t, "meanwhile", server.Addr, turn(2).Text("error"))
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	expect(t, "afterwards", "hi", turn(3).Text("text"))
	p.CloseInput()
	expect(t, "status", 1, p.Wait().Status)
}

// design 6: a store that cannot serve is status 1 and clear words, and nothing is lost.
func TestStoreFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, url, want string }{
		{"a missing folder", "sqlite:no/such/folder/x.db", "no/such/folder"},
		{"a folder", "sqlite:.", ""},
		{"no server", "redis://127.0.0.1:1/0", "127.0.0.1:1"},
		{"a file that is no database", "sqlite:notes.txt", "notes.txt"},
	} {
		f := folder(t, says(t, "hi"), fmt.Sprintf("checkpointer: { url: %q }\n", c.url))
		f.Write("notes.txt", strings.Repeat("these are no pages of a database\n", 100))
		for _, args := range [][]string{{"chat", "-m", "hello"}, {"thread", "list"}, {"thread", "show"}} {
			r := f.Run(args...)
			expect(t, c.name+": status and stdout", []any{1, ""}, []any{r.Status, r.Out})
			expectMatch(t, c.name, `langrooms: [^\n]+\n`, r.Diag)
			expectContains(t, c.name, c.want, r.Diag)
		}
	}
	f := folder(t, says(t, "hi"), "checkpointer: { url: \"postgres://h/x\" }\n")
	for _, args := range [][]string{{"chat", "-m", "hello"}, {"thread", "list"}, {"thread", "delete", "--yes"}, {"thread", "compact", "--summary", "x"}} {
		r := f.Run(args...)
		expect(t, "a store of an unknown kind: status and stdout", []any{1, ""}, []any{r.Status, r.Out})
		expectContains(t, "a store of an unknown kind", "langgraph-config.yaml:2", r.Diag)
	}
}

// A database that another program has locked.
func TestLockedDatabase(t *testing.T) {
	t.Parallel()
	f := folder(t, says(t, "hi"), "checkpointer: { url: \"sqlite:threads.db\" }\n")
	f.Run("chat", "-m", "hello")
	unlock := lockDatabase(t, filepath.Join(f.Dir, "threads.db"))
	r := f.Run("chat", "-m", "again")
	expect(t, "status and stdout", []any{1, ""}, []any{r.Status, r.Out})
	expectContains(t, "stderr", "locked", r.Diag)
	unlock()
	expect(t, "nothing is lost", []string{"human: hello", "ai: hi"}, voices(show(t, f, "main")))
	expect(t, "afterwards", 0, f.Run("chat", "-m", "again").Status)
}

// A database that the user may only read: reading works, a turn is a clear error.
func TestReadOnlyDatabase(t *testing.T) {
	t.Parallel()
	f := folder(t, says(t, "hi"), "checkpointer: { url: \"sqlite:threads.db\" }\n")
	f.Run("chat", "-m", "hello")
	run := f.Run
	if os.Getuid() == 0 {
		run = f.RunAsNobody // root may write what it likes
	}
	chmod(t, f.Dir, 0o555)
	for _, name := range []string{"threads.db", "langgraph-config.yaml"} {
		chmod(t, filepath.Join(f.Dir, name), 0o444)
	}
	t.Cleanup(func() { chmod(t, f.Dir, 0o755) })
	r := run("chat", "-m", "again")
	expect(t, "status and stdout", []any{1, ""}, []any{r.Status, r.Out})
	expectMatch(t, "stderr", `(langrooms|error): [^\n]*(read-?only|readonly|permission)[^\n]*\n`, r.Diag)
	chmod(t, f.Dir, 0o755)
	chmod(t, filepath.Join(f.Dir, "threads.db"), 0o644)
	expect(t, "nothing is lost", []string{"human: hello", "ai: hi"}, voices(show(t, f, "main")))
}

func chmod(t testing.TB, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// A disk that is full: a clear error, and what was stored before stays.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	f := folder(t, says(t, "hi"), "checkpointer: { url: \"sqlite:disk/threads.db\" }\n")
	disk := filepath.Join(f.Dir, "disk")
	if err := os.Mkdir(disk, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := mountSmall(disk); err != nil {
		t.Skipf("a small file system cannot be mounted here: %v", err)
	}
	t.Cleanup(func() { unmount(disk) })
	expect(t, "a first turn", clitest.Result{Out: "hi\n"}, f.Run("chat", "-m", "hello"))
	p := f.Start("chat")
	p.Say(strings.Repeat("😀", 400_000))
	p.CloseInput()
	r := p.Wait()
	expect(t, "status", 1, r.Status)
	expectMatch(t, "stderr", `.*error: [^\n]*full[^\n]*\n`, r.Diag)
	expect(t, "what was stored", []string{"human: hello", "ai: hi"}, voices(show(t, f, "main"))[:2])
}

// The same for the lead's turn: killed, what the operator said is there and the next turn
// works; stopped, nothing of it lands when it wakes.
func TestKilledOrStoppedLead(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			asked, release := make(chan struct{}), make(chan struct{})
			lead := clitest.NewModel(t, func(q clitest.Question) clitest.Answer {
				if q.Last() != "slowly" {
					return clitest.Say("at once")
				}
				close(asked)
				select {
				case <-release:
				case <-q.Ctx.Done():
				}
				return clitest.Say("too late")
			})
			f := folder(t, lead, "")
			p := f.Start("chat", "-m", "slowly")
			<-asked
			p.Signal(s)
			began := time.Now()
			r := f.Run("chat", "-m", "hello")
			if took := time.Since(began); took > leaseFree {
				t.Errorf("the thread was free after %v", took)
			}
			expect(t, "the next turn", clitest.Result{Out: "at once\n"}, r)
			if s == syscall.SIGSTOP {
				p.Signal(syscall.SIGCONT)
				close(release)
			}
			woken := p.WaitFor(10 * time.Second)
			if s == syscall.SIGSTOP {
				expect(t, "the woken process: status", 1, woken.Status)
				expectMatch(t, "its error", `error: [^\n]*(lease|writer|hold)[^\n]*\n`, woken.Diag)
			}
			expect(t, "the thread", []string{"human: slowly", "human: hello", "ai: at once"}, voices(show(t, f, "main")))
		})
	}
}
