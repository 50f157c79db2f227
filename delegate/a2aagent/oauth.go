package a2aagent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/langrooms/langrooms/delegate"
)

const (
	tokenTimeout = 10 * time.Second
	maxToken     = 1 << 20
	// tokenLife is that of a token whose answer names none; a minute before its end a token
	// is fetched anew.
	tokenLife   = 5 * time.Minute
	tokenMargin = time.Minute
)

// tokenCache keeps the token that client credentials got.
type tokenCache struct {
	mu    sync.Mutex
	token string
	until time.Time
	of    string // the digest of the credential that got it
}

// grant turns the client's secret into a token (RFC 6749, 4.4). The secret goes to the
// configured endpoint, or to the card's when that lies at the peer's origin, and nowhere
// else.
func (s *session) grant(ctx context.Context, asked security) error {
	if s.cfg.Scheme != SchemeOAuth2 || s.token != "" {
		return nil
	}
	n, _ := asked.find(needOAuth2)
	at, err := s.tokenEndpoint(n)
	if err != nil {
		return s.fail(delegate.KindRefused, err)
	}
	scopes := s.cfg.Scopes
	if scopes == nil {
		scopes = n.scopes
	}
	c := &s.tokens
	c.mu.Lock()
	defer c.mu.Unlock()
	of := delegate.CredentialDigest(at+"\x00"+strings.Join(scopes, " "), s.secret)
	if c.of != of || time.Now().After(c.until) {
		token, life, err := s.fetchToken(ctx, at, scopes)
		if err != nil {
			return err
		}
		c.token, c.of, c.until = token, of, time.Now().Add(max(life-tokenMargin, life/2))
	}
	s.token = c.token
	s.hide(s.secret, s.token)
	return nil
}

// forget drops the token after a peer has refused it.
func (c *tokenCache) forget(token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.token == token {
		c.token, c.of = "", ""
	}
}

func (s *session) tokenEndpoint(n need) (string, error) {
	if s.cfg.TokenURL != "" {
		return s.cfg.TokenURL, nil
	}
	u, err := url.Parse(n.tokenURL)
	if n.tokenURL == "" || err != nil || origin(u) != origin(s.target) {
		return "", errNoTokenURL
	}
	return u.String(), nil
}

func (s *session) fetchToken(ctx context.Context, at string, scopes []string) (string, time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, tokenTimeout)
	defer cancel()
	form := url.Values{"grant_type": {"client_credentials"}}
	if len(scopes) > 0 {
		form.Set("scope", strings.Join(scopes, " "))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at, strings.NewReader(form.Encode()))
	if err != nil {
		return "", 0, s.fail(delegate.KindRefused, errors.New("auth.token_url cannot be read"))
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	req.SetBasicAuth(url.QueryEscape(s.cfg.ClientID), url.QueryEscape(s.secret))
	client := http.Client{Transport: s.base.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		e := s.transportError(ctx, nil, err)
		e.Err = fmt.Errorf("no token could be fetched from auth.token_url: %w", e.Err)
		return "", 0, e
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxToken))
	var answer tokenAnswer
	if err == nil {
		_ = loose(body, &answer)
	}
	token := answer.AccessToken
	if resp.StatusCode != http.StatusOK || token == "" || !sendable(token) {
		text := fmt.Sprintf("no token was issued for auth.client_id: HTTP %d", resp.StatusCode)
		if said := first(answer.Description, answer.Error); said != "" {
			text += ": " + delegate.OneLine(s.clean(said), 200)
		}
		return "", 0, s.fail(delegate.KindRefused, errors.New(text))
	}
	life := tokenLife
	if n, err := answer.ExpiresIn.Int64(); err == nil && n > 0 {
		life = time.Duration(min(n, 24*60*60)) * time.Second
	}
	return token, life, nil
}

// sendable reports whether a header can carry a credential.
func sendable(token string) bool {
	return !strings.ContainsFunc(token, func(r rune) bool { return r < ' ' || r >= 0x7f })
}
