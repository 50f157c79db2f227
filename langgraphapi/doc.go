// Package langgraphapi serves the API of LangGraph's server, as its unmodified clients use it:
// the SDKs, Agent Chat UI, assistant-ui, CopilotKit. A thread here is a thread there, a turn a
// run, a member's reply an AI message that carries the member's name.
//
// What it answers is LangGraph's; what it does is package runs' and the graph nodes'. Parts of
// the API that a room has no use for (crons, the store, assistants of one's own, interrupts,
// webhooks) are answered by 404 or 422 that say so.
//
// # Concurrency
//
// A [Server] is safe for concurrent use.
package langgraphapi
