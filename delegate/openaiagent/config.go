package openaiagent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/langrooms/langrooms/delegate"
)

// The defaults of a [Config].
const (
	DefaultMaxTokens    = 1024
	DefaultTimeout      = 60 * time.Second
	DefaultTotalTimeout = 10 * time.Minute
)

// Config describes one endpoint (spec: rooms, section 6, "openai").
type Config struct {
	// Name is the roster's name; see [delegate.CheckName]. Required.
	Name        string
	Description string
	// URL is the endpoint's base, such as http://127.0.0.1:11434/v1: an absolute http or
	// https URL without user, query and fragment. Required.
	URL string
	// Model is the model to ask for. Required.
	Model string
	// APIKey returns the key; it is called at each use, so a rotated key needs no new
	// agent. Nil or an empty key sends none.
	APIKey func() (string, error)
	// SystemPrompt goes before each prompt; empty sends none.
	SystemPrompt string
	// Accepts are the media types of files that the model takes (delegate.Takes), images as
	// image_url, sounds as input_audio, others as file; nil means none.
	Accepts []string
	// MaxTokens bounds an answer; 0 means [DefaultMaxTokens].
	MaxTokens int
	// Temperature is from 0 to 2, and 0 is sent as 0; nil sends none.
	Temperature *float64
	// Params are further fields of each request, by their names at the endpoint; one of the
	// agent's own with such a name gives way. "messages" and "stream" are refused.
	Params map[string]any
	// Whole asks for the answer in one piece instead of a stream.
	Whole bool
	// KeyHeader is the header that carries the key, as it is; empty means
	// "Authorization: Bearer <key>".
	KeyHeader string
	// APIVersion, when set, is sent as the query parameter api-version, which Azure's
	// classic URLs want.
	APIVersion string
	// OwnReplies asks for its own replies in what it is shown of the thread: a completion
	// remembers nothing.
	OwnReplies bool
	// Timeout bounds the time between two signs of life: from the request to the first byte
	// of the answer, and from one to the next. 0 means [DefaultTimeout].
	Timeout time.Duration
	// TotalTimeout bounds an ask from its start to the end of the answer; 0 means
	// [DefaultTotalTimeout], or Timeout where that is longer.
	TotalTimeout time.Duration
	// HTTP is how the endpoint is reached beyond its URL and key.
	HTTP delegate.HTTP
	// HTTPClient makes the requests; nil means one of the agent's own, which Close ends.
	// Its CheckRedirect is not used: redirects to another host are never followed.
	HTTPClient *http.Client
}

// complete returns c with its defaults, or an error that names the field.
func (c Config) complete() (Config, error) {
	if err := delegate.CheckName(c.Name); err != nil {
		return c, fmt.Errorf("name: %w", err)
	}
	if err := checkURL(c.URL); err != nil {
		return c, fmt.Errorf("url: %w", err)
	}
	c.URL = strings.TrimRight(c.URL, "/")
	if t := c.Temperature; t != nil && !(*t >= 0 && *t <= 2) { // also refuses NaN
		return c, fmt.Errorf("temperature: %v is not between 0 and 2", *t)
	}
	for _, name := range []string{"messages", "stream"} {
		if _, given := c.Params[name]; given {
			return c, fmt.Errorf("params: %s cannot be set there", name)
		}
	}
	if _, err := json.Marshal(c.Params); err != nil {
		return c, fmt.Errorf("params: %w", err)
	}
	switch {
	case strings.TrimSpace(c.Model) == "":
		return c, fmt.Errorf("model: it is empty")
	case c.MaxTokens < 0:
		return c, fmt.Errorf("max_tokens: %d is negative", c.MaxTokens)
	case c.Timeout < 0:
		return c, fmt.Errorf("timeout_s: %v is negative", c.Timeout)
	case c.TotalTimeout < 0:
		return c, fmt.Errorf("total_timeout_s: %v is negative", c.TotalTimeout)
	}
	c.MaxTokens = cmp.Or(c.MaxTokens, DefaultMaxTokens)
	c.Timeout = cmp.Or(c.Timeout, DefaultTimeout)
	c.TotalTimeout = cmp.Or(c.TotalTimeout, max(DefaultTotalTimeout, c.Timeout))
	c.Params, c.Accepts = maps.Clone(c.Params), slices.Clone(c.Accepts)
	return c, nil
}

// checkURL reports why base cannot be the base of an endpoint. It never repeats a part
// of a URL that may hold a secret.
func checkURL(base string) error {
	if base == "" {
		return fmt.Errorf("it is empty")
	}
	u, err := url.Parse(base)
	switch {
	case err != nil:
		return fmt.Errorf("it cannot be read as a URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("the scheme %q is neither http nor https", u.Scheme)
	case u.Host == "":
		return fmt.Errorf("it names no host")
	case u.User != nil:
		return fmt.Errorf("it holds a user or password; use the API key instead")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return fmt.Errorf("it has a query or fragment, which a base URL cannot have")
	}
	return nil
}
