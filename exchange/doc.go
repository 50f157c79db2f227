// Package exchange is the one road of an address into a room, whoever takes it: the
// operator's @name, the lead's delegate_to, a shared session. It holds the thread, reads
// each member's window, builds the prompt, dispatches, and records what came of it.
//
// A [Turn] is one writer's hold on a thread. [Turn.Address] runs an address through it. The
// checkpoint of each record also says who is still being asked, so whatever a dead process
// left unanswered is closed by the next [Begin], or by a [Sweep] at a program's start.
//
// # Concurrency
//
// A Turn belongs to one goroutine. Turns on different threads are independent; on the same
// thread they wait for each other, also between processes, where the store has leases.
package exchange
