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

// digest identifies what a Put was asked to store: the parent's id and the whole step but
// for its ID. Two calls with equal digests ask for the same. What format 1 knew is
// digested as it did, so that a put is known again by a later version.
func (p Put) digest(parent string, step checkpointer.Step) []byte {
	d := digest{sha256.New()}
	d.text(parent)
	d.log(p.Log)
	d.number(int64(len(step.Channels)))
	for _, name := range slices.Sorted(maps.Keys(step.Channels)) {
		d.text(name)
		d.bytes(step.Channels[name])
	}
	d.number(int64(len(step.Remove)))
	for _, name := range slices.Sorted(slices.Values(step.Remove)) {
		d.text(name)
	}
	plain := Plain(p.Metadata)
	d.number(int64(len(plain)))
	for _, key := range slices.Sorted(maps.Keys(plain)) {
		d.text(key)
		d.text(plain[key])
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
	d.format2(p, step)
	return d.Sum(nil)
}

// format2 digests what format 1 did not know.
func (d digest) format2(p Put, step checkpointer.Step) {
	if step.Base != "" {
		d.text("base")
		d.text(step.Base)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Logs)) {
		d.text("log")
		d.text(name)
		d.log(p.Logs[name])
	}
	for _, name := range slices.Sorted(maps.Keys(step.TruncateLogs)) {
		d.text("truncate")
		d.text(name)
		d.number(step.TruncateLogs[name])
	}
}

func (d digest) log(entries []Entry) {
	d.number(int64(len(entries)))
	for _, e := range entries {
		d.text(string(e.Op))
		d.text(e.ID)
		d.bytes(e.Data)
	}
}

// digest writes every value behind its length, so that no two sequences are alike.
type digest struct{ hash.Hash }

func (d digest) number(n int64) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	d.Write(b[:])
}

func (d digest) text(s string) { d.bytes([]byte(s)) }

func (d digest) bytes(b []byte) {
	d.number(int64(len(b)))
	d.Write(b)
}
