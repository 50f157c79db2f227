package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/sharedsession"
)

// tool is one tool.
type tool struct {
	name, description string
	// required and optional are its parameters, in order.
	required, optional []parameter
	hints              *mcp.ToolAnnotations
	call               func(context.Context, arguments, *mcp.CallToolRequest) (any, error)
}

type parameter struct{ name, kind, description string }

func (t tool) schema() any {
	properties, required := map[string]any{}, []string{}
	for _, p := range append(append([]parameter{}, t.required...), t.optional...) {
		property := map[string]any{"type": p.kind, "description": p.description}
		if p.kind == "array" {
			property["items"] = map[string]any{"type": "string"}
		}
		properties[p.name] = property
	}
	for _, p := range t.required {
		required = append(required, p.name)
	}
	schema := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

var (
	no      = false
	reads   = &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &no}
	adds    = &mcp.ToolAnnotations{DestructiveHint: &no}
	settles = &mcp.ToolAnnotations{IdempotentHint: true, OpenWorldHint: &no}

	roomID = parameter{"room_id", "string", "The room's id, room_ and 16 hex digits."}
	since  = parameter{"since", "integer", "A message's seq: only newer messages are returned."}
)

// tools are those of the specification, section 3.
func (c client) tools() []tool {
	return []tool{
		{name: "create_room", description: "Open a room with one or more agents you have access to. Returns the new room.", hints: adds, call: c.create,
			required: []parameter{{"name", "string", "1 to 200 characters."}, {"agents", "array", "The names of 1 to 12 agents."}},
			optional: []parameter{{"topic", "string", "What it is about, at most 2000 characters."},
				{"max_messages", "integer", "The room closes at this many messages, 1 to 500."},
				{"max_cost_usd", "number", "The room closes when its turns have cost this much."},
				{"ttl_hours", "number", "The room closes after this time, 0 to 168; 0 is never."},
				{"scribe", "string", "The agent that writes the room's summary when it closes."}}},
		{name: "list_rooms", description: "List the rooms you participate in, with status, message count, and participant count.", hints: reads, call: c.list},
		{name: "read_room", description: "Read the transcript and participants. Pass `since` (a message sequence number) to fetch only new messages: the cheap way to catch up on a long room.",
			hints: reads, call: c.read, required: []parameter{roomID}, optional: []parameter{since}},
		{name: "post_to_room", description: "Post a message. `@mention` a participant by name to wake it; no mention is a silent note. You always post as yourself.",
			hints: adds, call: c.post, required: []parameter{roomID, {"content", "string", "1 to 8000 characters."}}},
		{name: "close_room", description: "Close the room. Idempotent: closing an already-closed room is a no-op.", hints: settles, call: c.close,
			required: []parameter{roomID}, optional: []parameter{{"reason", "string", "At most 50 characters."}}},
		{name: "leave_room", description: "Leave the room. You can still read what was said before.", hints: settles, call: c.leave, required: []parameter{roomID}},
		{name: "wait_for_mention", description: "Wait until a message mentions you, and return it. Returns no messages at the time-out.", hints: reads, call: c.wait,
			required: []parameter{roomID}, optional: []parameter{since, {"timeout", "number", "Seconds to wait, by default 30, at most 300."}}},
	}
}

// arguments are those of a call.
type arguments map[string]json.RawMessage

// get reads an argument; an absent one leaves into as it is. refusal is what a value of
// another type is answered with.
func (a arguments) get(name string, into any, refusal error) error {
	raw, ok := a[name]
	if !ok || string(raw) == "null" {
		return nil
	}
	if json.Unmarshal(raw, into) != nil {
		return refusal
	}
	return nil
}

// room reads the id of a room; one that is no text is none.
func (a arguments) room() string {
	var id string
	if a.get("room_id", &id, sharedsession.ErrNotFound) != nil {
		return ""
	}
	return id
}

// whole reads a whole number that is not negative, also one written as 5.0.
func (a arguments) whole(name string) (*int64, error) {
	var f *float64
	if err := a.get(name, &f, sharedsession.ErrQuery); err != nil || f == nil {
		return nil, err
	}
	if *f < 0 || *f != math.Trunc(*f) || *f > 1<<52 {
		return nil, sharedsession.ErrQuery
	}
	n := int64(*f)
	return &n, nil
}

