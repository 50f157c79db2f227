package exchange

import (
	"encoding/json"
	"fmt"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/room"
)

// openChannel holds the exchange that is under way on a thread, so that the next writer
// can tell what a dead process left unanswered. A pass leaves no message behind, so the
// messages alone cannot tell.
const openChannel = "room.open"

// openExchange is what is not yet recorded of a run.
type openExchange struct {
	Exchange string `json:"exchange"`
	Round    int    `json:"round"`
	// Running is the member being asked, Waiting those of the first round still to be.
	Running   string   `json:"running"`
	Waiting   []string `json:"waiting,omitempty"`
	Incognito bool     `json:"incognito,omitempty"`
}

func (o *openExchange) encode() []byte {
	data, err := json.Marshal(o)
	if err != nil {
		panic("exchange: strings and numbers do not marshal: " + err.Error())
	}
	return data
}

func parseOpen(data []byte) (*openExchange, error) {
	var o openExchange
	if err := json.Unmarshal(data, &o); err != nil {
		return nil, fmt.Errorf("%w: channel %s: %w", checkpointer.ErrFormat, openChannel, err)
	}
	return &o, nil
}

// interruptedCause is what the record of an interrupted dispatch says.
const interruptedCause = "interrupted: no answer was stored"

// closeInterrupted records each unanswered dispatch of an open exchange as failed. The
// lease is held, so the process that opened it is gone, or has lost the thread.
func (t *Turn) closeInterrupted() error {
	if t.open == nil {
		return nil
	}
	members := append([]string{t.open.Running}, t.open.Waiting...)
	var records []langrooms.Message
	for _, member := range members {
		records = append(records, room.NewReply(room.ReplyRecord{
			From: member, Exchange: t.open.Exchange, Round: t.open.Round,
			Failed: true, Incognito: t.open.Incognito, Text: room.FailedText(interruptedCause),
		}))
	}
	t.interrupted, t.untold = append(t.interrupted, members...), false
	return t.put("room", records, nil)
}

// untoldChannel names the members of interrupted dispatches that no operator has been told
// of yet: what closes an interrupted exchange need not be a turn that somebody reads.
const untoldChannel = "room.untold"

// Tell says that this turn's result tells the operator what was interrupted; its next put
// takes that off the thread.
func (t *Turn) Tell() { t.telling = true }

// noteUntold keeps with step who was interrupted and not told of, or that it has been told.
func (t *Turn) noteUntold(step *checkpointer.Step) {
	switch {
	case t.telling && t.untold:
		step.Remove = append(step.Remove, untoldChannel)
	case !t.telling && !t.untold && len(t.interrupted) > 0:
		data, err := json.Marshal(t.interrupted)
		if err != nil {
			panic("exchange: strings do not marshal: " + err.Error())
		}
		step.Channels[untoldChannel] = data
	}
}

func parseUntold(data []byte) (members []string, err error) {
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, fmt.Errorf("%w: channel %s: %w", checkpointer.ErrFormat, untoldChannel, err)
	}
	return members, nil
}
