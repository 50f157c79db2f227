package leadnode

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/langchain"
	"github.com/langrooms/langrooms/room"
)

// Tool is something that the lead's model can call: a langchaingo tool with a definition
// that says what its arguments are.
type Tool interface {
	// Definition is what the model is offered; it is asked for at each call, so that it
	// can follow the roster.
	Definition() llms.Tool
	// Call runs the tool with the JSON arguments that the model wrote. An error is a
	// result that the model can read and act on. exchange.FromContext gives the turn and its room: what
	// the tool records there lands behind its result, in the same update.
	//
	// Where the tool has a method Run of the same form, that is called in its place: Call
	// is then for agents that end at a tool's error, and returns it as a result.
	Call(ctx context.Context, arguments string) (string, error)
}

type runner interface {
	Run(ctx context.Context, arguments string) (string, error)
}

// Config wires a [Node].
type Config struct {
	// Saver holds the threads. Required.
	Saver checkpointer.Saver
	// Model returns the lead's model for a turn; wrap it with cast.Wrap so that it is
	// told who is in the room. Required.
	Model func() (llms.Model, error)
	// Room is what a turn fixes at its start for its tools: roster, limits, the lead's name,
	// who collects late answers; release is called at its end. Nil is a room of nobody.
	Room func() (r exchange.Room, release func())
	// System is the system prompt; empty sends none.
	System string
	// Tools are offered to the model.
	Tools []Tool
	// MaxSteps bounds the model calls of one turn; 0 means 16.
	MaxSteps int
	// MaxTokens bounds what the model is sent of the thread and the system prompt together, in
	// estimated tokens (see room.History); it is asked at each call. Nil, and 0, send all of the
	// thread from its newest summary on.
	MaxTokens func() int
	// Long is told at the end of a turn, when its thread has been given back, that the thread is
	// near MaxTokens: it may have it summarized, beside the turns. It does not wait. Nil does nothing.
	Long func(thread string)
	// Options are given to each model call.
	Options []llms.CallOption
}

// Node is the lead. Make one with [New].
type Node struct{ cfg Config }

// New returns a node. It does no I/O.
func New(cfg Config) (*Node, error) {
	switch {
	case cfg.Saver == nil:
		return nil, errors.New("leadnode: Config.Saver is nil")
	case cfg.Model == nil:
		return nil, errors.New("leadnode: Config.Model is nil")
	case cfg.MaxSteps < 0:
		return nil, fmt.Errorf("leadnode: Config.MaxSteps is %d", cfg.MaxSteps)
	}
	if cfg.Room == nil {
		cfg.Room = func() (exchange.Room, func()) { return exchange.Room{}, func() {} }
	}
	if cfg.MaxSteps == 0 {
		cfg.MaxSteps = 16
	}
	return &Node{cfg}, nil
}

// ErrModel says that the lead's model did not answer. What the operator said stays on the
// thread.
var ErrModel = errors.New("the lead's model failed")

// ErrSteps says that the model kept calling tools until the bound.
var ErrSteps = errors.New("the lead's model did not stop calling tools")

// Input is one turn of the lead.
type Input struct {
	Thread string
	// Text is what the operator said. Empty means that the lead is woken by what landed
	// on the thread.
	Text string
	// Notice is put on the thread as system text instead of Text, and wakes the lead.
	Notice string
	// Said is what the operator said as its sender's program knows it: the message takes its
	// id, where set, its parts beside the text, and its Extra.
	Said langrooms.Message
	// Events receives what happens while the turn runs; nil drops it.
	Events langrooms.Sink
	// Stored is told of the messages of the turn once they stand on the thread, with the
	// checkpoint that they came with; nil tells nobody.
	Stored func(checkpoint string, messages []langrooms.Message)
}

// Turn is one turn of the lead on its way. Close must be called.
type Turn struct {
	turn     *exchange.Turn
	room     exchange.Room // with the turn's Events
	release  func()
	model    llms.Model
	messages []langrooms.Message
	asked    langrooms.Message
	plain    bool // the endpoint took the history in its plain form only
	steps    int
	text     string
}

// ErrNotBegun says that a turn was neither started nor resumed by this process, such as one that
// a graph engine has made of what it stored: [Node.Wait] stores a turn, [Node.Resume] gets it back.
var ErrNotBegun = errors.New("leadnode: the turn was not begun in this process")

