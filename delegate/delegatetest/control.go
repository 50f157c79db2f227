package delegatetest

import (
	"encoding/json"
	"io"
	"math"
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
	// refusals is how many requests are still to be refused, and of how many it was done.
	refusals, done int
}

// note is what a peer tells the suite of: a message that it plays, or a request that it may
// be told to refuse.
type note struct {
	Message
	Refusable bool `json:"refusable,omitempty"`
}

// The suite's verdicts on a note.
const (
	serveIt  = '.'
	refuseIt = 'r'
)

// refuse counts anew, for a peer that follows s.
func (c *control) refuse(s Script) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done, c.refusals = 0, s.Times
	if s.Times == 0 {
		c.refusals = math.MaxInt
	}
}

// refused is how many requests were refused.
func (c *control) refused() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.done
}

func (c *control) judge() byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done >= c.refusals {
		return serveIt
	}
	c.done++
	return refuseIt
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
	var m note
	if in.Decode(&m) != nil {
		return // a peer that was killed while it told us
	}
	if m.Refusable {
		conn.Write([]byte{c.judge()}) // a peer that is gone does not mind
		return
	}
	select {
	case c.arrived <- arrival{m.Message, gone}:
	default:
		return // far more messages than were sent; the rule sees too many
	}
	if _, err := conn.Write([]byte{serveIt}); err != nil { // the peer goes on only when it is known
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
