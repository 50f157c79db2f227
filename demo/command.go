package demo

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// maxOutput bounds what is kept of a command's output, in bytes.
const maxOutput = 256 << 10

// killGrace is how long a command's output is still read after it was ended.
const killGrace = 2 * time.Second

// result is what a command came to.
type result struct {
	// output is standard output and error as they came, clipped to maxOutput.
	output string
	ok     bool
	// clipped means that there was more output.
	clipped bool
}

// run runs a command in dir until it ends or ctx does; then its whole process group is
// ended. An exit status other than 0 is no error.
func run(ctx context.Context, dir string, env []string, name string, args ...string) (result, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = ownGroup()
	cmd.Cancel = func() error { return killGroup(cmd.Process) }
	cmd.WaitDelay = killGrace
	var out clipped
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if ctx.Err() != nil {
		return result{}, context.Cause(ctx)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return result{}, err
	}
	return result{output: clean(string(out.kept)), ok: err == nil, clipped: out.more}, nil
}

// clipped keeps the first maxOutput bytes.
type clipped struct {
	kept []byte
	more bool
}

func (c *clipped) Write(p []byte) (int, error) {
	room := min(len(p), maxOutput-len(c.kept))
	c.kept, c.more = append(c.kept, p[:room]...), c.more || room < len(p)
	return len(p), nil
}

// clean makes text valid UTF-8 without control characters but tabs and line breaks.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// clip cuts text to at most n code points.
func clip(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	return string(runes[:n]) + "…"
}

// plural is "1 file", "2 files".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
