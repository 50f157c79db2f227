package acpagent

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/coder/acp-go-sdk"
)

// sessionState is what the agent says of a session when it opens it. Models is older than
// the options, which hold models and modes too.
type sessionState struct {
	SessionID string `json:"sessionId"`
	Modes     struct {
		Available []struct {
			ID string `json:"id"`
		} `json:"availableModes"`
		Current string `json:"currentModeId"`
	} `json:"modes"`
	Models struct {
		Available []struct {
			ID string `json:"modelId"`
		} `json:"availableModels"`
		Current string `json:"currentModelId"`
	} `json:"models"`
	Options []configOption `json:"configOptions"`
}

// configOption is a choice that the agent offers for a session (protocol document "Session
// Config Options").
type configOption struct {
	ID       string          `json:"id"`
	Category string          `json:"category"`
	Current  json.RawMessage `json:"currentValue"`
	Options  []optionValue   `json:"options"`
}

// optionValue is one value, or a group of values.
type optionValue struct {
	Value   string        `json:"value"`
	Options []optionValue `json:"options"`
}

func leaves(options []optionValue) []string {
	var all []string
	for _, o := range options {
		if o.Value != "" {
			all = append(all, o.Value)
		}
		all = append(all, leaves(o.Options)...)
	}
	return all
}

// methodSetModel is older than the session's options; the SDK does not have it any more.
const methodSetModel = "session/set_model"

// choose sets the configured model and mode.
func (s *session) choose(ctx context.Context, state sessionState) error {
	var models, modes []string
	for _, m := range state.Models.Available {
		models = append(models, m.ID)
	}
	for _, m := range state.Modes.Available {
		modes = append(modes, m.ID)
	}
	err := s.set(ctx, choice{key: "model", want: s.config.Model, now: state.Models.Current, offered: models,
		method: methodSetModel, params: map[string]string{"sessionId": s.id, "modelId": s.config.Model}}, state.Options)
	if err != nil {
		return err
	}
	return s.set(ctx, choice{key: "mode", want: s.config.Mode, now: state.Modes.Current, offered: modes,
		method: acp.AgentMethodSessionSetMode, params: map[string]string{"sessionId": s.id, "modeId": s.config.Mode}}, state.Options)
}

// choice is a setting of the configuration and how the agent takes it.
type choice struct {
	key, want, now string
	offered        []string
	method         string
	params         map[string]string
}

// set makes one choice, by the session's option of that category where there is one.
func (s *session) set(ctx context.Context, c choice, options []configOption) error {
	if c.want == "" {
		return nil
	}
	for _, o := range options {
		if o.Category == c.key {
			_ = json.Unmarshal(o.Current, &c.now) // one that is no text is another than what is wanted
			c.offered, c.method = leaves(o.Options), acp.AgentMethodSessionSetConfigOption
			c.params = map[string]string{"sessionId": s.id, "configId": o.ID, "value": c.want}
			break
		}
	}
	switch {
	case !slices.Contains(c.offered, c.want):
		return misfitf("%s: the agent does not offer %q; it offers %s", c.key, c.want, list(c.offered))
	case c.now == c.want:
		return nil
	}
	var nothing json.RawMessage
	if err := s.command(ctx, c.method, c.params, &nothing); err != nil {
		return &refusedSetting{c.key, c.method, err}
	}
	return nil
}

// refusedSetting says that the agent would not take a choice of the configuration.
type refusedSetting struct {
	key, method string
	err         error
}

func (r *refusedSetting) Error() string        { return r.key + ": " + r.method + ": " + r.err.Error() }
func (r *refusedSetting) Unwrap() error        { return r.err }
func (r *refusedSetting) Is(target error) bool { return target == errConfig }
