package delegatetest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
)

// End says how a scripted peer ends its work on a message.
type End string

// How a peer can end.
const (
	// EndAnswer: it completes, with what was said as the answer.
	EndAnswer End = "answer"
	// EndFail: it says that it failed, with [Script.Words].
	EndFail End = "fail"
	// EndAsk: it waits for an answer to [Script.Words], or to nothing where they are empty:
	// some agents end each turn so. What was said before stands apart from the question.
	// Only a peer of a resumable delegate is told to.
	EndAsk End = "ask"
	// EndHold: it goes on working until it is told to stop or its connection ends.
	EndHold End = "hold"
	// EndDie: it dies: the process exits, or the connections are cut and the server
	// is gone.
	EndDie End = "die"
)

// Script says what a peer does with every message it gets. It is plain data.
type Script struct {
	// Control is the address of the suite that is running.
	Control string `json:"control"`
	// Secret is the credential to configure the delegate with, where the protocol has
	// one.
	Secret string `json:"secret"`
	// Preamble is what to configure the delegate to put in front of the first prompt of each
	// conversation, with a blank line between; see [delegate.Opened]. Empty is nothing.
	Preamble string `json:"preamble,omitempty"`
	// Accepts are the media types of files to configure the delegate to take, where it can be,
	// and for the peer to say that it takes, where the protocol has a place for that; nil is none.
	Accepts []string `json:"accepts,omitempty"`
	// Returns is a file that comes with the answer, under its name and the type that is claimed,
	// where the protocol has them.
	Returns *delegate.File `json:"returns,omitempty"`
	// Pieces are the answer, in the pieces that it is sent in. They are bytes, not
	// always valid UTF-8, and may end inside a character: the peer sends them as they
	// are, as far as the protocol lets it.
	Pieces [][]byte `json:"pieces,omitempty"`
	// Repeat says the pieces so many times; 0 means once.
	Repeat int `json:"repeat,omitempty"`
	// Echo answers with the prompt instead.
	Echo bool `json:"echo,omitempty"`
	// Count answers with [Message.Nth] instead.
	Count bool `json:"count,omitempty"`
	// End is what comes after the pieces.
	End End `json:"end"`
	// Forget makes the peer forget each conversation as soon as it has answered: a message
	// that goes on with one is refused as the protocol says so of one that is not known, and
	// not played. Only a peer of a conversational delegate is told to.
	Forget bool `json:"forget,omitempty"`
	// Apart makes each piece a message of its own, with whatever parts two of them in the
	// protocol.
	Apart bool `json:"apart,omitempty"`
	// Thought is reasoning, marked as such by the protocol, that comes before the pieces.
	Thought string `json:"thought,omitempty"`
	// Late is what the peer says a moment after it has said that it is done; it belongs to
	// the answer.
	Late string `json:"late,omitempty"`
	// Leave is a tool call, of a kind that the delegate is configured to ask a person about,
	// that the peer asks leave for before it plays; when that is refused it ends its turn
	// without a word and plays nothing.
	Leave string `json:"leave,omitempty"`
	// Status, when it is not 0, is the HTTP status with which the first so many (Times; 0
	// means all) requests are refused, with RetryAfter, in seconds, and Location as headers
	// where they are set; see [Script.Refusal].
	Status     int    `json:"status,omitempty"`
	Times      int    `json:"times,omitempty"`
	RetryAfter int    `json:"retry_after,omitempty"`
	Location   string `json:"location,omitempty"`
	// Usage is what the peer tells of the tokens of its answer, where the protocol has a place
	// for it; nil tells nothing.
	Usage *langrooms.Usage `json:"usage,omitempty"`
	// Words are the peer's reason to fail, or its question.
	Words string `json:"words,omitempty"`
}

