package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/cloudwego/eino/compose"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/redissaver"
)

// waiting is the thread's channel that holds what waits for approval. It is set once the
// graph has been interrupted and removed by the put that records what was done, so a run
// that dies in between neither loses a plan nor records it twice.
const waiting = "interrupt.waiting"

// The nodes of the graph.
const (
	planNode = "plan"
	actNode  = "act"
)

var (
	errWaits   = errors.New("the thread already waits for approval")
	errNothing = errors.New("nothing on the thread waits for approval")
)

// job is the graph on one thread.
type job struct {
	saver  *redissaver.Saver
	thread string
	graph  compose.Runnable[string, string]
}

func newJob(ctx context.Context, saver *redissaver.Saver, thread string) (*job, error) {
	j := &job{saver: saver, thread: thread}
	g := compose.NewGraph[string, string]()
	err := errors.Join(
		g.AddLambdaNode(planNode, compose.InvokableLambda(plan)),
		g.AddLambdaNode(actNode, compose.InvokableLambda(j.act)),
		g.AddEdge(compose.START, planNode),
		g.AddEdge(planNode, actNode),
		g.AddEdge(actNode, compose.END),
	)
	if err != nil {
		return nil, err
	}
	j.graph, err = g.Compile(ctx,
		compose.WithCheckPointStore(saver.Blobs()),
		compose.WithInterruptBeforeNodes([]string{actNode}))
	return j, err
}

// plan is where a model would work. What it returns is kept by the engine until act.
func plan(_ context.Context, message string) (string, error) {
	return "run the tests, then " + message, nil
}

// act does what was approved and records it. The put also takes the approval's mark away:
// both happen, or neither.
func (j *job) act(ctx context.Context, plan string) (string, error) {
	done := "done: " + plan
	return done, j.put(ctx, checkpointer.Step{
		Log:    checkpointer.Append(langrooms.NewMessage(langrooms.RoleAI, done)),
		Remove: []string{waiting},
	})
}

// ask runs the graph from its start up to the interrupt.
func (j *job) ask(ctx context.Context, message string) (string, error) {
	return j.hold(ctx, func(ctx context.Context, waits string) (string, error) {
		if waits != "" {
			return "", fmt.Errorf("%w: %q", errWaits, waits)
		}
		// What an older run of this id has left in the store has ended: begin anew.
		_, err := j.graph.Invoke(ctx, message, compose.WithCheckPointID(j.thread), compose.WithForceNewRun())
		if _, interrupted := compose.ExtractInterruptInfo(err); !interrupted {
			return "", errors.Join(errors.New("the graph did not stop for approval"), err)
		}
		err = j.put(ctx, checkpointer.Step{
			Log:      checkpointer.Append(langrooms.NewMessage(langrooms.RoleHuman, message)),
			Channels: map[string][]byte{waiting: []byte(message)},
		})
		return fmt.Sprintf("%q waits for approval on the thread %q", message, j.thread), err
	})
}

// approve resumes the interrupted run.
func (j *job) approve(ctx context.Context) (string, error) {
	return j.hold(ctx, func(ctx context.Context, waits string) (string, error) {
		if waits == "" {
			return "", errNothing
		}
		return j.graph.Invoke(ctx, "", compose.WithCheckPointID(j.thread))
	})
}

// hold runs do as the thread's only writer, so that two approvals cannot both act, and
// tells it what waits.
func (j *job) hold(ctx context.Context, do func(ctx context.Context, waits string) (string, error)) (text string, err error) {
	lease, err := j.saver.Lock(ctx, j.thread)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, lease.Release()) }()
	head, err := j.head(lease.Context())
	if err != nil {
		return "", err
	}
	return do(lease.Context(), string(head.Channels[waiting]))
}

// head is the thread's newest checkpoint, empty on a new thread.
func (j *job) head(ctx context.Context) (checkpointer.Checkpoint, error) {
	head, err := j.saver.Get(ctx, checkpointer.Ref{Thread: j.thread})
	if errors.Is(err, checkpointer.ErrNotFound) {
		return checkpointer.Checkpoint{Ref: checkpointer.Ref{Thread: j.thread}}, nil
	}
	return head, err
}

func (j *job) put(ctx context.Context, step checkpointer.Step) error {
	head, err := j.head(ctx)
	if err == nil {
		_, err = j.saver.Put(ctx, head.Ref, step)
	}
	return err
}
