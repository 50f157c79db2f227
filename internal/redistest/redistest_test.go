package redistest_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/langrooms/langrooms/internal/redistest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The proxy counts what passes, and cuts once.
func TestProxy(t *testing.T) {
	server := redistest.Start(t)
	p := redistest.StartProxy(t, server.Addr)
	if got, err := redistest.Command(p.Addr, "SET", "key", "value"); err != nil || got != "+OK" {
		t.Fatalf("SET: %q, %v", got, err)
	}
	c := p.Count()
	if c.Turns != 1 || c.Commands["SET"] != 1 || c.Sent != int64(len("*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n")) || c.Received != int64(len("+OK\r\n")) {
		t.Errorf("counted %+v", c)
	}
	p.CutOnceAfter(2)
	if got, err := redistest.Command(p.Addr, "GET", "key"); err == nil {
		t.Errorf("a reply that was cut came as %q", got)
	}
	if got, err := redistest.Command(p.Addr, "GET", "key"); err != nil || got != "value" {
		t.Errorf("GET after the cut: %q, %v", got, err)
	}
}

// A killed server comes back at the same address, with what its append-only file holds.
func TestRestart(t *testing.T) {
	server := redistest.Start(t, "--appendonly", "yes", "--appendfsync", "always")
	if _, err := redistest.Command(server.Addr, "SET", "key", "value"); err != nil {
		t.Fatal(err)
	}
	server.Kill()
	if _, err := redistest.Command(server.Addr, "PING"); err == nil {
		t.Error("a killed server answers")
	}
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	if got, err := redistest.Command(server.Addr, "GET", "key"); err != nil || got != "value" {
		t.Errorf("GET after the restart: %q, %v", got, err)
	}
	server.Stop()
	server.Stop()
}
