package httpapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/langrooms/langrooms/delegate"
)

// probeBound is how long a probe may take.
const probeBound = 15 * time.Second

// delegates lists who can be addressed by the caller.
func (s *Server) delegates(_ http.ResponseWriter, r *http.Request) (any, error) {
	roster, release := s.cfg.Roster.Acquire()
	defer release()
	return voices{s.voices(roster, s.cfg.Who(r))}, nil
}

// probed is what a probe found.
type probed struct {
	OK bool `json:"ok"`
	// Kind and Detail say what went wrong.
	Kind      string `json:"kind,omitempty"`
	Detail    string `json:"detail,omitempty"`
	LatencyMS int64  `json:"latency_ms"`
	Version   string `json:"version,omitempty"`
	Protocol  string `json:"protocol,omitempty"`
}

// probe asks a delegate whether it is there.
func (s *Server) probe(_ http.ResponseWriter, r *http.Request) (any, error) {
	roster, release := s.cfg.Roster.Acquire()
	defer release()
	d, ok := roster.Get(r.PathValue("name"))
	if !ok {
		return nil, &refusal{http.StatusNotFound, "delegate_not_found", "there is no such delegate"}
	}
	ctx, cancel := context.WithTimeout(r.Context(), probeBound)
	defer cancel()
	h, err := d.Probe(ctx)
	if err != nil {
		p := probed{Kind: string(delegate.KindFailed), Detail: delegate.OneLine(err.Error(), delegate.MaxCause)}
		var failed *delegate.Error
		if errors.As(err, &failed) {
			p.Kind = string(failed.Kind)
		}
		return p, nil
	}
	return probed{OK: true, LatencyMS: h.Latency.Milliseconds(), Version: h.Version, Protocol: h.Protocol}, nil
}
