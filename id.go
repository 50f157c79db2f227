package langrooms

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// lastID is the time of the newest id, in 1/4096 of a millisecond.
var lastID atomic.Uint64

// NewID returns a fresh UUIDv7 (RFC 9562, section 5.7) in its usual text form: 48 bits of
// milliseconds, 12 bits of a fraction of one (section 6.2, method 3), then random bits. IDs
// that one process makes sort as text in the order in which they were made; those of several
// processes sort by time.
func NewID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails: the runtime ends the program instead
	t := idTime()
	binary.BigEndian.PutUint16(b[0:2], uint16(t>>44))
	binary.BigEndian.PutUint32(b[2:6], uint32(t>>12))
	binary.BigEndian.PutUint16(b[6:8], 0x7000|uint16(t&0xfff))
	b[8] = b[8]&0x3f | 0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// idTime returns the present time in 1/4096 of a millisecond, and never the same twice.
func idTime() uint64 {
	now := time.Now()
	t := uint64(now.UnixMilli())<<12 | uint64(now.Nanosecond()%1e6)<<12/1e6
	for {
		last := lastID.Load()
		next := max(t, last+1)
		if lastID.CompareAndSwap(last, next) {
			return next
		}
	}
}

// MaxThreadID is the longest thread id in bytes.
const MaxThreadID = 1024

// ErrThreadID says that a thread id cannot be used; the wrapping error says why.
var ErrThreadID = errors.New("invalid thread id")

// CheckThreadID reports why id cannot name a thread, or nil. A thread id is any
// valid UTF-8 of 1 to [MaxThreadID] bytes, line breaks included. The error matches
// [ErrThreadID].
func CheckThreadID(id string) error {
	switch {
	case id == "":
		return fmt.Errorf("%w: empty", ErrThreadID)
	case len(id) > MaxThreadID:
		return fmt.Errorf("%w: %d bytes long, at most %d are allowed", ErrThreadID, len(id), MaxThreadID)
	case !utf8.ValidString(id):
		return fmt.Errorf("%w: not valid UTF-8: %q", ErrThreadID, id)
	}
	return nil
}

// MaxText is the longest message of an operator, in code points.
const MaxText = 500_000

// ErrText says that a message cannot be taken; the wrapping error says why.
var ErrText = errors.New("invalid message")

// CheckText reports why text cannot be a message of the operator, or nil.
func CheckText(text string) error {
	switch n := utf8.RuneCountInString(text); {
	case !utf8.ValidString(text):
		return fmt.Errorf("%w: it is not valid UTF-8", ErrText)
	case n > MaxText:
		return fmt.Errorf("%w: %d characters long, at most %d are allowed", ErrText, n, MaxText)
	}
	return nil
}