func (c client) create(ctx context.Context, a arguments, _ *mcp.CallToolRequest) (any, error) {
	var n sharedsession.NewRoom
	var agents []string
	err := errors.Join(
		a.get("name", &n.Name, sharedsession.ErrName),
		a.get("agents", &agents, sharedsession.ErrNobody),
		a.get("topic", &n.Topic, sharedsession.ErrTopic),
		a.get("max_messages", &n.MaxMessages, sharedsession.ErrBudget),
		a.get("max_cost_usd", &n.MaxCostUSD, sharedsession.ErrBudget),
		a.get("ttl_hours", &n.TTLHours, sharedsession.ErrBudget),
		a.get("scribe", &n.Scribe, sharedsession.ErrScribe))
	if err != nil {
		return nil, err
	}
	for _, name := range agents {
		n.Agents = append(n.Agents, sharedsession.Invitee{Name: name})
	}
	return c.cfg.Rooms.Create(ctx, c.caller, n)
}

func (c client) list(ctx context.Context, _ arguments, _ *mcp.CallToolRequest) (any, error) {
	most := sharedsession.MaxLimit
	return c.cfg.Rooms.List(ctx, c.caller, &most, "")
}

// unusable refuses arguments that cannot be used: first of all whether there is a room for
// the caller at all.
func (c client) unusable(ctx context.Context, id string, partake bool, err error) error {
	if refusal := c.cfg.Rooms.Access(ctx, c.caller, id, partake); refusal != nil {
		return refusal
	}
	return err
}

func (c client) read(ctx context.Context, a arguments, _ *mcp.CallToolRequest) (any, error) {
	from, err := a.whole("since")
	if err != nil {
		return nil, c.unusable(ctx, a.room(), false, err)
	}
	var p sharedsession.Page
	if from != nil {
		p.Since = *from
	}
	return c.cfg.Rooms.Read(ctx, c.caller, a.room(), p)
}

func (c client) post(ctx context.Context, a arguments, _ *mcp.CallToolRequest) (any, error) {
	p := sharedsession.NewPost{Key: langrooms.NewID()}
	if err := a.get("content", &p.Content, sharedsession.ErrEmpty); err != nil {
		return nil, c.unusable(ctx, a.room(), true, err)
	}
	return c.cfg.Rooms.Post(ctx, c.caller, a.room(), p)
}

func (c client) close(ctx context.Context, a arguments, _ *mcp.CallToolRequest) (any, error) {
	var reason string
	if err := a.get("reason", &reason, sharedsession.ErrReason); err != nil {
		return nil, c.unusable(ctx, a.room(), true, err)
	}
	return c.cfg.Rooms.Shut(ctx, c.caller, a.room(), reason)
}

func (c client) leave(ctx context.Context, a arguments, _ *mcp.CallToolRequest) (any, error) {
	return c.cfg.Rooms.RemoveParticipant(ctx, c.caller, a.room(), c.caller.Kind, c.caller.Name)
}

// The bounds of wait_for_mention.
const (
	defaultWait = 30 * time.Second
	maxWait     = 300 * time.Second
	// tellEvery is how often a waiting client that asked for it is told so.
	tellEvery = 5 * time.Second
)

// mentions is the answer of wait_for_mention.
type mentions struct {
	Messages []sharedsession.Message `json:"messages"`
}

func (c client) wait(ctx context.Context, a arguments, req *mcp.CallToolRequest) (any, error) {
	from, err := a.whole("since")
	seconds := defaultWait.Seconds()
	err = errors.Join(err, a.get("timeout", &seconds, sharedsession.ErrQuery))
	if err == nil && !(seconds >= 0) {
		err = sharedsession.ErrQuery
	}
	if err != nil {
		return nil, c.unusable(ctx, a.room(), false, err)
	}
	most := min(time.Duration(min(seconds, maxWait.Seconds())*float64(time.Second)), maxWait)
	told := c.tell(ctx, req, most)
	messages, err := c.cfg.Rooms.WaitForMention(ctx, c.caller, a.room(), from, most)
	told()
	return mentions{messages}, err
}

// tell reports that the call still waits, to a client that asked for it. stop ends it.
func (c client) tell(ctx context.Context, req *mcp.CallToolRequest, most time.Duration) (stop func()) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	began := time.Now()
	say := func(ctx context.Context) {
		// The client may have gone: the call's own context says so.
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token,
			Message: "waiting to be mentioned", Progress: time.Since(began).Seconds(), Total: most.Seconds()})
	}
	say(ctx)
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(tellEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				say(ctx)
			}
		}
	}()
	return func() { cancel(); <-ended }
}
