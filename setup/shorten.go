package setup

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/langrooms/langrooms/hotreload"
	"github.com/langrooms/langrooms/lifecycle"
	"github.com/langrooms/langrooms/room"
)

// shortener remembers which threads are being summarized, and which could not be.
type shortener struct {
	mu sync.Mutex
	// not has the threads that are not to be begun with, and until when; the zero time is as long
	// as one is under way.
	not map[string]time.Time
}

// shortenAgain is how long a thread is left alone that could not be summarized.
const shortenAgain = 10 * time.Minute

// shortenBound is how long the model may take for one thread.
const shortenBound = 15 * time.Minute

// begin reports whether a thread may be begun with, and notes that it is.
func (s *shortener) begin(thread string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for other, until := range s.not {
		if !until.IsZero() && now.After(until) {
			delete(s.not, other)
		}
	}
	if _, ok := s.not[thread]; ok {
		return false
	}
	if s.not == nil {
		s.not = make(map[string]time.Time)
	}
	s.not[thread] = time.Time{}
	return true
}

// end notes how it ended.
func (s *shortener) end(thread string, failed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if failed {
		s.not[thread] = time.Now().Add(shortenAgain)
	} else {
		delete(s.not, thread)
	}
}

// historyTokens is the bound of the lead's request without its own instructions.
func (a *App) historyTokens() int {
	lead := a.Config().Lead
	return max(room.LeastHistoryTokens, room.ClampHistory(lead.HistoryMaxTokens)-room.TokensOf(lead.Instructions))
}

// shorten has the older messages of a thread summarized beside the turns, where that is asked for. A
// program of one turn ends before, and the demo's lead writes no summaries.
func (a *App) shorten(thread string) {
	c := a.Config()
	if c.Lead.Compact != hotreload.CompactAuto || a.demoLead() || a.options.OneTurn {
		return
	}
	if !a.shorts.begin(thread, time.Now()) {
		return
	}
	began := a.threads.sweeps.Go(func(ctx context.Context) {
		bound, cancel := context.WithTimeout(ctx, shortenBound)
		defer cancel()
		threads := lifecycle.Threads{Saver: a.Saver, Summarize: a.Summarize}
		n, err := threads.Shorten(bound, thread, a.historyTokens())
		a.shorts.end(thread, err != nil)
		switch {
		case ctx.Err() != nil: // the program ends
		case err != nil:
			a.notices.tell(fmt.Sprintf("The older messages of the thread %q could not be summarized; the lead is sent the newest alone: %v", thread, err))
		case n > 0:
			a.notices.tell(fmt.Sprintf("%d older messages of the thread %q are a summary for the lead now; `langrooms thread show --all` shows them.", n, thread))
		}
	})
	if !began {
		a.shorts.end(thread, false)
	}
}