func (t *Turn) begun() error {
	if t == nil || t.turn == nil {
		return ErrNotBegun
	}
	return nil
}

// Start fixes what the turn will use, waits for the thread, stores what the operator said,
// and reads the thread. A model that cannot be had is ErrModel; what the operator said is
// then stored all the same.
func (n *Node) Start(ctx context.Context, in Input) (*Turn, error) {
	return n.begin(ctx, in, (*Turn).open)
}

// begin fixes what the turn will use, takes the thread and opens the turn on it.
func (n *Node) begin(ctx context.Context, in Input, open func(*Turn, Input) error) (*Turn, error) {
	t := &Turn{}
	t.room, t.release = n.cfg.Room()
	t.room.Events = in.Events
	var noModel error
	t.model, noModel = n.cfg.Model()
	hold, err := exchange.Begin(ctx, n.cfg.Saver, in.Thread)
	if err != nil {
		t.release()
		return nil, err
	}
	t.turn = hold
	hold.Observe(in.Stored)
	err = open(t, in)
	if err == nil && noModel != nil {
		err = fmt.Errorf("%w: %w", ErrModel, noModel)
	}
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

func (t *Turn) open(in Input) error {
	if err := langrooms.CheckText(in.Text); err != nil {
		return err
	}
	said := langrooms.NewMessage(langrooms.RoleHuman, in.Text).As(in.Said)
	if in.Notice != "" {
		said = langrooms.NewMessage(langrooms.RoleSystem, in.Notice)
	}
	t.turn.Tell()
	t.unwait() // who says something else does not wait for it any more
	if err := t.turn.Put("input", said); err != nil {
		return err
	}
	return t.read()
}

// read takes the thread's messages for the model.
func (t *Turn) read() error {
	messages, err := t.turn.History()
	t.messages = messages
	return err
}

// Close gives the thread back, and the roster. Idempotent.
func (t *Turn) Close() error {
	if err := t.begun(); err != nil {
		return err
	}
	t.release()
	return t.turn.End()
}

// Think calls the model once. It reports whether the model wants tools run: then Act is
// next. Otherwise the model's answer is stored and the turn is over.
func (n *Node) Think(ctx context.Context, t *Turn) (tools bool, err error) {
	if err := t.begun(); err != nil {
		return false, err
	}
	if t.steps++; t.steps > n.cfg.MaxSteps {
		return false, fmt.Errorf("%w after %d calls", ErrSteps, n.cfg.MaxSteps)
	}
	answer, ok, err := n.generate(ctx, t)
	if err != nil || !ok {
		return false, err
	}
	if text := answer.Text(); text != "" {
		t.text = text
	}
	if t.asked = answer; len(calls(answer)) > 0 {
		if text := answer.Text(); text != "" {
			t.room.Events.Emit(langrooms.Event{Type: langrooms.EventLeadText, Thread: t.turn.Thread(), Member: t.lead(), Text: text, MessageID: answer.ID})
		}
		return true, nil
	}
	return false, t.turn.Put("loop", answer)
}

// Act runs the tools that the model asked for, in order, and stores the call, the results
// and what the tools recorded as one update.
func (n *Node) Act(ctx context.Context, t *Turn) error {
	return n.act(ctx, t, func(ctx context.Context, call *langrooms.ToolCall) (string, error) {
		return n.call(ctx, t, call)
	})
}

func (n *Node) act(ctx context.Context, t *Turn, do func(context.Context, *langrooms.ToolCall) (string, error)) error {
	if err := t.begun(); err != nil {
		return err
	}
	asked := calls(t.asked)
	t.unwait()
	t.turn.Reserve(1+len(asked), t.asked)
	front := []langrooms.Message{t.asked}
	ctx = exchange.NewContext(ctx, t.turn, t.room)
	for _, call := range asked {
		content, err := do(ctx, call)
		if ctx.Err() != nil {
			err = langrooms.StopOf(ctx) // for the model, should it read on
		}
		front = append(front, toolMessage(call, content, err))
	}
	added := append(front, t.turn.Staged()...)
	if err := t.turn.Flush("loop", front...); err != nil {
		return err
	}
	t.messages = append(t.messages, added...)
	return nil
}

func (n *Node) call(ctx context.Context, t *Turn, call *langrooms.ToolCall) (string, error) {
	t.room.Events.Emit(langrooms.Event{Type: langrooms.EventToolCall, Thread: t.turn.Thread(), Text: call.Name})
	for _, tool := range n.cfg.Tools {
		if def := tool.Definition(); def.Function != nil && def.Function.Name == call.Name {
			arguments, err := langchain.Arguments(call.Arguments)
			if err != nil {
				return "", fmt.Errorf("%s was not run: %w", call.Name, err)
			}
			if r, ok := tool.(runner); ok {
				return r.Run(ctx, arguments)
			}
			return tool.Call(ctx, arguments)
		}
	}
	return "", fmt.Errorf("there is no tool %q", call.Name)
}

func toolMessage(call *langrooms.ToolCall, content string, err error) langrooms.Message {
	if err != nil {
		content = "Error: " + err.Error()
	}
	m := langrooms.NewMessage(langrooms.RoleTool, "")
	m.Parts = []langrooms.Part{{Kind: langrooms.PartToolResult, ToolResult: &langrooms.ToolResult{
		CallID: call.ID, Name: call.Name, Content: content, IsError: err != nil}}}
	return m
}

func calls(m langrooms.Message) []*langrooms.ToolCall {
	var found []*langrooms.ToolCall
	for _, p := range m.Parts {
		if p.ToolCall != nil {
			found = append(found, p.ToolCall)
		}
	}
	return found
}

// withoutText is what the operator gets of a turn in which the model said nothing.
const withoutText = "The lead answered without text."

// Finish closes the turn and returns what it came to; err is the error of its last step.
// A turn whose ctx ended was stopped (langrooms.StopOf), which is a result and no error. Any
// other error is one of ours and comes with the result as far as it got.
func (n *Node) Finish(ctx context.Context, t *Turn, err error) (langrooms.Result, error) {
	if begun := t.begun(); begun != nil {
		return langrooms.Result{}, errors.Join(begun, err)
	}
	result := langrooms.Result{Thread: t.turn.Thread(), Text: t.text, Notes: langrooms.Notes{Interrupted: t.turn.Interrupted()}}
	if lost := context.Cause(t.turn.Context()); errors.Is(lost, checkpointer.ErrFenced) {
		err = fmt.Errorf("the thread %q: %w", t.turn.Thread(), lost)
	} else if err != nil && ctx.Err() != nil {
		stop := langrooms.StopOf(ctx)
		result.Reason, result.Stopped, err = langrooms.ReasonStopped, &stop, nil
		result.Aside = stop.Sentence()
		result.Text = strings.TrimSpace(result.Text + "\n\n" + result.Aside)
	}
	if t.turn.Spent().Known() {
		spent := t.turn.Spent()
		result.Spent = &spent
	}
	if t.turn.Afford(t.room) != nil {
		result.Notes.Cost, result.Notes.MaxCost = t.turn.Spent().CostUSD, t.room.MaxCostUSD
	}
	if err == nil && result.Text == "" {
		result.Text, result.Aside = withoutText, withoutText
	}
	if note, _ := room.Compose(nil, nil, result.Notes); note != "" {
		result.Text = strings.TrimSpace(result.Text + "\n\n" + note)
		result.Aside = strings.TrimSpace(result.Aside + "\n\n" + note)
	}
	err = errors.Join(err, t.Close())
	if limit := n.maxTokens(); limit > 0 && n.cfg.Long != nil && room.Long(t.messages, limit) {
		n.cfg.Long(t.turn.Thread())
	}
	return result, err
}

// Run takes a whole turn, from Start to Finish. What the operator said is on the thread
// unless storing it was what failed.
func (n *Node) Run(ctx context.Context, in Input) (langrooms.Result, error) {
	t, err := n.Start(ctx, in)
	if err != nil {
		return langrooms.Result{Thread: in.Thread}, err
	}
	for tools := true; tools && err == nil; {
		if tools, err = n.Think(ctx, t); tools && err == nil {
			err = n.Act(ctx, t)
		}
	}
	return n.Finish(ctx, t, err)
}
