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
	if err := t.put("room", records, nil); err != nil {
		return err
	}
	t.interrupted = members
	return nil
}
