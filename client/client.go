package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/httpapi"
)

// Config wires a [Client].
type Config struct {
	// URL is the server's, such as http://127.0.0.1:8123. Required.
	URL string
	// Key is one of the server's keys; empty sends none.
	Key string
	// HTTP sends the requests; nil is a client that follows no redirect, which would carry the
	// key elsewhere. It should not either.
	HTTP *http.Client
}

// Client asks one server. Make one with [New].
type Client struct {
	base *url.URL
	key  string
	http *http.Client
}

// New returns a client. It does no I/O.
func New(cfg Config) (*Client, error) {
	base, err := url.Parse(cfg.URL)
	switch {
	case err != nil, base.Scheme != "http" && base.Scheme != "https", base.Host == "":
		return nil, errors.New("client: Config.URL is not the address of a server")
	case base.User != nil || base.RawQuery != "" || base.Fragment != "":
		return nil, errors.New("client: Config.URL may have no user, query or fragment")
	case cfg.Key != strings.TrimSpace(cfg.Key) || strings.ContainsAny(cfg.Key, "\r\n"):
		return nil, errors.New("client: Config.Key has white space around it or a line break")
	}
	if cfg.HTTP == nil {
		cfg.HTTP = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	return &Client{base, cfg.Key, cfg.HTTP}, nil
}

// Error is a refusal of the server's.
type Error struct {
	// Status is the HTTP status, Code the server's word for the reason, empty where it gave none.
	Status int
	Code   string
	// Message says it in words: one line, bounded.
	Message string
}

// Error returns the words.
func (e *Error) Error() string {
	return cmp.Or(e.Message, fmt.Sprintf("the server answered %d", e.Status))
}

// Unwrap returns the error that the code stands for, nil where it stands for none.
func (e *Error) Unwrap() error { return httpapi.Cause(e.Code) }

const (
	// maxAnswer bounds an answer in bytes; an export has no bound.
	maxAnswer = 64 << 20
	// maxRefusal bounds a refusal in bytes, maxCode its code.
	maxRefusal = 64 << 10
	maxCode    = 100
)

// send sends a request and returns the answer's body, which must be closed.
func (c *Client) send(ctx context.Context, method string, body io.Reader, query url.Values, path ...string) (io.ReadCloser, error) {
	for i := range path {
		path[i] = url.PathEscape(path[i])
	}
	at := strings.TrimSuffix(c.base.String(), "/") + "/api/" + strings.Join(path, "/")
	if len(query) > 0 {
		at += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, at, body)
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" {
		req.Header.Set("X-Api-Key", c.key)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		defer resp.Body.Close()
		return nil, refusal(resp)
	}
	return resp.Body, nil
}

// refusal reads why the server does not do it.
func refusal(resp *http.Response) error {
	var body struct {
		Detail struct{ Code, Message string }
	}
	data, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal)) // what is there says enough, or nothing
	_ = json.Unmarshal(data, &body)
	return &Error{Status: resp.StatusCode, Code: delegate.OneLine(body.Detail.Code, maxCode), Message: delegate.OneLine(body.Detail.Message, delegate.MaxCause)}
}

// object is a body. What is sent here can be encoded.
func object(fields map[string]any) io.Reader {
	data, _ := json.Marshal(fields)
	return bytes.NewReader(data)
}

// call sends a request, with a body unless it is nil, and decodes the answer.
func (c *Client) call(ctx context.Context, method string, body io.Reader, into any, query url.Values, path ...string) error {
	answer, err := c.send(ctx, method, body, query, path...)
	if err != nil {
		return err
	}
	defer answer.Close()
	data, err := io.ReadAll(io.LimitReader(answer, maxAnswer+1))
	switch {
	case err != nil:
		return fmt.Errorf("reading the answer: %w", err)
	case len(data) > maxAnswer:
		return fmt.Errorf("the answer is longer than %d bytes", maxAnswer)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	return nil
}
