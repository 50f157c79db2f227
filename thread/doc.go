// Package thread is the hold that one writer has on a thread: the lease, the newest
// checkpoint, and every change that is made under them. It knows messages and channels; what
// a channel means is its owner's.
//
// [Begin] waits for the thread, [Try] does not. A [View] is a position to read a thread from
// and needs no hold: [Read] takes one at any time, [Hold.View] takes the hold's own.
//
// # Concurrency
//
// A [Hold] belongs to one goroutine. Holds on different threads are independent; on the same
// thread they wait for each other, also between processes, where the store has leases. A
// [View] is a value and may be shared.
package thread
