// Package checkpointer is the storage port: LangGraph's checkpointer contract in Go,
// with one thing more. The delta of a superstep reaches the saver, so a checkpoint is
// a position in an append-only log and not a copy of the messages. A put costs what it
// adds, a window costs what it reads, a fork copies nothing.
//
// A thread holds one or more namespaces (the empty one is the thread's own; subgraphs
// have theirs). A namespace holds checkpoints, each with a parent, forming a tree. A
// checkpoint sees the messages of its log up to its length, the entries of named logs, the
// channel values in force and its pending writes. Where this differs from LangGraph,
// docs/langgraph.md says why.
//
// [Saver] is what every store offers. What only some offer are small interfaces:
// [Locker], [HeadLocker], [Lister], [Forker], [Copier], [Pruner], [Compacter], [Logger],
// [Selector], [Walker], [Expirer], [Watcher], [Snapshotter]. A saver without one simply lacks that ability; each interface says
// what its absence means. Package checkpointer/checkpointertest is the conformance
// suite that every implementation runs.
//
// # Concurrency
//
// Every method is safe for concurrent use, from many processes where the store is
// shared between processes. Values passed in are not kept and values handed out are not
// shared: either side may change its own copy.
package checkpointer
