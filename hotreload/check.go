package hotreload

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/langrooms/langrooms/internal/names"
)

// checkLeadName is the rule for the lead's name: a roster name that may also be "lead" or
// "assistant".
func checkLeadName(name string) error {
	if low := strings.ToLower(name); low == "lead" || low == "assistant" {
		return nil
	}
	return names.CheckName(name)
}

// checkURL takes http and https addresses without a user, and demo:NAME.
func checkURL(raw string) error {
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

// checkBaseURL takes what checkURL takes and something can be appended to.
func checkBaseURL(raw string) error {
	if err := checkURL(raw); err != nil {
		return err
	}
	if strings.ContainsAny(raw, "?#") {
		return errors.New("has a query or fragment, which a base URL cannot have")
	}
	return nil
}

func checkStoreURL(raw string) error {
	for _, s := range storeSchemes() {
		if strings.HasPrefix(raw, s) {
			if s == "sqlite:" && len(raw) == len(s) {
				return errors.New("sqlite: names no file")
			}
			return nil
		}
	}
	return fmt.Errorf("must start with one of %s", strings.Join(storeSchemes(), " "))
}

func checkAddr(addr string) error {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return errors.New("must be HOST:PORT")
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return fmt.Errorf("port %s is not a number from 0 to 65535", shown(port))
	}
	return nil
}

var (
	errVariable  = errors.New("is not the name of an environment variable")
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// checkVariable is the rule for a variable that holds a secret: a name as shells have them,
// so that a key that was put in its place is refused and not shown as a name.
func checkVariable(name string) error {
	if !variableName.MatchString(name) {
		return errVariable
	}
	return nil
}

// checkEnvName is the rule for a variable of a child process: what a system takes.
func checkEnvName(name string) error {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r == '=' || unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return errVariable
	}
	return nil
}

// checkHeader takes the name of an HTTP header (RFC 9110, 5.1).
func checkHeader(name string) error {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	}) {
		return errors.New("is not the name of a header")
	}
	return nil
}

// nearest returns the candidate closest to word, if one is close enough to be meant.
func nearest(word string, candidates []string) string {
	best, bound := "", max(2, len(word)/3)
	for _, c := range candidates {
		if d := names.Distance(strings.ToLower(word), strings.ToLower(c), bound); d <= bound && d < len(c) {
			best, bound = c, d-1
		}
	}
	return best
}
