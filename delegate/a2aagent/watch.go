package a2aagent

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"iter"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"

	"github.com/langrooms/langrooms"
)

const (
	// maxEvent bounds one event of a subscription in bytes; a longer one ends it.
	maxEvent = 16 << 20
	// maxReport bounds the text of one report of state in code points.
	maxReport = 4000
)

// watcher reads a task's subscription. It only reports: what the answer is, is decided by
// looking at the task. The zero value watches nothing.
type watcher struct {
	reports chan langrooms.Progress
	done    chan struct{}
	seen    bool // that it is over
}

// watch subscribes to the task when the peer's card offers streaming. The watcher ends
// with ctx, with the subscription, or when the task has settled.
func (x *ask) watch(ctx context.Context) *watcher {
	w := &watcher{}
	if !x.peer.streaming {
		return w
	}
	w.reports, w.done = make(chan langrooms.Progress), make(chan struct{})
	p, id := *x.peer, x.task.id
	go func() {
		defer close(w.done)
		var answer assembly
		for u := range p.subscribe(ctx, id) {
			for _, report := range u.reports(&answer, p.session) {
				select {
				case w.reports <- report:
				case <-ctx.Done():
					return
				}
			}
			if u.settled() {
				return
			}
		}
	}()
	return w
}

// ended is ready when the subscription is over, until that has been seen.
func (w *watcher) ended() <-chan struct{} {
	if w.seen {
		return nil
	}
	return w.done
}

// wait waits for the reader, whose context has ended.
func (w *watcher) wait() {
	if w.done != nil {
		<-w.done
	}
}

// subscribe yields the updates of a task until its stream ends, for whatever reason.
func (p *peer) subscribe(ctx context.Context, id string) iter.Seq[update] {
	return func(yield func(update) bool) {
		if p.endpoint.binding == a2a.TransportProtocolHTTPJSON && !pathSafe(id) {
			return
		}
		rec := &recording{keepStream: true}
		err := p.do(ctx, rec, p.endpoint, func(ctx context.Context, t a2aclient.Transport, params a2aclient.ServiceParams, e endpoint) error {
			var first error
			t.SubscribeToTask(ctx, params, &a2a.SubscribeToTaskRequest{Tenant: e.tenant, ID: a2a.TaskID(id)})(
				func(_ a2a.Event, err error) bool { first = err; return false })
			return first
		})
		if err != nil || rec.stream == nil {
			return
		}
		defer rec.stream.Close()
		for data := range events(rec.stream) {
			env, ok := readEnvelope(data, p.endpoint.binding)
			var u update
			if !ok || env.err != nil || loose(env.result, &u.wireResult) != nil || !yield(u) {
				return
			}
		}
	}
}

// events yields the data of a server-sent event stream's events (HTML standard, 9.2.6).
func events(r io.Reader) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, maxEvent)
		var data []byte
		for lines.Scan() {
			line := lines.Bytes()
			value, isData := bytes.CutPrefix(line, []byte("data:"))
			switch {
			case isData && len(data)+len(value) < maxEvent:
				data = append(append(data, bytes.TrimPrefix(value, []byte(" "))...), '\n')
			case isData:
				return
			case len(line) == 0 && len(data) > 0:
				if !yield(data) {
					return
				}
				data = nil
			}
		}
	}
}

// update is one event of a subscription, in the shape of either version.
type update struct{ wireResult }

// change returns the part of the update that says what changed.
func (u *update) change() *wireTask {
	for _, w := range []*wireTask{u.StatusUpdate, u.ArtifactUpdate, u.Task} {
		if w != nil {
			return w
		}
	}
	return &u.wireTask
}

// settled reports whether the task needs no more watching. A message ends it too.
func (u *update) settled() bool {
	return u.Message != nil || u.Kind == "message" || u.change().read().phase() != pending
}

// thoughts returns the reasoning that an update adds. What a snapshot has of it, a poll shows.
func (w *wireTask) thoughts() string {
	switch {
	case w.Artifact != nil:
		return thoughts(w.Artifact.Parts)
	case w.Status != nil && w.Artifacts == nil:
		return thoughts(w.Status.Message.Parts)
	}
	return ""
}

// reports makes progress of an update. Text may still hold the credential; of a status it
// is taken out before the status is cut.
func (u *update) reports(answer *assembly, s *session) []langrooms.Progress {
	var all []langrooms.Progress
	w := u.change()
	if piece := answer.add(w); piece != "" {
		all = append(all, langrooms.Progress{Kind: langrooms.ProgressText, Text: piece})
	}
	if thought := w.thoughts(); thought != "" {
		all = append(all, langrooms.Progress{Kind: langrooms.ProgressThought, Text: clip(s.clean(thought), maxReport)})
	}
	if t := w.read(); w.Status != nil && t.phase() == pending && !blank(t.status) {
		all = append(all, langrooms.Progress{Kind: langrooms.ProgressStatus, State: stateWord(t.state), Text: clip(s.clean(t.status), maxReport)})
	}
	return all
}
