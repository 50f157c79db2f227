package roomnode_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/langrooms/langrooms/checkpointer"
)

var update = flag.Bool("update", false, "rewrite the expected parts of the transcripts and docs/rules.md")

// TestTranscripts plays each testdata/*.txtar on each store. A file is named after the rule
// of the room that it shows, and its comment says the rule in prose. Its parts are played
// in order:
//
//	roster   a delegate a line: NAME [stateless|own_replies|images]; another roster later swaps it
//	roster while waiting   the same, but at the moment when the next say waits for the thread
//	knobs    a line each: messages N · chars N · rounds N · lead NAME · parallel on|off · cost DOLLARS ·
//	         price NAME INPUT OUTPUT · incognito on|off · collect on|off
//	before   messages that are put on the thread, as in "thread" below; see parseHead
//	compact  keep=N members=NAME:SEEN,…, and on further lines the summary
//	store    what the store does during the next say, a line a fault:
//	           put N fails    the Nth put finds the store away; the next one is well again
//	           put N down     from the Nth put on the store is away
//	           put N large    the Nth put is refused as too large
//	           put N dies     the process dies when the Nth put is done
//	           put N lost     the process dies before the Nth put is done
//	           read N fails   the Nth reading of messages finds the store away
//	script   what the delegates do, a line an answer, in order for each name:
//	           NAME: words          (quoted by Go's rules when they need it; "" is an empty reply)
//	           NAME! KIND words     fails with this kind and cause
//	           NAME! still_running TASK words   fails, and the peer goes on; so with any KIND
//	                                and a TASK that reads task-N
//	           NAME> KIND words     reports progress; another line follows
//	           NAME+ OTHER          waits until OTHER has answered, or with OTHER> reported
//	                                progress; another line follows
//	           NAME$ IN OUT [DOLLARS]   what the next answer tells of its cost; another line follows
//	           NAME^ FILE TYPE      a picture that comes with the next answer under this name and type
//	           NAME% INCIDENT       see actor.incident
//	attach   a file a line that goes with the next say: NAME TYPE
//	say      the operator's message, without the file's last line break
//	prompts  what each dispatched member was sent in that turn
//	thread   what the turn put on the thread
//	reply    what the operator got, and below a line of --- how it ended
//	events   the turn's events
//	result   the same facts as JSON, without times
//	costs    what the thread has cost so far, by member and in all
//
// The last six are expectations, compared where they stand; go test -update rewrites them.
func TestTranscripts(t *testing.T) {
	for _, store := range stores {
		t.Run(store.name, func(t *testing.T) {
			if *update && store.name != "memory" {
				t.Skip("the expectations are rewritten from the memory store")
			}
			for _, file := range transcripts(t) {
				t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
					if store.real {
						play(t, file, store.open(t), true)
						return
					}
					synctest.Test(t, func(t *testing.T) { play(t, file, store.open(t), false) })
				})
			}
		})
	}
}

func transcripts(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	return files
}

// play plays one transcript; real says that its time is the clock's.
func play(t *testing.T, file string, saver checkpointer.Saver, real bool) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if real && takesTime(archive) {
		t.Skip("the store is away until the retries end; played on the memory store, with its time")
	}
	p := newPlayer(t, saver)
	changed := false
	var got map[string]string
	for i := range archive.Files {
		f := &archive.Files[i]
		text := strings.TrimSuffix(string(f.Data), "\n")
		if f.Name == "say" {
			got = p.say(text)
			continue
		}
		if p.prepare(f.Name, text) {
			continue
		}
		result, ok := got[f.Name]
		if !ok {
			t.Fatalf("%s: no such part, or no say before it: %q", file, f.Name)
		}
		if want := string(f.Data); want != result {
			if *update {
				f.Data, changed = []byte(result), true
				continue
			}
			t.Errorf("%s (-want +got):\n%s", f.Name, cmp.Diff(want, result))
		}
	}
	if got == nil {
		t.Fatalf("%s: nobody says anything", file)
	}
	p.checkLeftovers()
	if changed {
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func takesTime(archive *txtar.Archive) bool {
	for _, f := range archive.Files {
		if f.Name == "store" && strings.Contains(string(f.Data), "down") {
			return true
		}
	}
	return false
}
