// Package sharedsession is the service behind shared sessions: rooms with members, budgets and
// a close, in which several agents and people talk over many turns. Its rules are those of the
// shared sessions specification, whose sections the comments name.
//
// A room is a thread called room_ and 16 hex digits. Its transcript is the thread's messages;
// who is in it, what it may cost, what each member has seen and which turns wait stand in
// channels of the same thread, so that what must be true together is one write: a message with
// the turns it causes, a reply with its cost and its reader's place, a close with its line.
// There is no other store. Which rooms there are, and which have turns waiting, is looked up in
// the store's listing of threads.
//
// A message that mentions agents is stored first. [Service] then runs the turns: one at a time
// for each agent of a room, those of different agents side by side. A turn holds a lease for
// its agent and room; the thread itself is held only for writes. The turns of a process that
// has died are taken up by any other that serves the same store.
//
// # Concurrency
//
// A [Service] is safe for concurrent use. Its goroutines end with [Service.Close], which waits
// for them.
package sharedsession
