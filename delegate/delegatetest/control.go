package delegatetest

import (
	"encoding/json"
	"io"
	"net"
	"sync"
	"testing"
)

// control is the suite's end of the scripts that are being played.
type control struct {
	listener net.Listener
	// arrived has each message that a peer got.
	arrived chan arrival
	serving sync.WaitGroup
	mu      sync.Mutex
	conns   []net.Conn
}

// arrival is one message at the peer; gone closes when the peer's work on it is over.
type arrival struct {
	Message
	gone <-chan struct{}
}

// maxArrivals is more messages than any rule sends.
const maxArrivals = 100

func listen(t testing.TB) *control {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("delegatetest: %v", err)
	}
	c := &control{listener: listener, arrived: make(chan arrival, maxArrivals)}
	c.serving.Go(c.accept)
	t.Cleanup(c.close)
	return c
}

func (c *control) accept() {
	for {
		conn, err := c.listener.Accept()
		if err != nil {
			return
		}
		c.mu.Lock()
		c.conns = append(c.conns, conn)
		c.mu.Unlock()
		c.serving.Go(func() { c.follow(conn) })
	}
}

// follow reads the message, then waits for the end of the connection.
func (c *control) follow(conn net.Conn) {
	defer conn.Close()
	in := json.NewDecoder(conn)
	gone := make(chan struct{})
	defer close(gone)
	var m Message
	if in.Decode(&m) != nil {
		return // a peer that was killed while it told us
	}
	select {
	case c.arrived <- arrival{m, gone}:
	default:
		return // far more messages than were sent; the rule sees too many
	}
	if _, err := conn.Write([]byte{'.'}); err != nil { // the peer goes on only when it is known
		return
	}
	io.Copy(io.Discard, conn) // ends with the peer's work, whatever the error
}

func (c *control) close() {
	c.listener.Close()
	c.mu.Lock()
	for _, conn := range c.conns {
		conn.Close()
	}
	c.mu.Unlock()
	c.serving.Wait()
}
