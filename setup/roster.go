package setup

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/delegate/a2aagent"
	"github.com/langrooms/langrooms/delegate/acpagent"
	"github.com/langrooms/langrooms/delegate/openaiagent"
	"github.com/langrooms/langrooms/hotreload"
)

// entry is a delegate in use and what the file said of it.
type entry struct {
	config   hotreload.Delegate
	delegate delegate.Delegate
}

// applyConfig puts c in force, and its roster: both at once, so that no turn sees one of
// them alone. Entries that did not change keep their delegate, with its processes and
// connections; one that cannot be made is told of and left out.
func (a *App) applyConfig(c hotreload.Config) error {
	left, err := a.swap(c)
	for _, text := range left {
		a.notify(text)
	}
	return err
}

// swap does so and returns what is to be told.
func (a *App) swap(c hotreload.Config) (left []string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.config = c
	var entries []entry
	var roster []delegate.Delegate
	for _, d := range c.Delegates {
		e, err := a.keepOrMake(d)
		if err != nil {
			left = append(left, fmt.Sprintf("Delegate %q is left out: %v", d.Name, err))
			continue
		}
		entries, roster = append(entries, e), append(roster, e.delegate)
	}
	registry, err := delegate.NewRegistry(append(roster, a.options.Delegates...)...)
	if err != nil {
		return left, err
	}
	a.entries = entries
	a.Roster.Swap(registry)
	a.Health.Retain(registry)
	return left, nil
}

// ownDelegates puts the program's own delegates on the roster, so that they are closed with
// it from now on.
func (a *App) ownDelegates() error {
	var errs []error
	for _, d := range a.options.Delegates {
		if d != nil { // else NewRegistry says so
			errs = append(errs, delegate.CheckName(d.Info().Name))
		}
	}
	registry, err := delegate.NewRegistry(a.options.Delegates...)
	if err := errors.Join(append(errs, err)...); err != nil {
		errs = []error{fmt.Errorf("Options.Delegates: %w", err)}
		for _, d := range a.options.Delegates {
			if d != nil {
				errs = append(errs, d.Close())
			}
		}
		return errors.Join(errs...)
	}
	a.Roster.Swap(registry)
	return nil
}

var errOwnName = errors.New("the program has a delegate of its own with this name")

func (a *App) keepOrMake(d hotreload.Delegate) (entry, error) {
	if err := delegate.CheckName(d.Name); err != nil {
		return entry{}, err
	}
	if slices.ContainsFunc(a.options.Delegates, func(own delegate.Delegate) bool { return own.Info().Name == d.Name }) {
		return entry{}, errOwnName
	}
	for _, e := range a.entries {
		if e.config.Equal(d) {
			return entry{d, e.delegate}, nil
		}
	}
	made, err := a.newDelegate(d)
	return entry{d, made}, err
}

// makers are the types of delegates by name. A protocol is registered here.
func (a *App) makers() map[string]func(hotreload.Delegate) (delegate.Delegate, error) {
	return map[string]func(hotreload.Delegate) (delegate.Delegate, error){
		"a2a":    func(d hotreload.Delegate) (delegate.Delegate, error) { return a2aagent.New(a.a2aConfig(d)) },
		"acp":    func(d hotreload.Delegate) (delegate.Delegate, error) { return acpagent.New(a.acpConfig(d)) },
		"openai": func(d hotreload.Delegate) (delegate.Delegate, error) { return openaiagent.New(openaiConfig(d)) },
	}
}

func (a *App) newDelegate(d hotreload.Delegate) (_ delegate.Delegate, err error) {
	if name, ok := demoName(d); ok {
		if d, err = a.demoEntry(d, name); err != nil {
			return nil, err
		}
	}
	newOne, ok := a.makers()[d.Type]
	if !ok {
		return nil, fmt.Errorf("this program cannot reach delegates of type %q", d.Type)
	}
	return newOne(d)
}

func (a *App) a2aConfig(d hotreload.Delegate) a2aagent.Config {
	c := a2aagent.Config{
		Name: d.Name, Description: d.Description, URL: d.URL, Scheme: d.Auth.Scheme,
		CardURL: d.CardURL, Binding: d.Binding, ClientID: d.Auth.ClientID, TokenURL: d.Auth.TokenURL, Scopes: d.Auth.Scopes,
		HTTP: httpOptions(d.HTTP), PollTimeout: d.PollTimeout, Continuity: a.Continuity,
	}
	if !d.Auth.Credential.IsZero() {
		c.Token = d.Auth.Credential.Resolve
	}
	return c
}

func (a *App) acpConfig(d hotreload.Delegate) acpagent.Config {
	return acpagent.Config{
		Name: d.Name, Description: d.Description, Command: d.Command, Args: d.Args, WorkDir: d.WorkDir,
		Env: d.Env, EnvRemove: d.EnvRemove, Timeout: d.Timeout, Permissions: acpagent.Permissions(d.Permissions),
		AllowKinds: d.AllowKinds, DenyKinds: d.DenyKinds, IdleLimit: d.IdleLimit,
		AuthMethod: d.AuthMethod, Model: d.Model, Mode: d.Mode, Sessions: a.Continuity,
	}
}

func openaiConfig(d hotreload.Delegate) openaiagent.Config {
	return openaiagent.Config{
		Name: d.Name, Description: d.Description, URL: d.URL, Model: d.Model, APIKey: d.APIKey.Resolve,
		SystemPrompt: d.SystemPrompt, MaxTokens: d.MaxTokens, Temperature: d.Temperature, Timeout: d.Timeout,
		TotalTimeout: d.TotalTimeout, Params: d.Params, Whole: d.Stream != nil && !*d.Stream, KeyHeader: d.KeyHeader, APIVersion: d.APIVersion, HTTP: httpOptions(d.HTTP),
	}
}

// demoName returns the NAME of a demo:NAME address.
func demoName(d hotreload.Delegate) (string, bool) {
	if name, ok := strings.CutPrefix(d.Command, "demo:"); ok {
		return name, true
	}
	return strings.CutPrefix(d.URL, "demo:")
}

// httpOptions returns what the file says of reaching a peer over HTTP; variables are read at
// each use.
func httpOptions(h hotreload.HTTP) delegate.HTTP {
	o := delegate.HTTP{CAFile: h.CAFile, CertFile: h.CertFile, KeyFile: h.KeyFile, Retries: h.Retries}
	if len(h.Headers)+len(h.HeadersEnv) > 0 {
		o.Headers = make(map[string]func() (string, error))
	}
	for name, value := range h.Headers {
		o.Headers[name] = hotreload.NewSecret(value).Resolve
	}
	for name, variable := range h.HeadersEnv {
		o.Headers[name] = hotreload.SecretFromEnv(variable).Resolve
	}
	if !h.Proxy.IsZero() {
		o.Proxy = h.Proxy.Resolve
	}
	return o
}
