package demo

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// reviewerSign is how reviewer says what it is.
const reviewerSign = "(I am a demo agent: I only read git here.)"

// notCommitted is how reviewer introduces its list of changes; proto looks for it.
const notCommitted = "not committed"

// maxChanges is how many changed files are named.
const maxChanges = 12

// repository is what git says of the working folder.
type repository struct {
	trouble string   // why it could not be read; empty when it was
	log     []string // newest first; empty when nothing is committed
	status  []string // rows of git status --short
	added   int      // lines
	removed int
	more    bool     // the diff was too long to be read whole
	remarks []string // what the diff shows that should not stay
}

// reviewerAnswer reads the last commits, the status and the diff.
func reviewerAnswer(ctx context.Context, s situation) (string, error) {
	repo, err := readRepository(ctx, s)
	if err != nil {
		return "", err
	}
	text := repo.report()
	if repo.trouble == "" {
		said, err := lastTouched(ctx, s)
		if err != nil {
			return "", err
		}
		if said != "" {
			text += "\n" + said
		}
	}
	return text + "\n" + reviewerSign, nil
}

// reviewerReact says who last changed a file that another member has just named.
func reviewerReact(ctx context.Context, s situation) (string, error) {
	return lastTouched(ctx, s)
}

// namedPlace finds file:line in what a member said.
var namedPlace = regexp.MustCompile(`([\w./-]+\.\w+):(\d+)`)

// lastTouched looks up the newest commit of the first file:line that a member named.
func lastTouched(ctx context.Context, s situation) (string, error) {
	for _, l := range s.fromMembers() {
		place := namedPlace.FindStringSubmatch(l.text)
		if place == nil {
			continue
		}
		if err := s.begin(ctx, "git log -1 -- "+place[1]); err != nil {
			return "", err
		}
		r, err := git(ctx, s.dir, "log", "-1", "--format=%h %s", "--", place[1])
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		switch text := strings.TrimSpace(r.output); {
		case err != nil || !r.ok:
		case text == "":
			return fmt.Sprintf("%s, which %s names, has never been committed.", place[0], l.author), nil
		default:
			return fmt.Sprintf("%s, which %s names, was last changed in %s.", place[0], l.author, clip(text, 120)), nil
		}
	}
	return "", nil
}

// git runs git without anything that a repository's configuration could start.
func git(ctx context.Context, dir string, args ...string) (result, error) {
	safe := []string{"--no-pager", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "-c", "color.ui=false", "-c", "log.showSignature=false"}
	return run(ctx, dir, []string{"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C"}, "git", append(safe, args...)...)
}

// readRepository reads what the report needs. The error is ctx's end or a refused step.
func readRepository(ctx context.Context, s situation) (repository, error) {
	var repo repository
	read := func(args ...string) (result, error) {
		if err := s.begin(ctx, "git "+strings.Join(args, " ")); err != nil {
			return result{}, err
		}
		r, err := git(ctx, s.dir, args...)
		if ctx.Err() != nil {
			return result{}, context.Cause(ctx)
		}
		if err != nil {
			repo.trouble = "git could not be started: " + err.Error()
		}
		return r, nil
	}
	status, err := read("status", "--short", "--untracked-files=normal")
	if err != nil || repo.trouble != "" {
		return repo, err
	}
	if !status.ok {
		repo.trouble = gitTrouble(status.output)
		return repo, nil
	}
	repo.status = slices.DeleteFunc(rows(status.output), isStore)
	log, err := read("log", "-n", "5", "--format=%h %s (%an, %ar)")
	if err != nil || !log.ok {
		return repo, err // a failing log: nothing is committed yet
	}
	repo.log = rows(log.output)
	diff, err := read("diff", "--no-ext-diff", "--no-textconv", "HEAD")
	if diff.ok {
		repo.readDiff(diff.output)
		repo.more = diff.clipped
	}
	return repo, err
}

