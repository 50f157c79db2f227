package httpapi

import (
	"reflect"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/internal/openapi"
)

// The answers that are lists, or a word.
type (
	voices struct {
		Delegates []voice `json:"delegates"`
	}
	delegateTypes struct {
		Types   []delegateType `json:"types"`
		Version string         `json:"version"`
	}
	removed struct {
		Removed string `json:"removed"`
		Version string `json:"version"`
	}
	rewound struct {
		Removed int `json:"removed"`
	}
	uncompacted struct {
		Restored int `json:"restored"`
	}
	imported struct {
		Messages int `json:"messages"`
	}
	compacted struct {
		Replaced int `json:"replaced"`
	}
	stopped struct {
		Runs []string `json:"runs"`
	}
	awaited struct {
		Waiting []Waiting `json:"waiting"`
	}
	withdrawn struct {
		Withdrawn string `json:"withdrawn"`
	}
	questions struct {
		Questions []question `json:"questions"`
	}
	searched struct {
		Found []Found `json:"found"`
		More  bool    `json:"more"`
	}
	titled struct {
		Titles []Title `json:"titles"`
	}
	fileList struct {
		Files []File `json:"files"`
	}
	refusalBody struct {
		Detail detail `json:"detail"`
	}
	detail struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
)

// OpenAPI is what the server takes and answers, for the document of the API.
func OpenAPI() openapi.API {
	return openapi.API{Tag: "langrooms", Refusal: refusalBody{},
		Names: map[reflect.Type]string{
			reflect.TypeFor[voice](): "Delegate", reflect.TypeFor[voices](): "Roster", reflect.TypeFor[entry](): "DelegateEntry", reflect.TypeFor[mentioned](): "Mentions",
			reflect.TypeFor[refusalBody](): "Refusal", reflect.TypeFor[exchange.Costs](): "Costs", reflect.TypeFor[probed](): "Probe", reflect.TypeFor[langrooms.Question](): "GivenAnswer",
		},
		Operations: []openapi.Operation{
			{Pattern: "GET /api/mentions", Summary: "Whom a text addresses, and how the name before the cursor can go on.", Answer: mentioned{},
				Query: []openapi.Param{{Name: "q", About: "The text up to the cursor."}, {Name: "at", About: "start, as in a thread, or anywhere, as in a shared session."}, {Name: "text", About: "All of the text."}}},
			{Pattern: "GET /api/delegates", Summary: "The delegates that the caller reaches.", Answer: voices{}},
			{Pattern: "POST /api/delegates", Summary: "Adds an entry at the end of the roster.", Body: entryQuery{}, Answer: entry{}, Admin: true},
			{Pattern: "GET /api/delegate-types", Summary: "Each type with the schema of its entries.", Answer: delegateTypes{}, Admin: true},
			{Pattern: "GET /api/delegates/{name}", Summary: "An entry as the file has it, without secrets.", Answer: entry{}, Admin: true},
			{Pattern: "PUT /api/delegates/{name}", Summary: "Changes single values of an entry.", Body: entryQuery{}, Answer: entry{}, Admin: true},
			{Pattern: "DELETE /api/delegates/{name}", Summary: "Removes an entry.", Answer: removed{}, Admin: true, Query: []openapi.Param{{Name: "version", About: "That of the file which the caller has seen."}}},
			{Pattern: "POST /api/delegates/{name}/probe", Summary: "Asks a delegate whether it is there.", Answer: probed{}, Admin: true},
			{Pattern: "POST /api/threads/{id}/compact", Summary: "Puts a summary in place of all but the newest messages.", Body: compactQuery{}, Answer: compacted{}},
			{Pattern: "POST /api/threads/{id}/uncompact", Summary: "Puts what summaries replaced back, as far back as the store has kept it.", Answer: uncompacted{}},
			{Pattern: "POST /api/threads/{id}/rewind", Summary: "Drops what follows a message, which stays.", Body: rewindQuery{}, Answer: rewound{}},
			{Pattern: "GET /api/threads/{id}/export", Summary: "The thread, to be saved; without what was said incognito.", Media: "application/octet-stream",
				Query: []openapi.Param{{Name: "format", About: "json, which can be imported again, or md."}}},
			{Pattern: "POST /api/threads/{id}/import", Summary: "Reads a JSON export into a new thread.", Body: map[string]any{}, Answer: imported{}, Admin: true},
			{Pattern: "POST /api/threads/{id}/stop", Summary: "Stops one member that is being asked, or all that are.", Body: stopQuery{}, Answer: stopped{}},
			{Pattern: "GET /api/threads/{id}/late", Summary: "The answers that come after their turns and are waited for.", Answer: awaited{}},
			{Pattern: "DELETE /api/threads/{id}/late/{member}", Summary: "Ends the waiting for a member's answer, which then never lands.", Answer: withdrawn{}},
			{Pattern: "GET /api/threads/{id}/costs", Summary: "What the thread has cost, by member.", Answer: exchange.Costs{}},
			{Pattern: "POST /api/threads/titles", Summary: "What threads are called, and who has spoken there of late; those that are not the caller's are left out.", Body: titlesQuery{}, Answer: titled{}},
			{Pattern: "GET /api/threads/{id}/files", Summary: "What went with the thread's messages, newest first.", Answer: fileList{}},
			{Pattern: "GET /api/threads/{id}/files/{message}/{n}", Summary: "A file of a message, to be saved.", Media: "application/octet-stream"},
			{Pattern: "GET /api/threads/{id}/questions", Summary: "What members ask leave for.", Answer: questions{}, Admin: true},
			{Pattern: "POST /api/threads/{id}/questions/{question}", Summary: "Answers a question; the first answer counts.", Body: answerQuery{}, Answer: langrooms.Question{}, Admin: true},
			{Pattern: "GET /api/search", Summary: "The caller's conversations in which a text was said, newest first.", Answer: searched{},
				Query: []openapi.Param{{Name: "q", About: "The text, of at most 200 characters."}, {Name: "limit", About: "1 to 100 conversations; 20."}}},
			{Pattern: "GET /api/settings", Summary: "Schema, values in force and as written, and the faults of the file.", Answer: settings{}, Admin: true},
			{Pattern: "PUT /api/settings", Summary: "Saves settings in one step.", Body: saveQuery{}, Answer: settings{}, Admin: true},
		}}
}
