package exchange

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/room"
	"github.com/langrooms/langrooms/thread"
)

// openChannel holds the exchange that is under way on a thread, so that the next writer
// can tell what a dead process left unanswered. A pass leaves no message behind, so the
// messages alone cannot tell.
const openChannel = "room.open"

// openExchange is what is not yet recorded of a run.
type openExchange struct {
	Exchange string `json:"exchange"`
	Round    int    `json:"round"`
	// Running are the members being asked, Waiting those of the first round still to be.
	Running   members  `json:"running"`
	Waiting   []string `json:"waiting,omitempty"`
	Incognito bool     `json:"incognito,omitempty"`
}

// members are stored as a list, but a single one as its name alone.
type members []string

// MarshalJSON writes the stored form.
func (m members) MarshalJSON() ([]byte, error) {
	if len(m) == 1 {
		return json.Marshal(m[0])
	}
	return json.Marshal([]string(m))
}

// UnmarshalJSON reads the stored form.
func (m *members) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		*m = make(members, 1)
		return json.Unmarshal(data, &(*m)[0])
	}
	return json.Unmarshal(data, (*[]string)(m))
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

// closeInterrupted records each unanswered dispatch of an exchange that a dead process left
// open as failed, for the thread's next turn to tell its operator. It is a thread.Opener:
// the hold is fresh, so the process that opened the exchange is gone, or has lost the thread.
func closeInterrupted(h *thread.Hold) error {
	data, ok := h.Channel(openChannel)
	if !ok {
		_, err := untold(h)
		return err
	}
	open, err := parseOpen(data)
	if err != nil {
		return err
	}
	untold, err := untoldOf(h)
	if err != nil {
		return err
	}
	var records []langrooms.Message
	for i, member := range slices.Concat(open.Running, open.Waiting) {
		untold = append(untold, interrupted{member, open.Exchange, h.Length() + int64(i)})
		records = append(records, room.NewFailure(langrooms.Stamp{From: member, Exchange: open.Exchange, Round: open.Round,
			Incognito: open.Incognito}, langrooms.ErrorInterrupted, interruptedCause))
	}
	step := thread.Step{Source: sourceRoom, Messages: records, Remove: []string{openChannel}}
	if len(untold) > 0 {
		data, err := json.Marshal(untold)
		if err != nil {
			panic("exchange: strings do not marshal: " + err.Error())
		}
		step.Set = map[string][]byte{untoldChannel: data}
	}
	return h.Put(step)
}

// untoldChannel names the members of interrupted dispatches that no operator has been told
// of yet: what closes an interrupted exchange need not be a turn that somebody reads.
const untoldChannel = "room.untold"

// interrupted is the record of a dispatch that a dead process left open.
type interrupted struct {
	Member   string `json:"member"`
	Exchange string `json:"exchange"`
	Seq      int64  `json:"seq"`
}

// UnmarshalJSON reads the stored form, or a bare name, which an earlier version has stored.
func (i *interrupted) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &i.Member)
	}
	type plain interrupted
	return json.Unmarshal(data, (*plain)(i))
}

// untold names the members whose dispatch was interrupted and recorded as failed, and that no
// operator has been told of yet. What a rewind has erased, or a fork does not hold, is not
// told: the thread does not say it.
func untold(h *thread.Hold) (members []string, err error) {
	untold, err := untoldOf(h)
	for _, i := range untold {
		members = append(members, i.Member)
	}
	return members, err
}

func untoldOf(h *thread.Hold) (untold []interrupted, err error) {
	data, ok := h.Channel(untoldChannel)
	if !ok {
		return nil, nil
	}
	var stored []interrupted
	if err := json.Unmarshal(data, &stored); err != nil {
		return nil, fmt.Errorf("%w: channel %s: %w", checkpointer.ErrFormat, untoldChannel, err)
	}
	for _, i := range stored {
		stands, err := h.Stands(thread.Anchor{Exchange: i.Exchange, Seq: i.Seq})
		if err != nil {
			return nil, err
		}
		if stands || i.Exchange == "" {
			untold = append(untold, i)
		}
	}
	return untold, nil
}
