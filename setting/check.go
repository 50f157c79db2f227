package setting

import (
	"errors"
	"net/url"
	"regexp"
	"strings"
	"unicode"
)

// CheckURL takes http and https addresses without a user, and demo:NAME.
func CheckURL(raw string) error {
	if name, ok := strings.CutPrefix(raw, "demo:"); ok && name != "" {
		return nil
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil: // it quotes the text, which may hold a password
		return errors.New("is not a URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("must start with http:// or https://")
	case u.Host == "":
		return errors.New("names no host")
	case u.User != nil:
		return errors.New("holds a user or password; a credential has a key of its own")
	}
	return nil
}

// CheckBaseURL takes what CheckURL takes and something can be appended to.
func CheckBaseURL(raw string) error {
	if err := CheckURL(raw); err != nil {
		return err
	}
	if strings.ContainsAny(raw, "?#") {
		return errors.New("has a query or fragment, which a base URL cannot have")
	}
	return nil
}

var (
	errVariable  = errors.New("is not the name of an environment variable")
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// CheckVariable is the rule for a variable that holds a secret: a name as shells have them,
// so that a key that was put in its place is refused and not shown as a name.
func CheckVariable(name string) error {
	if !variableName.MatchString(name) {
		return errVariable
	}
	return nil
}

// CheckEnvName is the rule for a variable of a child process: what a system takes.
func CheckEnvName(name string) error {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r == '=' || unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return errVariable
	}
	return nil
}

// CheckHeader takes the name of an HTTP header (RFC 9110, 5.1).
func CheckHeader(name string) error {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	}) {
		return errors.New("is not the name of a header")
	}
	return nil
}

// RedactURL hides what stands before the last @ of raw's address, and a query that
// seems to carry a credential.
func RedactURL(raw string) string {
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return raw
	}
	address, query, hasQuery := strings.Cut(rest, "?")
	if i := strings.LastIndex(rest, "@"); i >= 0 {
		address, query, hasQuery = strings.Cut("***"+rest[i:], "?")
	}
	out := scheme + "://" + address
	if hasQuery {
		if secretQuery.MatchString(query) {
			query = "***"
		}
		out += "?" + query
	}
	return out
}

// secretQuery finds a query that may carry a credential.
var secretQuery = regexp.MustCompile(`(?i)pass|pwd|key|token|secret|auth|cred|sig|code`)
