package a2aserver

import (
	"context"
	"net/http"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/langrooms/langrooms/delegate"
)

// serveCard answers with the public card, in the form of both versions at once.
func (s *Server) serveCard(w http.ResponseWriter, r *http.Request) {
	producer := a2av0.NewStaticAgentCardProducer(s.card(originOf(r), !s.cfg.Keys()))
	data, err := producer.(a2asrv.AgentCardJSONProducer).CardJSON(r.Context())
	if err != nil { // of values of our own
		http.Error(w, "the card cannot be written", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = w.Write(data) // who asked may have gone
}

var text = []string{"text/plain"}

// card is the card of a server at an origin, with the roster where the caller may see it.
func (s *Server) card(origin string, roster bool) *a2a.AgentCard {
	offer := func(path string, binding a2a.TransportProtocol, version a2a.ProtocolVersion) *a2a.AgentInterface {
		return &a2a.AgentInterface{URL: origin + path, ProtocolBinding: binding, ProtocolVersion: version}
	}
	c := &a2a.AgentCard{
		Name: "langrooms", Version: s.cfg.Version, DefaultInputModes: append(text[:len(text):len(text)], "image/*", "audio/*", "application/*"), DefaultOutputModes: text,
		Description: "A room in which several agents talk in one thread. @name at the beginning of a message addresses one of them, " +
			"several names several; without one the lead answers.",
		SupportedInterfaces: []*a2a.AgentInterface{
			offer(root, a2a.TransportProtocolJSONRPC, a2a.Version), offer(root, a2a.TransportProtocolHTTPJSON, a2a.Version),
			offer(root, a2a.TransportProtocolJSONRPC, a2av0.Version), offer(root+oldREST, a2a.TransportProtocolHTTPJSON, a2av0.Version),
		},
		Capabilities: a2a.AgentCapabilities{Streaming: true, PushNotifications: true, ExtendedAgentCard: true, Extensions: []a2a.AgentExtension{{
			URI: delegate.TraceExtension, Description: "A message may say through which langrooms it has come, so that circles are noticed."}}},
		Skills: []a2a.AgentSkill{{ID: "room", Name: s.lead(), Description: "answers what addresses nobody", Tags: []string{"chat"}}},
	}
	if s.cfg.Keys() {
		c.SecuritySchemes = a2a.NamedSecuritySchemes{
			"bearer": a2a.HTTPAuthSecurityScheme{Scheme: "Bearer", Description: "a key of server.keys"},
			"header": a2a.APIKeySecurityScheme{Location: a2a.APIKeySecuritySchemeLocationHeader, Name: "X-Api-Key", Description: "a key of server.keys"},
		}
		c.SecurityRequirements = a2a.SecurityRequirementsOptions{{"bearer": {}}, {"header": {}}}
	}
	if roster {
		for _, m := range s.cfg.Members() {
			c.Skills = append(c.Skills, a2a.AgentSkill{ID: "@" + m.Name, Name: m.Name, Description: m.Description,
				Tags: []string{"delegate"}, Examples: []string{"@" + m.Name + " hi"}})
		}
	}
	return c
}

// GetExtendedAgentCard returns the card with the roster: who comes here has a key.
func (h *handler) GetExtendedAgentCard(ctx context.Context, _ *a2a.GetExtendedAgentCardRequest) (*a2a.AgentCard, error) {
	origin, _ := ctx.Value(originKey{}).(string)
	return h.card(origin, true), nil
}
