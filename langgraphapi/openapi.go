package langgraphapi

import (
	"reflect"

	"github.com/langrooms/langrooms/internal/openapi"
	"github.com/langrooms/langrooms/runs"
)

// refusal is the answer that is not the one hoped for.
type refusal struct {
	Detail string `json:"detail"`
}

// OpenAPI is what the server takes and answers, for the document of the API.
func OpenAPI() openapi.API {
	op := func(pattern, summary string, body, answer any) openapi.Operation {
		return openapi.Operation{Pattern: pattern, Summary: summary, Body: body, Answer: answer}
	}
	streams := func(pattern, summary string, body any) openapi.Operation {
		return openapi.Operation{Pattern: pattern, Summary: summary, Body: body, Media: "text/event-stream"}
	}
	part := func(o openapi.Operation) openapi.Operation {
		o.Partial = true
		return o
	}
	var anything map[string]any
	limit := []openapi.Param{{Name: "limit", About: "How many at most."}}
	listed := func(o openapi.Operation, more ...openapi.Param) openapi.Operation {
		o.Query = append(limit[:1:1], more...)
		return o
	}
	return openapi.API{Tag: "LangGraph", Refusal: refusal{},
		Names: map[reflect.Type]string{
			reflect.TypeFor[refusal](): "ThreadRefusal", reflect.TypeFor[threadObject](): "Thread", reflect.TypeFor[message](): "ThreadMessage",
			reflect.TypeFor[state](): "ThreadState", reflect.TypeFor[values](): "ThreadValues",
		},
		Words: map[reflect.Type][]string{
			reflect.TypeFor[runs.Status](): {string(runs.Pending), string(runs.Running), string(runs.Success), string(runs.Failed), string(runs.Interrupted)},
		},
		More: map[string]openapi.Schema{
			"Content": {"anyOf": []openapi.Schema{{"type": "string"}, {"type": "array", "items": openapi.Schema{"$ref": "#/components/schemas/Block"}}}},
			"Block": {"type": "object", "required": []string{"type"}, "properties": map[string]openapi.Schema{
				"type": {"type": "string"}, "text": {"type": "string"}, "image_url": {}, "mime_type": {"type": "string"}, "data": {"type": "string"}}},
		},
		Operations: []openapi.Operation{
			op("GET /ok", "The process lives.", nil, map[string]bool{}),
			op("GET /info", "Version and abilities.", nil, anything),
			part(op("POST /assistants/search", "The assistants.", assistantQuery{}, []assistant{})),
			op("POST /assistants/count", "How many assistants a query selects.", assistantQuery{}, 0),
			op("GET /assistants/{id}", "An assistant.", nil, assistant{}),
			op("GET /assistants/{id}/schemas", "What an assistant takes and gives.", nil, anything),
			op("GET /assistants/{id}/graph", "An assistant's graph.", nil, anything),
			op("GET /assistants/{id}/subgraphs", "The graphs in an assistant's graph.", nil, anything),
			op("POST /threads", "Makes a thread.", threadCreate{}, threadObject{}),
			part(op("POST /threads/search", "The caller's threads.", threadQuery{}, []threadObject{})),
			op("POST /threads/count", "How many threads a query selects.", threadQuery{}, 0),
			op("GET /threads/{thread}", "A thread.", nil, threadObject{}),
			op("PATCH /threads/{thread}", "Merges metadata into a thread's.", threadCreate{}, threadObject{}),
			op("DELETE /threads/{thread}", "Deletes a thread.", nil, nil),
			op("POST /threads/{thread}/copy", "Copies a thread.", nil, threadObject{}),
			op("GET /threads/{thread}/state", "A thread's newest state.", nil, state{}),
			op("POST /threads/{thread}/state", "Changes a thread's messages, or begins a branch.", updateQuery{}, anything),
			listed(op("GET /threads/{thread}/history", "A thread's states, newest first.", nil, []state{}), openapi.Param{Name: "before", About: "A checkpoint's id."}),
			op("POST /threads/{thread}/history", "A thread's states, newest first.", historyQuery{}, []state{}),
			listed(op("GET /threads/{thread}/runs", "A thread's runs, newest first.", nil, []run{}), openapi.Param{Name: "offset", About: "How many are passed over."}, openapi.Param{Name: "status", About: "Keeps runs of this status."}),
			op("POST /threads/{thread}/runs", "Begins a run.", runQuery{}, run{}),
			op("GET /threads/{thread}/runs/{run}", "A run.", nil, run{}),
			op("DELETE /threads/{thread}/runs/{run}", "Deletes a run that is over.", nil, nil),
			streams("POST /threads/{thread}/runs/stream", "Begins a run and follows it.", runQuery{}),
			op("POST /threads/{thread}/runs/wait", "Begins a run and waits for its end.", runQuery{}, anything),
			op("GET /threads/{thread}/runs/{run}/join", "Waits for a run's end.", nil, anything),
			streams("GET /threads/{thread}/runs/{run}/stream", "Follows a run from the event after Last-Event-ID.", nil),
			op("POST /threads/{thread}/runs/{run}/cancel", "Stops a run.", nil, nil),
			op("GET /threads/{thread}/state/{checkpoint}", "A thread's state at a checkpoint.", nil, state{}),
			op("POST /threads/{thread}/state/checkpoint", "A thread's state at a checkpoint.", anything, state{}),
			op("POST /runs", "Begins a run on a thread of its own.", runQuery{}, run{}),
			streams("POST /runs/stream", "Begins a run on a thread of its own and follows it.", runQuery{}),
			op("POST /runs/wait", "Begins a run on a thread of its own and waits for its end.", runQuery{}, anything),
			op("POST /runs/batch", "Begins several runs on threads of their own.", []runQuery{}, []run{}),
		}}
}
