package leadnode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/thread"
)

// waitsChannel is the channel of the thread that holds a turn between Think and Act, while a
// person is asked about its tools. It is set once Think has ended and removed by the put that
// records what came of the tools, so that no approval acts twice.
const waitsChannel = "lead.waits"

// ErrNothingWaits says that no turn of the lead waits on the thread: none did, it has gone on,
// the operator has said something else since, or what was said has been erased.
var ErrNothingWaits = errors.New("no turn of the lead waits on the thread")

// waits is a turn between Think and Act as it is stored.
type waits struct {
	Epoch string            `json:"epoch"`
	Asked langrooms.Message `json:"asked"`
	Text  string            `json:"text,omitempty"`
	Steps int               `json:"steps"`
	Plain bool              `json:"plain,omitempty"`
}

// Wait puts the turn aside after Think has asked for tools: what it asked for is stored with the
// thread, and the thread and the roster are given back. Any process that reaches the store goes on
// with [Node.Resume]. The turn is over for the caller, also when there is an error.
func (n *Node) Wait(t *Turn) error {
	if err := t.begun(); err != nil {
		return err
	}
	if len(calls(t.asked)) == 0 {
		return errors.Join(errors.New("leadnode: Wait on a turn that asks for no tools"), t.Close())
	}
	stored, err := json.Marshal(waits{t.turn.Epoch(), t.asked, t.text, t.steps, t.plain})
	if err == nil {
		t.turn.Keep(waitsChannel, stored)
		err = t.turn.Put("loop")
	}
	return errors.Join(err, t.Close())
}

// Wish is what a waiting turn of the lead wants to do.
type Wish struct {
	// ID names it. A later wish on the thread has another one.
	ID    string
	Calls []*langrooms.ToolCall
}

// Waiting returns what waits on the thread for a person's word; ErrNothingWaits when nothing
// does. It takes no hold.
func (n *Node) Waiting(ctx context.Context, id string) (Wish, error) {
	v, err := thread.Read(ctx, n.cfg.Saver, id)
	if err != nil {
		return Wish{}, err
	}
	var cp checkpointer.Checkpoint
	if v.At.ID != "" {
		if cp, err = n.cfg.Saver.Get(ctx, v.At); err != nil {
			return Wish{}, fmt.Errorf("reading the thread %q: %w", id, err)
		}
	}
	w, err := decodeWaits(id, v.Epoch, cp.Channels[waitsChannel])
	return Wish{w.Asked.ID, calls(w.Asked)}, err
}

// decodeWaits reads what is stored on the thread; nil, or of an erased epoch, is nothing.
func decodeWaits(id, epoch string, stored []byte) (w waits, err error) {
	if stored != nil {
		if err := json.Unmarshal(stored, &w); err != nil {
			return waits{}, fmt.Errorf("the thread %q: the channel %s: %w: %w", id, waitsChannel, checkpointer.ErrFormat, err)
		}
	}
	if w.Epoch != epoch || len(calls(w.Asked)) == 0 { // rewound since, or copied to another thread
		return waits{}, fmt.Errorf("%w %q", ErrNothingWaits, id)
	}
	return w, nil
}

// Resume takes up the turn that waits on the thread of in, which may have been begun by another
// process, if what it wants is the wish of that id: Act or Refuse is next. ErrNothingWaits when
// there is no such wish any more. Of in it takes the thread, Events and Stored. What others have
// said on the thread meanwhile stands before the tools' results.
func (n *Node) Resume(ctx context.Context, in Input, wish string) (*Turn, error) {
	return n.begin(ctx, in, func(t *Turn, in Input) error {
		stored, _ := t.turn.Channel(waitsChannel)
		w, err := decodeWaits(in.Thread, t.turn.Epoch(), stored)
		if err == nil && w.Asked.ID != wish {
			err = fmt.Errorf("%w %q as %q", ErrNothingWaits, in.Thread, wish)
		}
		if err != nil {
			return err
		}
		t.asked, t.text, t.steps, t.plain = w.Asked, w.Text, w.Steps, w.Plain
		t.turn.Tell()
		return t.read()
	})
}

// unwait has the turn's next put take away what waited.
func (t *Turn) unwait() {
	if _, ok := t.turn.Channel(waitsChannel); ok {
		t.turn.Keep(waitsChannel, nil)
	}
}

// errRefused is a tool's result for the model when nothing was said why.
var errRefused = errors.New("the operator refused this call")

// Refuse stands in place of Act: no tool is run, and the model reads as each call's result that
// the operator refused it, and why, if said.
func (n *Node) Refuse(ctx context.Context, t *Turn, why string) error {
	if err := langrooms.CheckText(why); err != nil {
		return err
	}
	refused := errRefused
	if why != "" {
		refused = fmt.Errorf("%w: %s", errRefused, why)
	}
	return n.act(ctx, t, func(context.Context, *langrooms.ToolCall) (string, error) { return "", refused })
}
