package hotreload

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

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
