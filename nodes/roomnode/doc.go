// Package roomnode is the graph node in front of the lead: it intercepts a message whose
// leading @ tokens address delegates, carries it through the room, and lets every other
// message go on to the lead untouched.
//
// The node is one plain method, [Node.Handle]; any graph engine can call it. The module
// in examples/graph puts it into eino's compose.Graph.
//
// # Concurrency
//
// A Node is safe for concurrent use. Turns on one thread wait for each other, turns on
// different threads do not.
package roomnode
