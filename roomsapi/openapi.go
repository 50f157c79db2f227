package roomsapi

import (
	"reflect"

	"github.com/langrooms/langrooms/internal/openapi"
	"github.com/langrooms/langrooms/sharedsession"
)

// The bodies are read field by field, so that each fault has its code; these are their fields.
type (
	newRoom struct {
		Name        string               `json:"name"`
		Topic       string               `json:"topic"`
		Agents      []any                `json:"agents"` // a name, or {"name", "role"}
		Users       []string             `json:"users"`
		Scribe      string               `json:"scribe"`
		MaxMessages int                  `json:"max_messages"`
		MaxCostUSD  *float64             `json:"max_cost_usd"`
		TTLHours    float64              `json:"ttl_hours"`
		Status      sharedsession.Status `json:"status"`
	}
	newPost struct {
		Content  string   `json:"content"`
		Mentions []string `json:"mentions"`
	}
	closing struct {
		Reason string `json:"reason"`
	}
	seat struct {
		sharedsession.Party
		Role sharedsession.Role `json:"role"`
	}
)

// OpenAPI is what the server takes and answers, for the document of the API.
func OpenAPI() openapi.API {
	page := []openapi.Param{{Name: "since", About: "Keeps messages with a greater seq."}, {Name: "before", About: "Keeps messages with a smaller seq."}, {Name: "limit", About: "At most 1000; 100."}}
	return openapi.API{Tag: "shared sessions", Refusal: detail{},
		Names: map[reflect.Type]string{
			reflect.TypeFor[detail](): "RoomRefusal", reflect.TypeFor[sharedsession.Detail](): "RoomDetail", reflect.TypeFor[sharedsession.Message](): "RoomMessage",
			reflect.TypeFor[sharedsession.Listing](): "Rooms", reflect.TypeFor[refused](): "RoomRefused",
		},
		Words: map[reflect.Type][]string{
			reflect.TypeFor[sharedsession.Kind]():        {string(sharedsession.Agent), string(sharedsession.User)},
			reflect.TypeFor[sharedsession.MessageKind](): {string(sharedsession.Said), string(sharedsession.System)},
			reflect.TypeFor[sharedsession.Status]():      {string(sharedsession.Open), string(sharedsession.Closed)},
			reflect.TypeFor[sharedsession.Role]():        {string(sharedsession.Moderator), string(sharedsession.Member), string(sharedsession.Observer), string(sharedsession.Scribe)},
			reflect.TypeFor[sharedsession.State](): {string(sharedsession.Queued), string(sharedsession.Running), string(sharedsession.Done), string(sharedsession.Passed),
				string(sharedsession.Failed), string(sharedsession.Stopped), string(sharedsession.Dropped)},
		},
		Operations: []openapi.Operation{
			{Pattern: "POST /api/rooms", Summary: "Makes a shared session.", Body: newRoom{}, Answer: sharedsession.Detail{}},
			{Pattern: "GET /api/rooms", Summary: "The shared sessions of which the caller is a member, newest activity first.", Answer: sharedsession.Listing{},
				Query: []openapi.Param{{Name: "limit", About: "At most 1000; 100."}, {Name: "cursor", About: "The next of the page before."}}},
			{Pattern: "GET /api/rooms/{id}", Summary: "A shared session with a page of its messages, ascending.", Query: page, Answer: sharedsession.Detail{}},
			{Pattern: "PATCH /api/rooms/{id}", Summary: "Changes name, topic and budgets, or opens it again.", Body: newRoom{}, Answer: sharedsession.Room{}},
			{Pattern: "POST /api/rooms/{id}/messages", Summary: "Posts a message; the agents that it mentions take turns.", Body: newPost{}, Answer: sharedsession.Posted{},
				Query: []openapi.Param{{Name: "wait", About: "true waits for the turns."}}},
			{Pattern: "POST /api/rooms/{id}/close", Summary: "Closes a shared session.", Body: closing{}, Answer: sharedsession.Closing{}},
			{Pattern: "POST /api/rooms/{id}/participants", Summary: "Seats an agent or a person.", Body: seat{}, Answer: sharedsession.Detail{}},
			{Pattern: "DELETE /api/rooms/{id}/participants/{name}", Summary: "Takes one out.", Answer: sharedsession.Detail{}, Query: []openapi.Param{{Name: "kind", About: "agent or user, where both have the name."}}},
			{Pattern: "GET /api/rooms/{id}/export", Summary: "The whole transcript, as Markdown or with format=json as JSON.", Media: "text/markdown", Query: []openapi.Param{{Name: "format", About: "md or json."}}},
			{Pattern: "GET /api/rooms/{id}/events", Summary: "What happens in a shared session, as server-sent events.", Media: "text/event-stream", Query: []openapi.Param{{Name: "since", About: "The seq of the last message that is known."}}},
			{Pattern: "POST /api/rooms/{id}/wakes/{wake}/stop", Summary: "Stops a turn.", Answer: sharedsession.Wake{}},
		}}
}
