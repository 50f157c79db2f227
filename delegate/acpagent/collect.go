package acpagent

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/coder/acp-go-sdk"
	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/internal/redact"
)

// maxReply is the longest answer in bytes; the rest is left out, which the reply says.
const maxReply = 16 << 20

// collector puts a turn's answer together and reports progress. It belongs to one
// goroutine.
type collector struct {
	report    func(langrooms.Progress)
	redact    redact.Set
	text      chunked
	thought   chunked
	reply     strings.Builder
	truncated bool
	message   string // the id of the message that the last text belonged to
	called    bool   // a tool was called after the last text
	cost      *float64
	files     delegate.Received
}

// chunked is a text that comes in chunks.
type chunked struct {
	pieces
	*redact.Stream
}

// rest returns what both stages have held back.
func (c *chunked) rest() string { return c.Next(c.pieces.rest()) + c.Rest() }

func newCollector(r redact.Set, report func(langrooms.Progress)) *collector {
	if report == nil {
		report = func(langrooms.Progress) {}
	}
	return &collector{report: report, redact: r,
		text: chunked{Stream: r.Stream()}, thought: chunked{Stream: r.Stream()}}
}

// take uses one update. Only message chunks are part of the answer.
func (c *collector) take(e event) {
	if e.err != nil {
		c.unreadable(e.err)
		return
	}
	switch e.Kind {
	case agentMessageChunk:
		c.words(e)
	case agentThoughtChunk:
		c.tell(langrooms.Progress{Kind: langrooms.ProgressThought, Text: c.chunk(e, &c.thought)})
	case usageUpdate:
		if cost, ok := dollars(e.Cost); ok {
			c.cost = &cost
		}
	case toolCall, toolCallUpdate:
		c.called = c.called || e.first || e.Kind == toolCall
		c.tell(langrooms.Progress{Kind: langrooms.ProgressTool, Text: e.Title, State: e.Status})
	case planUpdate:
		c.tell(langrooms.Progress{Kind: langrooms.ProgressPlan, Text: planText(c.redact, e.Entries)})
	}
}

// words appends a chunk of the answer, in a paragraph of its own when it begins another
// message: ids tell, or else a tool call between them.
func (c *collector) words(e event) {
	another := c.called
	if e.MessageID != "" && c.message != "" {
		another = e.MessageID != c.message
	}
	if another {
		c.add(c.text.rest())
	}
	text := c.chunk(e, &c.text)
	if text == "" {
		return
	}
	if another {
		c.add(paragraph(c.reply.String(), text))
	}
	c.message, c.called = e.MessageID, false
	c.add(text)
}

// paragraph returns the line breaks that are missing between two texts.
func paragraph(before, after string) string {
	const gap = "\n\n"
	trailing := len(before) - len(strings.TrimRight(before, "\n"))
	leading := len(after) - len(strings.TrimLeft(after, "\n"))
	if before == "" || trailing+leading >= len(gap) {
		return ""
	}
	return gap[trailing+leading:]
}

// chunk returns the text of a chunk that can be shown by now.
func (c *collector) chunk(e event, to *chunked) string {
	list, err := blocks(e.Content)
	var text strings.Builder
	for _, b := range list {
		if err != nil {
			break
		}
		if e.Kind == agentMessageChunk {
			b.file(&c.files)
		}
		var piece string
		piece, err = b.add(&to.pieces)
		text.WriteString(piece)
	}
	if err != nil {
		c.unreadable(err)
	}
	return to.Next(text.String())
}

func (c *collector) unreadable(err error) {
	c.report(langrooms.Progress{Kind: langrooms.ProgressStatus,
		Text: c.redact.Text(delegate.OneLine("an update of the agent cannot be read: "+delegate.DecodeCause(err).Error(), maxTitle))})
}

// add appends to the answer.
func (c *collector) add(text string) {
	if c.truncated || c.reply.Len()+len(text) > maxReply {
		c.truncated = true
		return
	}
	c.reply.WriteString(text)
	c.tell(langrooms.Progress{Kind: langrooms.ProgressText, Text: text})
}

// tell reports p unless it says nothing.
func (c *collector) tell(p langrooms.Progress) {
	if p.Text != "" || p.State != "" {
		c.report(p)
	}
}

// finish makes the reply of what has come, by the prompt's answer; refused says what the
// agent was not allowed to do.
func (c *collector) finish(a callResult, refused string) (delegate.Reply, error) {
	if a.err != nil {
		return delegate.Reply{}, a.err
	}
	var result promptAnswer
	if err := decode(acp.AgentMethodSessionPrompt, a.result, &result); err != nil {
		return delegate.Reply{}, err
	}
	c.add(c.text.rest())
	reply := delegate.Reply{Text: c.reply.String(), Incomplete: incomplete(result.StopReason), Usage: usage(result.Usage), Files: c.files.Files()}
	switch {
	case result.StopReason == acp.StopReasonCancelled && reply.Text == "" && refused == "":
		return delegate.Reply{}, errCancelled
	case c.truncated:
		reply.Incomplete = fmt.Sprintf("the answer is longer than %d MiB; the rest was left out", maxReply>>20)
	case refused == "":
	case strings.TrimSpace(reply.Text) == "":
		reply.Text, reply.Incomplete = "("+refused+")", ""
	case reply.Incomplete == "":
		reply.Incomplete = refused
	default:
		reply.Incomplete += ": " + refused
	}
	return reply, nil
}

// dollars reads the cost of a session in US dollars.
func dollars(data json.RawMessage) (float64, bool) {
	var c struct {
		Amount   *float64 `json:"amount"`
		Currency string   `json:"currency"`
	}
	if json.Unmarshal(data, &c) != nil || c.Amount == nil || *c.Amount < 0 || !strings.EqualFold(c.Currency, "USD") {
		return 0, false
	}
	return *c.Amount, true
}

// usage reads the token counts of a prompt's answer; nil when there are none.
func usage(data json.RawMessage) *langrooms.Usage {
	var u *struct {
		InputTokens  int `json:"inputTokens"`
		OutputTokens int `json:"outputTokens"`
	}
	if json.Unmarshal(data, &u) != nil || u == nil || u.InputTokens < 0 || u.OutputTokens < 0 {
		return nil
	}
	return (&langrooms.Usage{InputTokens: u.InputTokens, OutputTokens: u.OutputTokens}).Plausible()
}

// incomplete says why a turn that ended for this reason gave no whole answer; empty when
// it did (protocol document "Prompt Turn", stop reasons).
func incomplete(reason acp.StopReason) string {
	switch reason {
	case acp.StopReasonEndTurn:
		return ""
	case acp.StopReasonMaxTokens:
		return "the agent reached its token limit (max_tokens)"
	case acp.StopReasonMaxTurnRequests:
		return "the agent reached its limit of model requests (max_turn_requests)"
	case acp.StopReasonCancelled:
		return errCancelled.Error()
	case acp.StopReasonRefusal:
		return "the agent refused to go on (refusal)"
	default:
		return "the agent stopped for a reason that is unknown here: " + delegate.OneLine(fmt.Sprintf("%q", reason), maxTitle)
	}
}
