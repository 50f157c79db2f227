package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/langrooms/langrooms"
)

// maxMessage bounds what is read for one message, in bytes: every message that is taken fits.
const maxMessage = 4*langrooms.MaxText + 2

// messageText is the message of -m: the text itself, standard input for "-", or a file's words
// for "@FILE". A delegate of that name goes before a file.
func (p *program) messageText(given string, roster []string) (string, error) {
	if given == "-" {
		return readMessage(p.in, "standard input")
	}
	path, ok := strings.CutPrefix(given, "@")
	if !ok || path == "" {
		return given, nil
	}
	for _, name := range roster {
		if strings.EqualFold(name, path) {
			return given, nil
		}
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.Mode().IsRegular():
	case strings.ContainsRune(path, os.PathSeparator) && !strings.ContainsAny(path, " \n"):
		return "", usageError{fmt.Errorf("-m %s: there is no such file", given)}
	default:
		return given, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return readMessage(f, path)
}

// readMessage reads a message whole; one line break at its end is none of its own.
func readMessage(r io.Reader, from string) (string, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxMessage+1))
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", from, err)
	}
	if len(data) > maxMessage {
		return "", fmt.Errorf("%w: %s is longer than %d bytes", langrooms.ErrText, from, maxMessage)
	}
	text := strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	if strings.TrimSpace(text) == "" {
		return "", usageError{errors.New("the message of -m is empty")}
	}
	return text, nil
}

// isTerminal reports whether a person types there.
func isTerminal(in io.Reader) bool {
	f, ok := in.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
