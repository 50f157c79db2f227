// Package mcpserver offers shared sessions as MCP tools (modelcontextprotocol.io): section 3 of
// the shared sessions specification. It is a surface: every rule is package sharedsession's.
//
// A result is the object that REST answers with, as structured content and as text. A refusal
// is a result too, {"error", "message"} with REST's code, so that a model can read it.
//
// # Concurrency
//
// Everything here is safe for concurrent use.
package mcpserver
