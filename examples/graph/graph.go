package main

import (
	"context"

	"github.com/cloudwego/eino/compose"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/nodes/leadnode"
	"github.com/langrooms/langrooms/nodes/roomnode"
	"github.com/langrooms/langrooms/setup"
	"github.com/langrooms/langrooms/terminal"
)

// state is what a turn carries through the graph.
type state struct {
	thread string
	in     terminal.Input
	result langrooms.Result // of the room
	lead   *leadnode.Turn   // the lead's turn, once it has begun
	tools  bool             // the lead's model wants tools run
	err    error            // why a node failed, without the engine's words around it
}

// The nodes of the graph.
const (
	roomNode  = "room"
	leadNode  = "lead"
	toolsNode = "tools"
)

// maxSteps bounds a turn's supersteps; the lead's own bound on model calls comes first.
const maxSteps = 64

type chatGraph struct {
	lead   *leadnode.Node
	engine compose.Runnable[*state, *state]
}

func newGraph(ctx context.Context, app *setup.App) (*chatGraph, error) {
	room, lead, err := app.Nodes()
	if err != nil {
		return nil, err
	}
	engine, err := compile(ctx, room, lead)
	return &chatGraph{lead, engine}, err
}

// compile draws the graph. A node is one plain method, whatever engine calls it.
func compile(ctx context.Context, room *roomnode.Node, lead *leadnode.Node) (compose.Runnable[*state, *state], error) {
	g := compose.NewGraph[*state, *state]()
	b := builder{g: g}
	b.node(roomNode, func(ctx context.Context, s *state) (err error) {
		s.result, err = room.Handle(ctx, roomnode.Turn{Thread: s.thread, Text: s.in.Text, Events: s.in.Events})
		return err
	})
	b.node(leadNode, func(ctx context.Context, s *state) (err error) {
		if s.lead == nil {
			s.lead, err = lead.Start(ctx, leadnode.Input{Thread: s.thread, Text: s.in.Text, Events: s.in.Events})
			if err != nil {
				return err
			}
		}
		s.tools, err = lead.Think(ctx, s.lead)
		return err
	})
	b.node(toolsNode, func(ctx context.Context, s *state) error { return lead.Act(ctx, s.lead) })

	b.edge(compose.START, roomNode)
	b.branch(roomNode, func(s *state) bool { return s.result.Handled }, compose.END, leadNode)
	b.branch(leadNode, func(s *state) bool { return s.tools }, toolsNode, compose.END)
	b.edge(toolsNode, leadNode)
	if b.err != nil {
		return nil, b.err
	}
	return g.Compile(ctx, compose.WithGraphName("langrooms"), compose.WithMaxRunSteps(maxSteps))
}

// turn runs one message through the graph. Whatever happens, the lead's hold on the thread
// ends here.
func (g *chatGraph) turn(ctx context.Context, thread string, in terminal.Input) (langrooms.Result, error) {
	s := &state{thread: thread, in: in}
	_, err := g.engine.Invoke(ctx, s)
	if s.err != nil {
		err = s.err
	}
	switch {
	case s.lead != nil:
		return g.lead.Finish(ctx, s.lead, err)
	case s.result.Handled:
		return s.result, s.err // a turn that was stopped has a result, whatever the engine says
	}
	return s.result, err
}

// builder keeps the first error of drawing.
type builder struct {
	g   *compose.Graph[*state, *state]
	err error
}

func (b *builder) node(name string, do func(context.Context, *state) error) {
	lambda := compose.InvokableLambda(func(ctx context.Context, s *state) (*state, error) {
		s.err = do(ctx, s)
		return s, s.err
	})
	b.keep(b.g.AddLambdaNode(name, lambda))
}

func (b *builder) edge(from, to string) { b.keep(b.g.AddEdge(from, to)) }

func (b *builder) branch(from string, is func(*state) bool, yes, no string) {
	choose := func(_ context.Context, s *state) (string, error) {
		if is(s) {
			return yes, nil
		}
		return no, nil
	}
	b.keep(b.g.AddBranch(from, compose.NewGraphBranch(choose, map[string]bool{yes: true, no: true})))
}

func (b *builder) keep(err error) {
	if b.err == nil {
		b.err = err
	}
}
