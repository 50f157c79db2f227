package redissaver_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/redissaver"
)

// child is this test binary, run again to do one task that may be killed.
type child struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Scanner
	ended bool
	err   error
}

func startChild(t testing.TB, task, addr, prefix string) *child {
	t.Helper()
	c := &child{cmd: exec.Command(os.Args[0])}
	c.cmd.Env = append(os.Environ(), "REDISSAVER_CHILD="+task, "REDISSAVER_URL=redis://"+addr+"?prefix="+prefix,
		"GORACE=atexit_sleep_ms=0") // the race detector's own default is a second
	c.cmd.Stderr = os.Stderr
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewScanner(out)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.cmd.Process.Kill()
		c.wait()
	})
	return c
}

func (c *child) signal(t testing.TB, sig syscall.Signal) {
	t.Helper()
	if err := c.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

func (c *child) say(t testing.TB, line string) {
	t.Helper()
	if _, err := fmt.Fprintln(c.in, line); err != nil {
		t.Fatal(err)
	}
}

func (c *child) expect(t testing.TB, want string) {
	t.Helper()
	if !c.out.Scan() || c.out.Text() != want {
		t.Fatalf("the child said %q (%v), want %q", c.out.Text(), c.out.Err(), want)
	}
}

// last reads to the end what a killed child has said and returns the last number.
func (c *child) last(t testing.TB) int {
	t.Helper()
	line := c.out.Text()
	for c.out.Scan() {
		line = c.out.Text()
	}
	c.wait()
	n, err := strconv.Atoi(line)
	if err != nil {
		t.Fatalf("the child's last line is %q", line)
	}
	return n
}

func (c *child) wait() error {
	if !c.ended {
		c.ended, c.err = true, c.cmd.Wait()
	}
	return c.err
}

// runChild does the task and returns the process's status.
func runChild(task string) int {
	s, err := redissaver.Open(os.Getenv("REDISSAVER_URL"))
	if err == nil {
		name, thread, _ := strings.Cut(task, " ")
		err = map[string]func(*redissaver.Saver, string) error{"hold": hold, "write": write}[name](s, thread)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "child:", err)
		return 1
	}
	return 0
}

// hold takes the lease, waits for a line, and then writes with it.
func hold(s *redissaver.Saver, thread string) error {
	lease, err := s.Lock(context.Background(), thread)
	if err != nil {
		return err
	}
	fmt.Println("held")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	fenced := checkpointer.WithFence(context.Background(), thread, tokenIn(lease.Context(), thread))
	_, err = s.Put(fenced, checkpointer.Ref{Thread: thread, ID: "mine"}, checkpointer.Step{ID: "late"})
	if !errors.Is(err, checkpointer.ErrFenced) {
		return fmt.Errorf("put of the late holder: %v", err)
	}
	fmt.Println("fenced")
	<-lease.Context().Done()
	if !errors.Is(context.Cause(lease.Context()), checkpointer.ErrFenced) {
		return context.Cause(lease.Context())
	}
	fmt.Println("lost")
	return lease.Release()
}

func tokenIn(ctx context.Context, thread string) int64 {
	token, _ := checkpointer.Fence(ctx, thread)
	return token
}

// write puts steps of three messages for ever and says the number of each one that was
// acknowledged.
func write(s *redissaver.Saver, thread string) error {
	ctx := context.Background()
	ref := checkpointer.Ref{Thread: thread}
	at, err := s.Get(ctx, ref)
	if err == nil {
		ref = at.Ref
	} else if !errors.Is(err, checkpointer.ErrNotFound) {
		return err
	}
	for n := at.Length / batch; ; n++ {
		var log []checkpointer.Entry
		for range batch {
			log = append(log, checkpointer.Append(langrooms.NewMessage(langrooms.RoleHuman, fmt.Sprint(n)))...)
		}
		ref, err = s.Put(ctx, ref, checkpointer.Step{Log: log, Channels: map[string][]byte{"n": []byte(fmt.Sprint(n))}})
		if err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// queueLength is the size of the stored line of waiters for the thread t.
func queueLength(t testing.TB, c *redis.Client, s *redissaver.Saver) int64 {
	t.Helper()
	n, err := c.StrLen(t.Context(), redissaver.FenceKey(s, "t")).Result()
	if err != nil {
		t.Fatal(err)
	}
	return n
}
