package demo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// protoSign is how proto says what it is.
const protoSign = "(I am a demo agent: I only run the go tool here.)"

// maxFindings is how many complaints of the go tool are quoted.
const maxFindings = 10

// finding is one complaint of the go tool.
type finding struct {
	file string // slash-separated, from the working folder
	line string
	text string
}

func (f finding) String() string { return f.file + ":" + f.line + ": " + f.text }

// check is what building and vetting came to.
type check struct {
	// trouble is why it could not be done; empty when it was.
	trouble string
	// failed is the command that failed; empty when all is well.
	failed   string
	findings []finding
	// output is the failed command's, for the case that no finding was recognised.
	output string
	empty  bool
}

// protoAnswer builds and vets the working folder and says what broke.
func protoAnswer(ctx context.Context, s situation) (string, error) {
	c, err := buildAndVet(ctx, s)
	if err != nil {
		return "", err
	}
	return c.report() + "\n" + protoSign, nil
}

// protoReact says where its own finding stands in what a reviewer said of the changes.
func protoReact(ctx context.Context, s situation) (string, error) {
	c, err := buildAndVet(ctx, s)
	if err != nil || c.trouble != "" {
		return "", err
	}
	for _, l := range s.fromMembers() {
		if said := c.about(l); said != "" {
			return said, nil
		}
	}
	return "", nil
}

// about relates the check to the changes that a member lists, if it does.
func (c check) about(l line) string {
	listed := ""
	for row := range strings.Lines(l.text) {
		if strings.Contains(row, notCommitted) {
			listed = row
		}
	}
	if listed == "" {
		return ""
	}
	for _, f := range c.findings {
		if mentions(listed, f.file) {
			return fmt.Sprintf("What breaks is a file that %s names: %s", l.author, f)
		}
	}
	switch {
	case len(c.findings) > 0:
		return fmt.Sprintf("None of the changes that %s lists is where it breaks: %s", l.author, c.findings[0])
	case c.failed == "":
		return fmt.Sprintf("What I found healthy is the working folder as it lies here, with the changes that %s lists.", l.author)
	}
	return ""
}

// mentions reports whether text names the file by its path or its base name.
func mentions(text, file string) bool {
	name := regexp.QuoteMeta(path.Base(file))
	found, err := regexp.MatchString(`(^|[\s/"'(`+"`"+`])`+name+`($|[\s:,;.)"'`+"`"+`])`, text)
	return err == nil && found
}

// buildAndVet runs the go tool. The error is ctx's end or a refused step.
func buildAndVet(ctx context.Context, s situation) (check, error) {
	if trouble := lookForGo(s.dir); trouble != "" {
		return check{trouble: trouble}, nil
	}
	for _, command := range []struct {
		title string
		args  []string
	}{
		// A single main package would leave its program in the folder without -o.
		{"go build ./...", []string{"build", "-o", os.DevNull, "./..."}},
		// With -trimpath in GOFLAGS it would name the file of whichever folder it saw first.
		{"go vet ./...", []string{"vet", "-trimpath=false", "./..."}},
	} {
		if err := s.begin(ctx, command.title); err != nil {
			return check{}, err
		}
		r, err := run(ctx, s.dir, nil, "go", command.args...)
		if ctx.Err() != nil {
			return check{}, context.Cause(ctx)
		}
		if err != nil {
			return check{trouble: "`" + command.title + "` could not be started: " + err.Error()}, nil
		}
		if !r.ok {
			return check{failed: command.title, findings: findings(r.output), output: r.output}, nil
		}
		if strings.Contains(r.output, "matched no packages") {
			return check{empty: true}, nil
		}
	}
	return check{}, nil
}

// lookForGo says why the go tool cannot look at dir, or "".
func lookForGo(dir string) string {
	if info, err := os.Stat(dir); err != nil {
		return "the working folder cannot be read"
	} else if !info.IsDir() {
		return "the working folder is no folder"
	}
	if _, err := exec.LookPath("go"); err != nil {
		return "there is no go tool in $PATH"
	}
	at, err := filepath.Abs(dir)
	for err == nil {
		for _, name := range []string{"go.mod", "go.work"} {
			if _, err := os.Stat(filepath.Join(at, name)); !errors.Is(err, fs.ErrNotExist) {
				return ""
			}
		}
		if at == filepath.Dir(at) {
			break
		}
		at = filepath.Dir(at)
	}
	return "the working folder is no Go module: there is no go.mod in it or above it"
}

// atLine matches a complaint with its place.
var atLine = regexp.MustCompile(`^(?:vet: )?([^:]+\.go):(\d+)(?::\d+)?: (.+)$`)

func findings(output string) []finding {
	var found []finding
	for row := range strings.Lines(output) {
		if m := atLine.FindStringSubmatch(strings.TrimRight(row, "\n")); m != nil {
			file := strings.TrimPrefix(filepath.ToSlash(m[1]), "./")
			found = append(found, finding{file, m[2], clip(m[3], 300)})
		}
	}
	return found
}

// report puts the check into words.
func (c check) report() string {
	switch {
	case c.trouble != "":
		return "I could not look: " + c.trouble + "."
	case c.empty:
		return "There is nothing to build: no Go packages in the working folder."
	case c.failed == "":
		return "The working folder is healthy: `go build ./...` and `go vet ./...` found nothing."
	case len(c.findings) == 0:
		return "`" + c.failed + "` fails:\n" + quote(c.output)
	}
	var b strings.Builder
	if c.failed == "go vet ./..." {
		b.WriteString("It builds. ")
	}
	fmt.Fprintf(&b, "`%s` fails in %s:", c.failed, plural(len(c.findings), "place"))
	for i, f := range c.findings {
		if i == maxFindings {
			fmt.Fprintf(&b, "\n… and %d more.", len(c.findings)-i)
			break
		}
		b.WriteString("\n" + f.String())
	}
	return b.String()
}

// quote returns the first rows of an output.
func quote(output string) string {
	rows := strings.SplitN(strings.TrimSpace(output), "\n", 6)
	return clip(strings.Join(rows[:min(len(rows), 5)], "\n"), 1000)
}