// Message is what reached the peer.
type Message struct {
	// Prompt is the text as the peer received it.
	Prompt string `json:"prompt"`
	// Nth counts the messages of the peer's conversation (session, context) so far,
	// from 1. A peer without conversations leaves it 0.
	Nth int `json:"nth,omitempty"`
	// Files are what came with the prompt, by content and type.
	Files []delegate.File `json:"files,omitempty"`
}

// Failure is what [Script.Play] returns for [EndFail].
type Failure struct{ Words string }

// Error returns the words.
func (f *Failure) Error() string { return f.Words }

// Question is what [Script.Play] returns for [EndAsk].
type Question struct{ Words string }

// Error returns the words.
func (q *Question) Error() string { return "it asks: " + q.Words }

// ErrDie is what [Script.Play] returns for [EndDie]: the peer now dies without another
// word.
var ErrDie = errors.New("the script says to die")

// Play follows the script for one message: it tells the suite that the message arrived,
// calls say for each piece (to be sent at once), and returns how to end: nil for a
// complete answer, a *[Failure], a *[Question], [ErrDie], ctx's error when the work was stopped, or an
// error of say. A peer in another process calls it there.
func (s Script) Play(ctx context.Context, m Message, say func(piece []byte) error) error {
	suite, _, err := s.tell(ctx, note{Message: m})
	if err != nil {
		return err
	}
	defer suite.Close() // tells the suite that this work is over
	for range max(1, s.Repeat) {
		for _, piece := range s.answer(m) {
			if err := say(piece); err != nil {
				return err
			}
		}
	}
	switch s.End {
	case EndAnswer:
		return nil
	case EndFail:
		return &Failure{s.Words}
	case EndAsk:
		return &Question{s.Words}
	case EndDie:
		return ErrDie
	case EndHold:
		return hold(ctx, suite)
	}
	return fmt.Errorf("delegatetest: the script has no end %q", s.End)
}

// tell tells the suite what has arrived, and returns its verdict. The connection stays open
// for as long as the peer works on it.
func (s Script) tell(ctx context.Context, n note) (suite net.Conn, verdict byte, err error) {
	var dialer net.Dialer
	suite, err = dialer.DialContext(ctx, "tcp", s.Control)
	if err != nil {
		return nil, 0, fmt.Errorf("delegatetest: the suite is not there: %w", err)
	}
	answer := make([]byte, 1)
	if err = json.NewEncoder(suite).Encode(n); err == nil {
		_, err = suite.Read(answer)
	}
	if err != nil {
		suite.Close()
		return nil, 0, fmt.Errorf("delegatetest: the suite did not take note: %w", err)
	}
	return suite, answer[0], nil
}

// hold returns when ctx ends, or when the suite is done with the rule: a peer that is never
// told to stop does not keep the next rule waiting.
func hold(ctx context.Context, suite net.Conn) error {
	defer context.AfterFunc(ctx, func() { suite.Close() })()
	_, err := suite.Read(make([]byte, 1))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("delegatetest: the rule is over: %w", err)
}

func (s Script) answer(m Message) [][]byte {
	switch {
	case s.Echo:
		return [][]byte{[]byte(m.Prompt)}
	case s.Count:
		return [][]byte{strconv.AppendInt(nil, int64(m.Nth), 10)}
	}
	return s.Pieces
}

// Encode returns the script in one word, for an argument or an environment variable.
func (s Script) Encode() string {
	encoded, err := json.Marshal(s)
	if err != nil {
		panic("delegatetest: a script of strings and numbers encodes: " + err.Error())
	}
	return base64.StdEncoding.EncodeToString(encoded)
}

// DecodeScript reads what [Script.Encode] returned.
func DecodeScript(word string) (Script, error) {
	var s Script
	decoded, err := base64.StdEncoding.DecodeString(word)
	if err != nil {
		return s, fmt.Errorf("delegatetest: no script: %w", err)
	}
	if err := json.Unmarshal(decoded, &s); err != nil {
		return s, fmt.Errorf("delegatetest: no script: %w", err)
	}
	return s, nil
}
