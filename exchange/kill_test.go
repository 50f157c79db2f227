package exchange_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/redissaver"
	"github.com/langrooms/langrooms/checkpointer/sqlitesaver"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/exchange"
)

func openStore(ctx context.Context, store string) (checkpointer.Saver, error) {
	if strings.HasPrefix(store, "redis:") {
		return redissaver.Open(store)
	}
	return sqlitesaver.Open(ctx, sqlitesaver.Config{Path: store})
}

// runChild addresses two members on the thread, again and again, and says "done EXCHANGE" for
// each address that is acknowledged: that is, once its result is there. After the first one
// it waits for the end of its input.
func runChild(store, thread, count string) int {
	n, err := strconv.Atoi(count)
	if err == nil {
		err = addressAgain(store, thread, n)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func addressAgain(store, thread string, count int) (err error) {
	ctx := context.Background()
	s, err := openStore(ctx, store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for i := range count {
		words := fmt.Sprintf("%d of %d", i, os.Getpid())
		roster, err := delegate.NewRegistry(says("a", "first "+words), says("b", "second "+words))
		if err != nil {
			return err
		}
		result, err := take(ctx, s, thread, exchange.Room{Roster: roster, MaxRounds: 2}, address("count "+words, "a", "b"))
		if err != nil {
			return err
		}
		fmt.Println("done", result.Exchange)
		if i == 0 {
			io.Copy(io.Discard, os.Stdin)
		}
	}
	return nil
}

// child is a process that runs addressAgain.
type child struct {
	cmd   *exec.Cmd
	stdin io.Closer
	done  []string // acknowledged exchanges
	// acknowledged hears of each as it comes, and is closed at the child's end.
	acknowledged chan string
	stderr       strings.Builder
}

func startChild(t *testing.T, store, thread string, count int, env ...string) *child {
	t.Helper()
	c := &child{cmd: exec.Command(os.Args[0]), acknowledged: make(chan string)}
	c.cmd.Env = append(append(os.Environ(), env...), "EXCHANGE_CHILD_STORE="+store, "EXCHANGE_CHILD_THREAD="+thread,
		"EXCHANGE_CHILD_COUNT="+strconv.Itoa(count),
		"GORACE=atexit_sleep_ms=0") // the race detector's own default is a second
	c.cmd.Stderr = &c.stderr
	out, err := c.cmd.StdoutPipe()
	if err == nil {
		c.stdin, err = c.cmd.StdinPipe()
	}
	if err == nil {
		err = c.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.acknowledged)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if id, ok := strings.CutPrefix(lines.Text(), "done "); ok {
				c.acknowledged <- id
			}
		}
	}()
	return c
}

// wait lets the child go on, collects what it acknowledges to its end, and returns how it
// ended.
func (c *child) wait() error {
	c.stdin.Close()
	for id := range c.acknowledged {
		c.done = append(c.done, id)
	}
	return c.cmd.Wait()
}

// next waits for one acknowledgement.
func (c *child) next(t *testing.T) {
	id, ok := <-c.acknowledged
	if !ok {
		t.Errorf("the child ended by itself: %s", c.stderr.String())
		return
	}
	c.done = append(c.done, id)
}

// killAfter kills the child at a random moment after its nth acknowledgement.
func (c *child) killAfter(t *testing.T, n int) {
	c.stdin.Close()
	for range n {
		c.next(t)
	}
	timer := time.AfterFunc(time.Duration(rand.Int64N(int64(30*time.Millisecond))), func() { c.cmd.Process.Kill() })
	defer timer.Stop()
	if err := c.wait(); err == nil {
		t.Error("the child was not killed")
	}
}

// kills is how many processes TestKilledProcess kills.
const kills = 48

// A process that is killed at any moment of a run loses nothing that it has acknowledged; the
// next turn on the thread says what was interrupted, and no run is there half or twice.
func TestKilledProcess(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "threads.db")
	s, err := openStore(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var work sync.WaitGroup
	next := make(chan int)
	interrupted := make([]int, kills)
	for range 4 {
		work.Go(func() {
			for i := range next {
				thread := fmt.Sprintf("thread %d", i)
				c := startChild(t, store, thread, 1000)
				c.killAfter(t, i%3)
				// The lease of a killed process runs out: that is waited for at the side.
				work.Go(func() { interrupted[i] = checkAfterKill(t, s, thread, c.done) })
			}
		})
	}
	for i := range kills {
		next <- i
	}
	close(next)
	work.Wait()
	open := 0
	for _, n := range interrupted {
		open += min(n, 1)
	}
	t.Logf("%d processes killed, %d of them in the middle of a run", kills, open)
	if open == 0 {
		t.Error("no process was killed in the middle of a run: the test shows nothing")
	}
}

// checkAfterKill takes the next turn on the thread and returns how many members it found
// interrupted.
func checkAfterKill(t *testing.T, s checkpointer.Saver, thread string, acknowledged []string) int {
	before := messages(t, s, thread)
	result, err := take(t.Context(), s, thread, roomOf(t, 1, says("a", "yes")), address("are you there?", "a"))
	if err != nil || !strings.HasPrefix(result.Text, "yes") {
		t.Errorf("%s: the next turn says %q, error %v", thread, result.Text, err)
	}
	all := messages(t, s, thread)
	checkWhole(t, all)
	answers := map[string]int{}
	for _, m := range all {
		if m.Stamp.Round > 0 && !m.Stamp.Failed {
			answers[m.Stamp.Exchange]++
		}
	}
	for _, id := range acknowledged {
		if answers[id] != 2 {
			t.Errorf("%s: the acknowledged exchange %s has %d answers", thread, id, answers[id])
		}
	}
	told := result.Notes.Interrupted
	if extra := all[len(before):]; len(extra) != len(told)+2 {
		t.Errorf("%s: interrupted %v, but the next turn has left\n%s", thread, told, strings.Join(lines(extra), "\n"))
	}
	return len(told)
}

// Two processes that address the same thread at once take turns: the runs do not interleave,
// and all are complete.
func TestTwoProcesses(t *testing.T) {
	stores := map[string]func(t *testing.T) string{
		"sqlite": func(t *testing.T) string { return filepath.Join(t.TempDir(), "threads.db") },
		"redis":  func(t *testing.T) string { return redisURL(t) },
	}
	for name, store := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const each = 15
			url := store(t)
			children := []*child{startChild(t, url, "shared", each), startChild(t, url, "shared", each)}
			for _, c := range children {
				c.next(t) // each has taken a turn before the other goes on
			}
			var acknowledged []string
			var work sync.WaitGroup
			for _, c := range children {
				work.Go(func() {
					if err := c.wait(); err != nil {
						t.Errorf("%v: %s", err, c.stderr.String())
					}
				})
			}
			work.Wait()
			for _, c := range children {
				acknowledged = append(acknowledged, c.done...)
			}
			s, err := openStore(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			all := messages(t, s, "shared")
			checkWhole(t, all)
			if len(acknowledged) != 2*each || len(all) != 2*each*3 {
				t.Errorf("%d runs acknowledged, %d messages on the thread", len(acknowledged), len(all))
			}
			checkTurnsTaken(t, all)
		})
	}
}

// checkTurnsTaken sees to it that the two processes have really worked at once.
func checkTurnsTaken(t *testing.T, all []langrooms.Message) {
	changes, last := 0, ""
	for _, m := range all {
		if _, pid, ok := strings.Cut(m.Text(), " of "); ok && len(m.Stamp.To) > 0 {
			if pid != last {
				changes++
			}
			last = pid
		}
	}
	t.Logf("the thread changed hands %d times", changes-1)
	if changes < 3 {
		t.Error("the processes ran one after the other: the test shows nothing")
	}
}
