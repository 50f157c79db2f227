package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/langrooms/langrooms/nodes/leadnode"
	"github.com/langrooms/langrooms/nodes/roomnode"
	"github.com/langrooms/langrooms/setup"
)

// The nodes of the graph.
const (
	roomNode  = "room"
	leadNode  = "lead"
	toolsNode = "tools"
)

// State is what a turn carries through the graph. The engine stores it when it interrupts, so
// it is exported, of exported fields, and known to the engine by a name; what lives only while
// a process does, such as the lead's hold on the thread, is in the job.
type State struct {
	Text string // what the operator said
	// Wish is what the operator approves or refuses. A run that begins with it goes to the
	// tools at once: so a run goes on whose state the engine has lost.
	Wish    string
	Refused bool
	Handled bool   // the room has answered
	Tools   bool   // the lead's model wants tools run
	Answer  string // what the operator is told
}

func init() { schema.RegisterName[*State]("langrooms_interrupt_state") }

// job is the graph on one thread, for one step.
type job struct {
	thread string
	room   *roomnode.Node
	lead   *leadnode.Node
	graph  compose.Runnable[*State, *State]

	decision *State         // what the operator says of the wish that waits; nil when none was asked
	turn     *leadnode.Turn // the lead's turn while this process has it
	err      error          // why a node failed, without the engine's words around it
}

func newJob(ctx context.Context, app *setup.App, store compose.CheckPointStore, thread string) (*job, error) {
	room, lead, err := app.Nodes()
	if err != nil {
		return nil, err
	}
	j := &job{thread: thread, room: room, lead: lead}
	g := compose.NewGraph[*State, *State]()
	err = errors.Join(
		g.AddLambdaNode(roomNode, j.node(j.address)),
		g.AddLambdaNode(leadNode, j.node(j.think)),
		g.AddLambdaNode(toolsNode, j.node(j.act)),
		g.AddBranch(compose.START, branch(func(s *State) bool { return s.Wish != "" }, toolsNode, roomNode)),
		g.AddBranch(roomNode, branch(func(s *State) bool { return s.Handled }, compose.END, leadNode)),
		g.AddBranch(leadNode, branch(func(s *State) bool { return s.Tools }, toolsNode, compose.END)),
		g.AddEdge(toolsNode, leadNode),
	)
	if err != nil {
		return nil, err
	}
	j.graph, err = g.Compile(ctx,
		compose.WithCheckPointStore(store),
		compose.WithInterruptBeforeNodes([]string{toolsNode}))
	return j, err
}

func (j *job) node(do func(context.Context, *State) error) *compose.Lambda {
	return compose.InvokableLambda(func(ctx context.Context, s *State) (*State, error) {
		j.err = do(ctx, s)
		return s, j.err
	})
}

func branch(is func(*State) bool, yes, no string) *compose.GraphBranch {
	choose := func(_ context.Context, s *State) (string, error) {
		if is(s) {
			return yes, nil
		}
		return no, nil
	}
	return compose.NewGraphBranch(choose, map[string]bool{yes: true, no: true})
}

// address has the room answer what addresses somebody.
func (j *job) address(ctx context.Context, s *State) error {
	result, err := j.room.Handle(ctx, roomnode.Turn{Thread: j.thread, Text: s.Text})
	s.Handled, s.Answer = result.Handled, result.Text
	return err
}

// think calls the lead's model. When it wants tools the turn is put aside: the engine
// interrupts before they run, and whoever approves may be another process.
func (j *job) think(ctx context.Context, s *State) (err error) {
	if j.turn == nil {
		if j.turn, err = j.lead.Start(ctx, leadnode.Input{Thread: j.thread, Text: s.Text}); err != nil {
			return err
		}
	}
	turn := j.turn
	if s.Tools, err = j.lead.Think(ctx, turn); err == nil && s.Tools {
		j.turn = nil
		return j.lead.Wait(turn)
	}
	j.turn = nil
	result, err := j.lead.Finish(ctx, turn, err)
	s.Answer = result.Text
	return err
}

// act does as the operator has decided.
func (j *job) act(ctx context.Context, _ *State) (err error) {
	j.turn, err = j.lead.Resume(ctx, leadnode.Input{Thread: j.thread}, j.decision.Wish)
	switch {
	case err != nil:
		return err
	case j.decision.Refused:
		err = j.lead.Refuse(ctx, j.turn, "")
	default:
		err = j.lead.Act(ctx, j.turn)
	}
	if err != nil {
		err = errors.Join(err, j.turn.Close())
		j.turn = nil
	}
	return err
}

var errWaits = errors.New("the lead waits for approval; approve or refuse first")

// step runs the graph to its end or its next interrupt.
func (j *job) step(ctx context.Context, o options) (string, error) {
	if o.message != "" {
		if wish, err := j.lead.Waiting(ctx, j.thread); err == nil {
			return "", fmt.Errorf("%w: %s", errWaits, describe(wish))
		} else if !errors.Is(err, leadnode.ErrNothingWaits) {
			return "", err
		}
		// What an older run of this id has left in the store has ended: begin anew.
		return j.invoke(ctx, &State{Text: o.message}, compose.WithForceNewRun())
	}
	j.decision = &State{Wish: o.approve + o.refuse, Refused: o.refuse != ""}
	return j.invoke(ctx, j.decision)
}

func (j *job) invoke(ctx context.Context, s *State, options ...compose.Option) (string, error) {
	// Of the engine's options the last one says whether the run is new.
	options = append([]compose.Option{compose.WithCheckPointID(j.thread)}, options...)
	end, err := j.graph.Invoke(ctx, s, options...)
	if _, interrupted := compose.ExtractInterruptInfo(err); interrupted {
		wish, err := j.lead.Waiting(ctx, j.thread)
		return describe(wish), err
	}
	switch {
	case j.err != nil:
		return "", j.err
	case err != nil:
		return "", err
	}
	return end.Answer, nil
}

// describe shows what waits, and how to go on.
func describe(wish leadnode.Wish) string {
	var b strings.Builder
	for _, call := range wish.Calls {
		fmt.Fprintf(&b, "The lead wants to call %s %s\n", call.Name, call.Arguments)
	}
	fmt.Fprintf(&b, "Go on with -approve %s or -refuse %[1]s", wish.ID)
	return b.String()
}
