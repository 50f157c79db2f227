// Package leadnode is the lead's graph node: a tool-calling loop over any langchaingo
// model, with the thread as its memory.
//
// The loop is taken in steps, so that a graph engine can draw it as two nodes: [Node.Start]
// stores the operator's message, [Node.Think] calls the model, [Node.Act] runs the tools it
// asked for, and so on until Think wants no more. [Node.Run] does all of it. Where a person
// approves what the tools will do, [Node.Wait] puts the turn aside after Think, and
// [Node.Resume] takes it up, at another process too.
//
// # Concurrency
//
// A Node is safe for concurrent use. A [Turn] belongs to one goroutine.
package leadnode
