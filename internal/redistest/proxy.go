package redistest

import (
	"bytes"
	"maps"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Count is what has passed a [Proxy].
type Count struct {
	// Sent and Received are bytes, as the client sees them.
	Sent, Received int64
	// Turns is how often a client has sent after it was last answered: round trips.
	Turns int
	// Commands counts commands by their upper-case names.
	Commands map[string]int
}

// Proxy passes connections on to a server, counts, and cuts them when told to.
type Proxy struct {
	// Addr is where it listens.
	Addr string

	target string
	mu     sync.Mutex
	count  Count
	cut    int64 // bytes of answers until a connection is cut; negative: never
	conns  map[net.Conn]struct{}
	work   sync.WaitGroup
}

// StartProxy listens on a free port until the end of t.
func StartProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Addr: l.Addr().String(), target: target, cut: -1, conns: map[net.Conn]struct{}{}}
	p.Reset()
	p.work.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			p.serve(client)
		}
	})
	t.Cleanup(func() {
		l.Close()
		p.closeAll()
		p.work.Wait()
	})
	return p
}

// Reset starts counting anew.
func (p *Proxy) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count = Count{Commands: map[string]int{}}
}

// Count returns what has passed since Reset.
func (p *Proxy) Count() Count {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.count
	c.Commands = maps.Clone(c.Commands)
	return c
}

// CutOnceAfter lets n more bytes of answers pass, cuts the connection that brings the
// next one, and then lets everything pass again.
func (p *Proxy) CutOnceAfter(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = n
}

func (p *Proxy) closeAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
	}
}

func (p *Proxy) serve(client net.Conn) {
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		client.Close()
		return
	}
	p.mu.Lock()
	p.conns[client], p.conns[server] = struct{}{}, struct{}{}
	p.mu.Unlock()
	both := func() { client.Close(); server.Close() }
	answered := true      // guarded by p.mu
	var requests requests // guarded by p.mu
	p.work.Go(func() {
		defer both()
		pump(client, server, func(b []byte) int {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.count.Sent += int64(len(b))
			if answered {
				p.count.Turns++
			}
			answered = false
			// Before they go on, so that a counted answer has a counted command.
			for _, name := range requests.feed(b) {
				p.count.Commands[name]++
			}
			return len(b)
		})
	})
	p.work.Go(func() {
		defer both()
		pump(server, client, func(b []byte) int {
			p.mu.Lock()
			defer p.mu.Unlock()
			answered = true
			n := int64(len(b))
			if p.cut >= n {
				p.cut -= n
			} else if p.cut >= 0 {
				n, p.cut = p.cut, -1
			}
			p.count.Received += n
			return int(n)
		})
	})
}

// pump copies until either side ends, or allow lets less pass than there is.
func pump(from, to net.Conn, allow func([]byte) int) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			k := allow(buf[:n])
			if _, werr := to.Write(buf[:k]); werr != nil || k < n {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// requests reads the stream of one client: arrays of bulk strings. What is no request
// counts as none.
type requests struct {
	line []byte // of a header that is not complete
	args int    // still to come of the present request
	skip int    // bytes still to come of the present argument, its line end included
	name []byte // of the command, while it is the argument that is read
	head bool   // the present argument is the command
}

// feed takes the next bytes and returns the commands whose names are complete in them.
func (r *requests) feed(b []byte) (names []string) {
	for len(b) > 0 {
		if r.skip == 0 {
			b = r.header(b)
			continue
		}
		n := min(r.skip, len(b))
		if r.head {
			r.name = append(r.name, b[:n]...)
		}
		b, r.skip = b[n:], r.skip-n
		if r.skip == 0 {
			r.args--
			if r.head {
				names = append(names, strings.ToUpper(strings.TrimSpace(string(r.name))))
			}
			r.head, r.name = false, nil
		}
	}
	return names
}

// header takes bytes of a header line and returns the rest.
func (r *requests) header(b []byte) []byte {
	i := bytes.IndexByte(b, '\n')
	if i < 0 {
		r.line = append(r.line, b...)
		return nil
	}
	line := strings.TrimSpace(string(append(r.line, b[:i]...)))
	r.line = nil
	n, err := strconv.Atoi(strings.TrimLeft(line, "*$"))
	switch {
	case err != nil || n < 0:
	case strings.HasPrefix(line, "*"):
		r.args, r.head = n, true
	case strings.HasPrefix(line, "$"):
		r.skip = n + len("\r\n")
	}
	return b[i+1:]
}
