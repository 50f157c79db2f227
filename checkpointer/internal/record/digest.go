package record

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"maps"
	"slices"
	"time"

	"github.com/langrooms/langrooms/checkpointer"
)

// Digest identifies what a Put was asked to store: the parent's id and the whole step but
// for its ID. Two calls with equal digests ask for the same.
func Digest(parent string, step checkpointer.Step, log []Entry) []byte {
	d := digest{sha256.New()}
	d.text(parent)
	d.number(int64(len(log)))
	for _, e := range log {
		d.text(string(e.Op))
		d.text(e.ID)
		d.text(string(e.Data))
	}
	d.number(int64(len(step.Channels)))
	for _, name := range slices.Sorted(maps.Keys(step.Channels)) {
		d.text(name)
		d.text(string(step.Channels[name]))
	}
	d.number(int64(len(step.Remove)))
	for _, name := range slices.Sorted(slices.Values(step.Remove)) {
		d.text(name)
	}
	d.number(int64(len(step.Metadata)))
	for _, key := range slices.Sorted(maps.Keys(step.Metadata)) {
		d.text(key)
		d.text(step.Metadata[key])
	}
	truncate := int64(-1)
	if step.Truncate != nil {
		truncate = *step.Truncate
	}
	d.number(truncate)
	if step.Fork {
		d.text("fork")
	}
	if !step.Time.IsZero() {
		d.text(step.Time.UTC().Format(time.RFC3339Nano))
	}
	return d.Sum(nil)
}

// digest writes every value behind its length, so that no two sequences are alike.
type digest struct{ hash.Hash }

func (d digest) number(n int64) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	d.Write(b[:])
}

func (d digest) text(s string) {
	d.number(int64(len(s)))
	d.Write([]byte(s))
}
