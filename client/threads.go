package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/httpapi"
	"github.com/langrooms/langrooms/lifecycle"
)

// Compact puts a summary in place of all but the keep newest messages of a thread, and returns how
// many it replaced. An empty text is written by the lead's model, lifecycle.ErrNoSummary where there
// is none.
func (c *Client) Compact(ctx context.Context, thread string, keep int, text string) (replaced int, err error) {
	var a struct{ Replaced int }
	err = c.call(ctx, http.MethodPost, object(map[string]any{"keep": keep, "summary": text}), &a, nil, "threads", thread, "compact")
	return a.Replaced, err
}

// Uncompact puts what summaries replaced back, and returns how many messages that was;
// thread.ErrNotKept.
func (c *Client) Uncompact(ctx context.Context, thread string) (restored int, err error) {
	var a struct{ Restored int }
	err = c.call(ctx, http.MethodPost, nil, &a, nil, "threads", thread, "uncompact")
	return a.Restored, err
}

// Rewind drops what follows a message, which stays, and returns how many messages that was;
// lifecycle.ErrNoMessage.
func (c *Client) Rewind(ctx context.Context, thread, message string) (removed int, err error) {
	var a struct{ Removed int }
	err = c.call(ctx, http.MethodPost, object(map[string]any{"message": message}), &a, nil, "threads", thread, "rewind")
	return a.Removed, err
}

// Export writes a thread to w. An error may come after a part of it.
func (c *Client) Export(ctx context.Context, thread string, format lifecycle.Format, w io.Writer) error {
	body, err := c.send(ctx, http.MethodGet, nil, url.Values{"format": {string(format)}}, "threads", thread, "export")
	if err != nil {
		return err
	}
	defer body.Close()
	if _, err := io.Copy(w, body); err != nil {
		return fmt.Errorf("exporting the thread %q: %w", thread, err)
	}
	return nil
}

// Import reads a JSON export into a new thread, and returns how many messages it has. Only admins
// may. lifecycle.ErrImport, and checkpointer.ErrConflict where the thread exists.
func (c *Client) Import(ctx context.Context, thread string, r io.Reader) (messages int, err error) {
	var a struct{ Messages int }
	err = c.call(ctx, http.MethodPost, r, &a, nil, "threads", thread, "import")
	return a.Messages, err
}

// Costs returns what a thread has cost, by who answered.
func (c *Client) Costs(ctx context.Context, thread string) (costs exchange.Costs, err error) {
	err = c.call(ctx, http.MethodGet, nil, &costs, nil, "threads", thread, "costs")
	return costs, err
}

// Files lists what went with a thread's messages, newest first.
func (c *Client) Files(ctx context.Context, thread string) ([]httpapi.File, error) {
	var a struct{ Files []httpapi.File }
	err := c.call(ctx, http.MethodGet, nil, &a, nil, "threads", thread, "files")
	return a.Files, err
}

// StopMember stops what a member is being asked on a thread, or with "" all that is being asked
// there, and returns the runs in which it was; the turn goes on. An [Error] of code "not_asked"
// where nobody of the name is.
func (c *Client) StopMember(ctx context.Context, thread, member string) (runs []string, err error) {
	var a struct{ Runs []string }
	err = c.call(ctx, http.MethodPost, object(map[string]any{"member": member}), &a, nil, "threads", thread, "stop")
	return a.Runs, err
}

// Waiting lists the answers that come after their turns and are waited for on a thread.
func (c *Client) Waiting(ctx context.Context, thread string) ([]httpapi.Waiting, error) {
	var a struct{ Waiting []httpapi.Waiting }
	err := c.call(ctx, http.MethodGet, nil, &a, nil, "threads", thread, "late")
	return a.Waiting, err
}

// Withdraw ends the waiting for a member's answer, which then never lands. An [Error] of code
// "not_waited" where none is waited for; the peer is not told, and may work on.
func (c *Client) Withdraw(ctx context.Context, thread, member string) error {
	return c.call(ctx, http.MethodDelete, nil, new(struct{}), nil, "threads", thread, "late", member)
}

// Search returns at most so many conversations, 1 to 100, in which a text was said, newest first;
// more says that there may be others.
func (c *Client) Search(ctx context.Context, text string, most int) (found []httpapi.Found, more bool, err error) {
	var a struct {
		Found []httpapi.Found
		More  bool
	}
	err = c.call(ctx, http.MethodGet, nil, &a, url.Values{"q": {text}, "limit": {strconv.Itoa(most)}}, "search")
	return a.Found, a.More, err
}
