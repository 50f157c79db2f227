// Package redissaver stores checkpoints in Redis: [checkpointer.Saver] and all the
// optional abilities on plain Redis 6.2 or newer, Valkey, Sentinel and Cluster, without
// modules. docs/redis.md describes sizing, eviction, persistence and operation.
//
// The contract is that of package checkpointer. What this package adds to it:
//
//   - Every operation is one script on the keys of one thread, which share a slot, so
//     it happens whole or not at all and costs one round trip. A Put of a thread that is
//     new, or was last put to more than a minute ago, tells the index of threads, two
//     round trips more.
//   - Threads reads that index. Every thread whose Put has returned is in it. Should
//     the index be lost, a thread is back after its next put that is at least a minute
//     after the one before. Deleted and expired threads are left out, and taken out of
//     the index when a listing meets them.
//   - A repeated Put is recognised by its ID and content, so operations are repeated
//     after a lost connection for up to 0.7 seconds; then the error is
//     checkpointer.ErrUnavailable. Prune is not repeated.
//   - When the caller's context ends, reads and waits end at once. A write that was
//     begun goes on; the caller gets its true outcome if that comes within a second, and
//     otherwise the context's error while the write ends within the client's timeouts.
//   - Leases last 15 seconds and are renewed every 5. A waiter asks again after at most
//     0.2 seconds and keeps its place in the line for 3 seconds after it last asked. The
//     fencing token is max(stored + 1, the server's clock in ms) and is remembered for a
//     day after the lease or the thread has gone.
//   - Watch is told of writes over one more connection, which all watchers share and
//     which is there while somebody watches; it looks every 5 seconds besides. Where the
//     server does not let it subscribe it looks every 0.2 seconds. It needs no keyspace
//     events.
//
// # Concurrency
//
// A [Saver] and [Blobs] are safe for concurrent use. A Saver starts one goroutine for
// each held lease and one for each operation whose context can end; Close waits for all
// of them. (The client's own probe of a server that was away can take a second more to
// end.) go-redis logs through a logger that is global to the program, so this package
// leaves it alone; a program that wants it silent calls redis.SetLogger itself.
package redissaver
