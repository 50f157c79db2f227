// Package redistest starts real Redis servers for tests: one server, a cluster, a
// replicated pair under a Sentinel, and a proxy that counts what passes and cuts
// connections. Everything listens on the loopback interface, on free ports, and ends
// with the test.
//
// Where redis-server is not installed the tests are skipped, unless the environment
// variable CI is set: then they fail.
//
// # Concurrency
//
// Values are for one test, whose goroutines may share them.
package redistest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Installed reports whether there is a redis-server, or must be one because of CI.
func Installed() bool {
	_, err := exec.LookPath("redis-server")
	return err == nil || os.Getenv("CI") != ""
}

// Need skips or fails t when redis-server is missing.
func Need(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err == nil {
		return
	}
	if os.Getenv("CI") != "" {
		t.Fatal("redis-server is not installed, and CI must not go without it")
	}
	t.Skip("redis-server is not installed")
}

// Server is a running redis-server.
type Server struct {
	// Addr is host:port on the loopback interface.
	Addr string

	args []string
	mu   sync.Mutex
	cmd  *exec.Cmd
	done chan struct{}
}

// Start runs a server without persistence, with further arguments as redis-server takes
// them ("--appendonly", "yes"), and ends it with t.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	Need(t)
	s, err := Launch(t.TempDir(), args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Kill() })
	return s
}

// Run runs the tests of a package with one server for all of them in shared, which stays nil
// where redis-server is missing; see [Need].
func Run(m *testing.M, shared **Server) (code int, err error) {
	if !Installed() {
		return m.Run(), nil
	}
	dir, err := os.MkdirTemp("", "redistest")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	if *shared, err = Launch(dir); err != nil {
		return 0, err
	}
	defer (*shared).Kill()
	return m.Run(), nil
}

// Launch is Start for a TestMain: the caller calls Kill. It returns when the server
// answers. Its files lie in dir.
func Launch(dir string, args ...string) (s *Server, err error) {
	for range 3 { // another process may take the port in between
		var port int
		if port, err = freePort(); err != nil {
			return nil, err
		}
		s = &Server{Addr: fmt.Sprintf("127.0.0.1:%d", port)}
		s.args = append([]string{"--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--save", "", "--dir", dir,
			"--loglevel", "warning", "--logfile", dir + "/log"}, args...)
		if err = s.Restart(); err == nil {
			return s, nil
		}
	}
	return nil, err
}

// freePort leaves room above it for a cluster's bus port.
func freePort() (int, error) {
	for range 100 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return 0, err
		}
		port := l.Addr().(*net.TCPAddr).Port
		l.Close()
		if port < 55000 {
			return port, nil
		}
	}
	return 0, errors.New("no free port below 55000")
}

// Restart runs the server, after Kill or Stop, at the same port with the same files.
func (s *Server) Restart() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	cmd, done := exec.Command("redis-server", s.args...), make(chan struct{})
	if err := cmd.Start(); err != nil {
		return err
	}
	s.cmd, s.done = cmd, done
	go func() {
		cmd.Wait() // a killed server has no status that matters
		close(done)
	}()
	err := Eventually(10*time.Second, s.ready)
	select {
	case <-done: // the port was taken, or an argument is wrong
		return fmt.Errorf("redis-server at %s ended at once: %v", s.Addr, cmd.ProcessState)
	default:
	}
	if err != nil {
		cmd.Process.Kill()
		<-done
		return fmt.Errorf("redis-server at %s did not start: %w", s.Addr, err)
	}
	return nil
}

// ready returns nil when the server answers or has ended.
func (s *Server) ready() error {
	select {
	case <-s.done:
		return nil
	default:
	}
	text, err := Command(s.Addr, "PING")
	if err == nil && strings.HasPrefix(text, "-LOADING") {
		err = errors.New(text)
	}
	return err
}

// Kill ends the server at once, with SIGKILL, and waits for its end. Idempotent.
func (s *Server) Kill() { s.end(syscall.SIGKILL) }

// Stop asks the server to end, with SIGTERM, and waits for its end.
func (s *Server) Stop() { s.end(syscall.SIGTERM) }

func (s *Server) end(sig syscall.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cmd.Process.Signal(sig) // an error says that it has ended already
	<-s.done
}

// Pause stops the server in its tracks, with SIGSTOP, until Resume.
func (s *Server) Pause() error { return s.cmd.Process.Signal(syscall.SIGSTOP) }

// Resume undoes Pause.
func (s *Server) Resume() error { return s.cmd.Process.Signal(syscall.SIGCONT) }

// Command sends one command to a server and returns the first line of the answer, and
// the rest of it when that line is a bulk string.
func Command(addr string, args ...string) (string, error) {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(30 * time.Second))
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, a := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(a), a)
	}
	if _, err := conn.Write([]byte(b.String())); err != nil {
		return "", err
	}
	r := bufio.NewReader(conn)
	line, err := r.ReadString('\n')
	if err != nil {
		return "", err
	}
	line = strings.TrimRight(line, "\r\n")
	n, err := strconv.Atoi(strings.TrimPrefix(line, "$"))
	if !strings.HasPrefix(line, "$") || err != nil || n < 0 {
		return line, nil
	}
	body := make([]byte, n)
	for at := 0; at < n; {
		k, err := r.Read(body[at:])
		if err != nil {
			return "", err
		}
		at += k
	}
	return string(body), nil
}

// Eventually asks every few milliseconds until ok returns nil, and returns its last
// error when that takes longer than limit.
func Eventually(limit time.Duration, ok func() error) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ok()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return err
		}
	}
}
