package completion

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/internal/redact"
)

// Refusal is an answer that is not a success.
type Refusal struct {
	Status int
	// Message is the peer's own short message, Param the request's field it objects to
	// (OpenAI API reference, "Error object"); either may be empty.
	Message string
	Param   string
}

func (e *Refusal) Error() string {
	text := strings.TrimSpace(fmt.Sprintf("HTTP %d %s", e.Status, http.StatusText(e.Status)))
	if e.Message == "" {
		return text
	}
	return text + ": " + e.Message
}

// maxErrorBody bounds what is read of a failure's body, in bytes.
const maxErrorBody = 64 << 10

// MaxMessage bounds what is told of a peer's message, in code points.
const MaxMessage = 500

// ReadRefusal returns what an answer outside 2xx says, without secrets.
func ReadRefusal(resp *http.Response, secrets redact.Set) *Refusal {
	e := &Refusal{Status: resp.StatusCode}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // what came before a break is enough
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain") {
		e.Message = string(body)
	}
	var object struct {
		Error, Message, Detail json.RawMessage
	}
	if json.Unmarshal(unlisted(body), &object) == nil {
		for _, raw := range []json.RawMessage{object.Error, object.Message, object.Detail} {
			if message, param, ok := peerError(raw); ok {
				e.Message, e.Param = message, param
				break
			}
		}
	}
	if e.Message == "" && resp.StatusCode/100 == 3 {
		e.Message = "it redirects to " + origin(resp) + ", which is not followed"
	}
	e.Message = delegate.OneLine(secrets.Text(e.Message), MaxMessage)
	return e
}

// unlisted is the first element of a body that is a list, as some endpoints send an error.
func unlisted(body []byte) []byte {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		return list[0]
	}
	return body
}

// origin is where a redirect leads, without the parts that may hold a secret.
func origin(resp *http.Response) string {
	to, err := resp.Location()
	if err != nil {
		return "nowhere"
	}
	return (&url.URL{Scheme: to.Scheme, Host: to.Host, Path: to.Path}).String()
}

// peerError reads an error object, or an error that is just a string. It reports false
// for null, empty and other shapes.
func peerError(raw json.RawMessage) (message, param string, ok bool) {
	if json.Unmarshal(raw, &message) == nil {
		return message, "", message != ""
	}
	var object struct {
		Message string
		Param   any
	}
	if json.Unmarshal(raw, &object) != nil {
		return "", "", false
	}
	param, _ = object.Param.(string)
	return object.Message, param, true
}
