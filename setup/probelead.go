package setup

import (
	"cmp"
	"context"
	"os"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/delegate/openaiagent"
)

// The lead's endpoint where the file names none; the client takes the same.
const (
	endpointVariable = "OPENAI_BASE_URL"
	defaultEndpoint  = "https://api.openai.com/v1"
)

// ProbeLead asks the endpoint of the lead's model whether it is there, takes the key and
// lists the model. It costs nothing. The error is one of the configuration, such as a
// variable that is not set, or a [*delegate.Error]. A model of the program's own is not
// asked.
func (a *App) ProbeLead(ctx context.Context) (delegate.Health, error) {
	if a.lead.own != nil {
		return delegate.Health{}, nil
	}
	m, key, err := a.lead.configured(a.Config().Model)
	if err != nil {
		return delegate.Health{}, err
	}
	model, err := openaiagent.New(openaiagent.Config{Name: "model", Model: m.Model,
		URL:    cmp.Or(m.URL, os.Getenv(endpointVariable), defaultEndpoint),
		APIKey: func() (string, error) { return key, nil }})
	if err != nil {
		return delegate.Health{}, err
	}
	defer model.Close() // it has nothing open that could fail
	return model.Probe(ctx)
}