// storeFiles is where the demo keeps its own threads, in the folder that it was started in.
var storeFiles = regexp.MustCompile(`^.. (.*/)?langrooms\.db(-wal|-shm|-journal)?$`)

// isStore recognises them in a row of git status: they are nobody's change, also when they
// were once committed.
func isStore(row string) bool { return storeFiles.MatchString(row) }

func gitTrouble(output string) string {
	if strings.Contains(output, "not a git repository") {
		return "the working folder is no git repository"
	}
	return "git says: " + clip(strings.Join(strings.Fields(output), " "), 300)
}

func rows(output string) []string {
	var out []string
	for row := range strings.Lines(output) {
		if row = strings.TrimRight(row, " \t\n"); row != "" {
			out = append(out, clip(row, 200))
		}
	}
	return out
}

// leftovers are what added lines should not hold.
var leftovers = []struct {
	pattern *regexp.Regexp
	words   string
}{
	{regexp.MustCompile(`^(<<<<<<<|>>>>>>>)( |$)`), "a conflict marker"},
	{regexp.MustCompile(`\b(TODO|FIXME|XXX)\b`), "a note that something is left to do"},
	{regexp.MustCompile(`\bpanic\(`), "a panic"},
}

// hunk reads the first added line's number of a hunk's head.
var hunk = regexp.MustCompile(`^@@ -\S+ \+(\d+)`)

// readDiff counts lines and finds leftovers among the added ones.
func (r *repository) readDiff(diff string) {
	file, at, inHunk := "", 0, false
	for row := range strings.Lines(diff) {
		row = strings.TrimRight(row, "\n")
		switch m := hunk.FindStringSubmatch(row); {
		case strings.HasPrefix(row, "diff --git "):
			file, inHunk = "", false
		case m != nil:
			at, _ = strconv.Atoi(m[1]) // the pattern has digits only
			inHunk = true
		case !inHunk:
			if name, ok := strings.CutPrefix(row, "+++ b/"); ok {
				file = name
			}
		case strings.HasPrefix(row, "+"):
			r.added++
			r.remark(file, at, row[1:])
			at++
		case strings.HasPrefix(row, "-"):
			r.removed++
		default:
			at++
		}
	}
}

func (r *repository) remark(file string, at int, text string) {
	for _, l := range leftovers {
		if l.pattern.MatchString(text) && len(r.remarks) < maxFindings {
			r.remarks = append(r.remarks, fmt.Sprintf("%s:%d adds %s", file, at, l.words))
		}
	}
}

// report puts the repository into words.
func (r repository) report() string {
	if r.trouble != "" {
		return "I could not look: " + r.trouble + "."
	}
	var b strings.Builder
	if len(r.status) == 0 {
		b.WriteString("Everything is committed; the working folder is clean.")
	} else {
		fmt.Fprintf(&b, "%s %s", plural(len(r.status), "change"), notCommitted)
		if r.added+r.removed > 0 {
			atLeast := ""
			if r.more {
				atLeast = "at least "
			}
			fmt.Fprintf(&b, " (%s+%d −%d lines)", atLeast, r.added, r.removed)
		}
		b.WriteString(": " + changes(r.status) + ".")
	}
	for _, remark := range r.remarks {
		b.WriteString("\n" + remark + ".")
	}
	if len(r.log) == 0 {
		b.WriteString("\nNothing has been committed yet.")
		return b.String()
	}
	b.WriteString("\nLast commits:")
	for _, row := range r.log {
		b.WriteString("\n- " + row)
	}
	return b.String()
}

// changes names the changed files of git status.
func changes(status []string) string {
	var names []string
	for i, row := range status {
		if i == maxChanges {
			names = append(names, fmt.Sprintf("%d more", len(status)-i))
			break
		}
		_, name, _ := strings.Cut(strings.TrimSpace(row), " ")
		name = strings.TrimSpace(name)
		if strings.HasPrefix(row, "??") {
			name += " (new)"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}
