package redissaver

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// writePiece is how much is written at once; the bound on silence starts anew behind it.
	writePiece = 64 << 10
	// keepAlive finds a peer that has vanished while nothing is under way.
	keepAlive = 30 * time.Second
)

// dialer makes the connections of the clients that ParseURL describes. Their read and
// write time-outs bound the silence of the peer, not the time of a whole reply, so that a
// large one on a slow link arrives. It can close the connections that are open.
type dialer struct {
	timeout time.Duration
	tls     *tls.Config // nil for none

	mu   sync.Mutex
	open map[*conn]struct{}
}

func (d *dialer) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	plain, err := (&net.Dialer{Timeout: d.timeout, KeepAlive: keepAlive}).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: plain, dialer: d}
	d.mu.Lock()
	d.open[c] = struct{}{}
	d.mu.Unlock()
	if d.tls == nil {
		raw, ok := plain.(syscall.Conn)
		if !ok {
			return c, nil
		}
		return checkedConn{c, raw}, nil
	}
	return d.secure(ctx, c, addr)
}

func (d *dialer) secure(ctx context.Context, c *conn, addr string) (net.Conn, error) {
	config := d.tls
	if config.ServerName == "" {
		config = config.Clone()
		config.ServerName, _, _ = net.SplitHostPort(addr)
	}
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	secured := tls.Client(c, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return secured, nil
}

// drop closes every connection. A request that is under way on one fails as on a broken
// connection.
func (d *dialer) drop() {
	d.mu.Lock()
	all := d.open
	d.open = map[*conn]struct{}{}
	d.mu.Unlock()
	for c := range all {
		c.Conn.Close()
	}
}

// conn is a connection whose deadlines move on while bytes flow. Each direction is used by
// one goroutine at a time, as go-redis does.
type conn struct {
	net.Conn
	dialer      *dialer
	read, write patience
}

// patience is how long one direction may be silent.
type patience struct {
	most time.Duration // 0 without a deadline
	ends time.Time
}

func (p *patience) set(deadline time.Time) {
	p.most, p.ends = 0, deadline
	if !deadline.IsZero() {
		p.most = time.Until(deadline)
	}
}

// later returns a new deadline when the old one has come closer by a quarter.
func (p *patience) later() (time.Time, bool) {
	now := time.Now()
	if p.most <= 0 || p.ends.Sub(now) > p.most-p.most/4 {
		return time.Time{}, false
	}
	p.ends = now.Add(p.most)
	return p.ends, true
}

func (c *conn) SetDeadline(t time.Time) error {
	c.read.set(t)
	c.write.set(t)
	return c.Conn.SetDeadline(t)
}

func (c *conn) SetReadDeadline(t time.Time) error {
	c.read.set(t)
	return c.Conn.SetReadDeadline(t)
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	c.write.set(t)
	return c.Conn.SetWriteDeadline(t)
}

func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if t, ok := c.read.later(); ok && err == nil {
		err = c.Conn.SetReadDeadline(t)
	}
	return n, err
}

func (c *conn) Write(b []byte) (n int, err error) {
	for first := true; first || len(b) > 0; first = false {
		k, err := c.Conn.Write(b[:min(len(b), writePiece)])
		n, b = n+k, b[k:]
		if err != nil {
			return n, err
		}
		if t, ok := c.write.later(); ok {
			if err := c.Conn.SetWriteDeadline(t); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

func (c *conn) Close() error {
	c.dialer.mu.Lock()
	delete(c.dialer.open, c)
	c.dialer.mu.Unlock()
	return c.Conn.Close()
}

// checkedConn lets go-redis see, before it uses an idle connection, that the peer has
// closed it. (With TLS it must not look at the bytes below.)
type checkedConn struct {
	*conn
	raw syscall.Conn
}

func (c checkedConn) SyscallConn() (syscall.RawConn, error) { return c.raw.SyscallConn() }

// withDialer gives options a dialer of their own.
func withDialer(o *redis.UniversalOptions) *dialer {
	d := &dialer{timeout: o.DialTimeout, tls: o.TLSConfig, open: map[*conn]struct{}{}}
	o.Dialer = d.dial
	return d
}
