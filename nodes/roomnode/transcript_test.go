package roomnode_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/nodes/roomnode"
)

var update = flag.Bool("update", false, "rewrite the expected parts of the transcripts")

// TestTranscripts plays each testdata/*.txtar. Its comment says in prose which rule it
// shows. The files are played in order:
//
//	roster   a delegate a line: NAME [stateless]; another roster later swaps it
//	knobs    a line each: messages N · chars N · rounds N · lead NAME · incognito
//	before   messages that are on the thread already, as in "thread" below
//	script   what the delegates do, a line an answer, in order for each name:
//	           NAME: words (quoted by Go's rules when they need it; "" is an empty reply)
//	           NAME! KIND words     fails with this kind and cause
//	           NAME! still_running TASK words   fails, and the peer goes on
//	           NAME% stop           the operator stops the turn while this one works
//	           NAME% crash          the process dies while this one works
//	           NAME% leave OTHER    OTHER leaves the roster while this one works
//	           NAME% busy OTHER     another operator message is waiting (unused by rules)
//	say      the operator's message, without the file's last line break
//	prompts  what each dispatched member was sent in that turn
//	thread   what the turn put on the thread
//	reply    what the operator got, and below a line of --- how it ended
//
// The last three are expectations; go test -update rewrites them.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for name, open := range savers {
		t.Run(name, func(t *testing.T) {
			for _, file := range files {
				t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
					play(t, file, open(t))
				})
			}
		})
	}
}

// player plays one transcript.
type player struct {
	t         *testing.T
	saver     checkpointer.Saver
	live      *delegate.Live
	node      *roomnode.Node
	knobs     roomnode.Knobs
	incognito bool
	script    map[string][]string
	prompts   bytes.Buffer
	exchanges map[string]string
	shown     int
	stop      context.CancelCauseFunc
	roster    []string
}

const thread = "the thread"

func play(t *testing.T, file string, saver checkpointer.Saver) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	empty, err := delegate.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	p := &player{t: t, saver: saver, live: delegate.NewLive(empty), script: map[string][]string{},
		exchanges: map[string]string{}, knobs: roomnode.Knobs{CatchupMaxMessages: 40, CatchupMaxChars: 8000, MaxRounds: 3}}
	p.node, err = roomnode.New(roomnode.Config{Saver: saver, Roster: p.live,
		Knobs:   func() roomnode.Knobs { return p.knobs },
		Collect: func(delegate.Handle) bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	changed := false
	var got map[string]string
	for i := range archive.Files {
		f := &archive.Files[i]
		text := strings.TrimSuffix(string(f.Data), "\n")
		switch f.Name {
		case "roster":
			p.setRoster(strings.Split(text, "\n"))
		case "knobs":
			p.setKnobs(strings.Split(text, "\n"))
		case "before":
			p.before(text)
		case "script":
			p.setScript(text)
		case "say":
			got = p.say(text)
		case "prompts", "thread", "reply":
			if got == nil {
				t.Fatalf("%s: %q before any say", file, f.Name)
			}
			if want := string(f.Data); want != got[f.Name] {
				if *update {
					f.Data, changed = []byte(got[f.Name]), true
					continue
				}
				t.Errorf("%s (-want +got):\n%s", f.Name, cmp.Diff(want, got[f.Name]))
			}
		default:
			t.Fatalf("%s: no such file in a transcript: %q", file, f.Name)
		}
	}
	if got == nil {
		t.Fatalf("%s: nobody says anything", file)
	}
	for name, rest := range p.script {
		if len(rest) > 0 {
			t.Errorf("@%s was not asked for: %q", name, rest)
		}
	}
	if changed {
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func (p *player) setRoster(lines []string) {
	p.roster = lines
	var members []delegate.Delegate
	for _, line := range lines {
		if name, how, _ := strings.Cut(line, " "); name != "" {
			members = append(members, &actor{p: p, name: name, stateless: how == "stateless"})
		}
	}
	r, err := delegate.NewRegistry(members...)
	if err != nil {
		p.t.Fatal(err)
	}
	p.live.Swap(r)
}

func (p *player) setKnobs(lines []string) {
	for _, line := range lines {
		key, value, _ := strings.Cut(line, " ")
		n, err := strconv.Atoi(value)
		switch key {
		case "messages":
			p.knobs.CatchupMaxMessages = n
		case "chars":
			p.knobs.CatchupMaxChars = n
		case "rounds":
			p.knobs.MaxRounds = n
		case "lead":
			p.knobs.Lead, err = value, nil
		case "incognito":
			p.incognito, err = true, nil
		default:
			err = errors.New("no such knob")
		}
		if err != nil {
			p.t.Fatalf("knob %q: %v", line, err)
		}
	}
}

func (p *player) setScript(text string) {
	for _, line := range strings.Split(text, "\n") {
		i := strings.IndexAny(line, ":!%")
		if i < 0 {
			p.t.Fatalf("script %q: no name in front of a ':', '!' or '%%'", line)
		}
		p.script[line[:i]] = append(p.script[line[:i]], line[i:])
	}
}

// say takes one turn and returns what came of it, rendered.
func (p *player) say(text string) map[string]string {
	p.prompts.Reset()
	ctx, stop := context.WithCancelCause(p.t.Context())
	defer stop(nil)
	p.stop = stop
	result, err := p.crashable(func() (langrooms.Result, error) {
		return p.node.Handle(ctx, roomnode.Turn{Thread: thread, Text: text, Incognito: p.incognito})
	})
	added := p.render()
	reply := result.Text + "\n---\n" + p.ending(result, err)
	return map[string]string{"prompts": p.prompts.String(), "thread": added, "reply": reply}
}

// crash is what a scripted death of the process panics with.
type crash struct{}

func (p *player) crashable(turn func() (langrooms.Result, error)) (r langrooms.Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			if _, ok := v.(crash); !ok {
				panic(v)
			}
			err = errors.New("the process died")
		}
	}()
	return turn()
}

func (p *player) ending(r langrooms.Result, err error) string {
	var b strings.Builder
	fmt.Fprintf(&b, "handled %t", r.Handled)
	if r.Reason != "" {
		fmt.Fprintf(&b, ", %s", r.Reason)
	}
	b.WriteByte('\n')
	for _, o := range r.Outcomes {
		fmt.Fprintf(&b, "@%s round %d: ", o.Author, o.Round)
		switch {
		case o.Error != "":
			fmt.Fprintf(&b, "%s", o.ErrorKind)
		case o.Silent:
			b.WriteString("silent")
		default:
			b.WriteString("ok")
		}
		fmt.Fprintf(&b, ", caught up %d", o.CaughtUp)
		if o.Truncated {
			b.WriteString(", truncated")
		}
		if o.Collecting {
			b.WriteString(", collecting")
		}
		b.WriteByte('\n')
	}
	if err != nil {
		fmt.Fprintf(&b, "error: %v\n", err)
	}
	return b.String()
}
