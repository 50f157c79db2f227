// Package demo holds the peers of the offline demo: real protocol peers on loopback whose
// small built-in brains do honest work without a model or a key. proto runs go build and
// go vet in the working folder, reviewer reads git, oracle answers from the conversation it
// was shown, and the lead, the graph's own agent, says what each voice said last and can
// delegate. Each says that it is a demo agent.
//
// [Start] serves proto, reviewer, oracle and lead as models of an OpenAI-compatible
// endpoint, and reviewer as an A2A 1.0 agent. It serves this program only: the port is on
// 127.0.0.1 and wants a random key. [ACPCommand] says how to start any of the members as an
// ACP agent, a child process that is this program again; [Main] is its other half.
//
// # Concurrency
//
// [Peers] is safe for concurrent use. Its goroutines and commands end with [Peers.Close],
// which waits for them.
package demo
