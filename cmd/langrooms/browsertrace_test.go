package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/chromedp/cdproto/tracing"
	"github.com/chromedp/chromedp"
)

// frames is what a trace of Chromium says of the frames of a window.
type frames struct {
	drawn, dropped int
	gaps           []float64 // between frames that were drawn, in ms
	busy           map[string]float64
	longest        float64 // task of the main thread, in ms
	span           float64 // in ms
}

func (f frames) String() string {
	if len(f.gaps) == 0 {
		return "no frames"
	}
	at := func(part float64) float64 { return f.gaps[int(part*float64(len(f.gaps)-1))] }
	return fmt.Sprintf("%d frames drawn and %d dropped in %.1f s: gaps of %.1f ms (median), %.1f ms (95 %%), %.1f ms (99 %%), %.0f ms (longest); "+
		"the main thread's longest task %.0f ms; script %.0f, style %.0f, layout %.0f, paint %.0f ms in all", f.drawn, f.dropped, f.span/1000,
		at(0.5), at(0.95), at(0.99), f.gaps[len(f.gaps)-1], f.longest, f.busy["script"], f.busy["style"], f.busy["layout"], f.busy["paint"])
}

// traceEvent is one of Chromium's.
type traceEvent struct {
	Name string  `json:"name"`
	TS   float64 `json:"ts"`  // in µs
	Dur  float64 `json:"dur"` // in µs
	PID  int     `json:"pid"`
	TID  int     `json:"tid"`
	Args struct {
		Name string `json:"name"`
	} `json:"args"`
}

// trace has Chromium record what it does, until the result is called.
func (b *browser) trace() (stop func() frames) {
	b.t.Helper()
	var mu sync.Mutex
	var all []traceEvent
	done := make(chan struct{})
	ctx, cancel := context.WithCancel(b.ctx)
	err := chromedp.Listen(ctx, func(ev any) {
		switch e := ev.(type) {
		case *tracing.EventDataCollected:
			mu.Lock()
			defer mu.Unlock()
			for _, raw := range e.Value {
				var one traceEvent
				if json.Unmarshal(raw, &one) == nil { // some have other shapes
					all = append(all, one)
				}
			}
		case *tracing.EventTracingComplete:
			close(done)
		}
	})
	if err == nil {
		_, err = chromedp.Call(b.ctx, tracing.Start, tracing.StartParams{TraceConfig: &tracing.TraceConfig{
			IncludedCategories: []string{"devtools.timeline", "disabled-by-default-devtools.timeline", "disabled-by-default-devtools.timeline.frame", "devtools.timeline.frame", "__metadata"}}})
	}
	if err != nil {
		cancel()
		b.t.Fatal(err)
	}
	return func() frames {
		b.t.Helper()
		defer cancel()
		if _, err := chromedp.Call(b.ctx, tracing.End, struct{}{}); err != nil {
			b.t.Fatal(err)
		}
		ended, free := context.WithTimeout(b.ctx, browsing)
		defer free()
		select {
		case <-done:
		case <-ended.Done():
			b.t.Fatal("the trace does not end")
		}
		mu.Lock()
		defer mu.Unlock()
		return framesOf(all)
	}
}

// kinds are what the main thread is busy with.
var kinds = map[string]string{"FunctionCall": "script", "EvaluateScript": "script", "UpdateLayoutTree": "style", "RecalculateStyles": "style", "Layout": "layout", "Paint": "paint", "PrePaint": "paint", "Layerize": "paint"}

func framesOf(all []traceEvent) frames {
	f := frames{busy: map[string]float64{}}
	type thread struct{ pid, tid int }
	scripts := map[thread]int{}
	for _, e := range all {
		if kinds[e.Name] == "script" {
			scripts[thread{e.PID, e.TID}]++
		}
	}
	var main thread // the one that runs most scripts is the page's
	for t, n := range scripts {
		if n > scripts[main] {
			main = t
		}
	}
	var drawn []float64
	for _, e := range all {
		switch {
		case e.PID != main.pid:
		case e.Name == "DrawFrame":
			drawn = append(drawn, e.TS/1000)
		case e.Name == "DroppedFrame":
			f.dropped++
		case e.TID == main.tid && e.Name == "RunTask":
			f.longest = max(f.longest, e.Dur/1000)
		case e.TID == main.tid:
			f.busy[kinds[e.Name]] += e.Dur / 1000
		}
	}
	slices.Sort(drawn)
	f.drawn = len(drawn)
	for i := 1; i < len(drawn); i++ {
		f.gaps = append(f.gaps, drawn[i]-drawn[i-1])
	}
	if len(drawn) > 0 {
		f.span = drawn[len(drawn)-1] - drawn[0]
	}
	slices.Sort(f.gaps)
	return f
}
