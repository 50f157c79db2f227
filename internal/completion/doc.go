// Package completion speaks to endpoints that call themselves compatible with OpenAI's chat
// completions, for the members and the lead alike: what of a request an endpoint takes, what
// its refusal names, and its answer, whole or streamed.
package completion
