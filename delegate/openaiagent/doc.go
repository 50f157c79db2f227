// Package openaiagent reaches a delegate that is a model behind an OpenAI-compatible
// chat completions endpoint (OpenAI API reference, "Create chat completion"). Every ask
// is a fresh completion: the endpoint is stateless, so a conversation key is refused.
//
// Requests are made by langchaingo's openai client. The answer, streamed or whole, is
// read here and handed to it in one checked form, because that client stops at events
// longer than 64 KiB, skips events that it cannot read, takes a stream that broke for a
// finished one, and hides the status and the cause of a failure.
//
// # Concurrency
//
// An [Agent] is safe for concurrent use; asks do not wait for each other. Progress is
// called on the goroutine of its own Ask. Close must not be called from there.
package openaiagent
