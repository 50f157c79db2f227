package redissaver

import (
	"context"
	"errors"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// A peer that goes on sending, or taking, is waited for however long it takes; one that is
// silent for the time-out is given up.
func TestTimeoutsBoundSilence(t *testing.T) {
	const bound, gap, pieces = 5 * time.Second, 4 * time.Second, 10
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		defer theirs.Close()
		c := &conn{Conn: ours, dialer: &dialer{open: map[*conn]struct{}{}}}
		defer c.Close()
		go func() {
			for range pieces {
				<-time.After(gap) // virtual
				theirs.Write([]byte("x"))
			}
		}()
		c.SetReadDeadline(time.Now().Add(bound))
		began, b := time.Now(), make([]byte, 1)
		for i := range pieces {
			if _, err := c.Read(b); err != nil {
				t.Fatalf("byte %d after %v: %v", i, time.Since(began), err)
			}
		}
		began = time.Now()
		if _, err := c.Read(b); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != bound {
			t.Errorf("a silent peer: %v after %v", err, time.Since(began))
		}
		go func() {
			for range pieces {
				<-time.After(gap) // virtual
				theirs.Read(make([]byte, writePiece))
			}
		}()
		c.SetWriteDeadline(time.Now().Add(bound))
		if n, err := c.Write(make([]byte, pieces*writePiece)); n != pieces*writePiece || err != nil {
			t.Errorf("%d bytes written, %v", n, err)
		}
		began = time.Now()
		c.SetWriteDeadline(began.Add(bound))
		if _, err := c.Write([]byte("x")); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != bound {
			t.Errorf("a peer that takes nothing: %v after %v", err, time.Since(began))
		}
	})
}

// A dropped connection ends what waits on it, and is not handed out again.
func TestDropClosesAll(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	d := &dialer{timeout: time.Second, open: map[*conn]struct{}{}}
	var all []net.Conn
	for range 3 {
		c, err := d.dial(context.Background(), "tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	all[0].Close()
	if len(d.open) != 2 {
		t.Errorf("%d connections are kept, want 2", len(d.open))
	}
	d.drop()
	for _, c := range all {
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("read after the drop: %v", err)
		}
		if _, err := c.(checkedConn).SyscallConn(); err == nil {
			raw, _ := c.(checkedConn).SyscallConn()
			if raw.Read(func(uintptr) bool { return true }) == nil {
				t.Error("a dropped connection looks healthy")
			}
		}
	}
}
