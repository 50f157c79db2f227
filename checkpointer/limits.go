package checkpointer

import "time"

// What every store takes; more is [ErrTooLarge], an id that is too long [ErrInvalid]. A
// store may take more, and says so.
const (
	// MaxID is the longest id in bytes.
	MaxID = 1024
	// MaxValue bounds one channel value, write or log entry, in bytes: 64 MiB.
	MaxValue = 64 << 20
	// MaxStep bounds the bytes of one call, ids and metadata included: 96 MiB.
	MaxStep = 96 << 20
	// MaxEntries bounds the log entries of one step, of all its logs.
	MaxEntries = 100_000
	// MaxMetadata bounds a step's metadata in bytes of JSON: 1 MiB.
	MaxMetadata = 1 << 20
)

// OrphanAge is how long pending writes are kept, at least, that wait for their
// checkpoint.
const OrphanAge = 24 * time.Hour
