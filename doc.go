// Package langrooms is the vocabulary of the module: what a message of a
// multi-agent chat thread is, who said it, and what one address to several
// agents came to. Everything else builds on these types and on nothing but the
// standard library.
//
// A thread is one conversation. Its messages are an append-only log kept by a
// checkpointer (package checkpointer). A message keeps its text raw; who said it
// stands beside the text in a [Stamp], never inside it. The operator is the
// person at the keyboard, the lead is the graph's own agent, a delegate is an
// agent of the roster, and a member is a delegate that is being addressed or has
// spoken in the thread.
//
// The layers above: package room holds the policy as pure functions, package
// exchange carries one address from the catch-up window to the stored reply,
// packages nodes/roomnode and nodes/leadnode are the graph nodes. The file
// docs/walkthrough.md follows one message through all of them.
//
// The words of the layers between them, each explained in full where it is cited:
//
//   - thread: one conversation as the store keeps it; package thread.
//   - hold: one writer's lease on a thread, under which its messages are written; thread.Hold.
//   - exchange: one address and all answers to it, with an id of their own; package exchange.
//   - superstep: what a graph's node puts on a thread as one checkpoint, such as the lead's
//     tool calls, their results and the records of the tools; exchange.Turn.Reserve.
//   - epoch: one life of a thread's history, which ends when some of it is erased;
//     delegate.Request.Epoch.
//   - anchor: the record that a late answer belongs to; while it stands, the answer may
//     land; thread.Anchor.
//   - window: what a member has missed since it last spoke, within limits; room.ReadWindow.
//
// # Concurrency
//
// All types are plain values. Functions are safe for concurrent use; a value that
// is shared between goroutines must not be changed.
package langrooms
