// Package httpx makes the HTTP side of a delegate out of its options: the transport with
// certificates and proxy, the headers, and the second try after 429 and 503.
//
// # Concurrency
//
// What it returns is safe for concurrent use. It starts no goroutines.
package httpx

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/langrooms/langrooms/delegate"
)

// dialTimeout bounds a connection's making, so that a dead address is known at once.
const dialTimeout = 10 * time.Second

// Transport returns a transport of its own for o. It reads o.CAFile, and looks whether the
// client certificate can be used. An error names the configuration's key.
func Transport(o delegate.HTTP) (*http.Transport, error) {
	if err := check(o); err != nil {
		return nil, err
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext
	t.MaxIdleConnsPerHost = 4
	t.IdleConnTimeout = 60 * time.Second
	if o.Proxy != nil {
		t.Proxy = func(req *http.Request) (*url.URL, error) { return proxy(o, req) }
	}
	if o.CAFile == "" && o.CertFile == "" {
		return t, nil
	}
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if o.CAFile != "" {
		pool, err := authorities(o.CAFile)
		if err != nil {
			return nil, fmt.Errorf("ca_file: %w", err)
		}
		t.TLSClientConfig.RootCAs = pool
	}
	if o.CertFile != "" {
		load := func() (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(o.CertFile, o.KeyFile)
			if err != nil {
				return nil, fmt.Errorf("cert_file, key_file: %w", err)
			}
			return &pair, nil
		}
		if _, err := load(); err != nil {
			return nil, err
		}
		t.TLSClientConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return load() }
	}
	return t, nil
}

func check(o delegate.HTTP) error {
	for _, name := range slices.Sorted(maps.Keys(o.Headers)) {
		if !token(name) {
			return fmt.Errorf("headers: %q is not the name of a header", name)
		}
	}
	switch {
	case (o.CertFile == "") != (o.KeyFile == ""):
		return errors.New("cert_file, key_file: one of them is missing")
	case o.Retries < 0:
		return fmt.Errorf("retries: %d is negative", o.Retries)
	}
	return nil
}

// token reports whether s is a token (RFC 9110, 5.6.2), as a header's name must be.
func token(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

func authorities(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s holds no certificate in PEM", file)
	}
	return pool, nil
}

// proxy is the configured proxy, else the environment's.
func proxy(o delegate.HTTP, req *http.Request) (*url.URL, error) {
	raw, err := o.Proxy()
	if err != nil {
		return nil, &OptionError{fmt.Errorf("proxy: %w", err)}
	}
	if raw == "" {
		return http.ProxyFromEnvironment(req)
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || !slices.Contains([]string{"http", "https", "socks5"}, u.Scheme) {
		return nil, &OptionError{errors.New("proxy: is not an http, https or socks5 URL")} // it may hold a password
	}
	return u, nil
}

// OptionError is a request that could not be made as the options say; the peer was not
// asked. Its text names the configuration's key and holds no secret.
type OptionError struct{ Err error }

// Error returns the cause.
func (e *OptionError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *OptionError) Unwrap() error { return e.Err }

// Headers resolves o's headers. An error is an [*OptionError].
func Headers(o delegate.HTTP) (http.Header, error) {
	h := make(http.Header, len(o.Headers))
	for _, name := range slices.Sorted(maps.Keys(o.Headers)) {
		value, err := o.Headers[name]()
		if err == nil && strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			err = errors.New("holds a character that no header can carry")
		}
		if err != nil {
			return nil, &OptionError{fmt.Errorf("headers: %s: %w", name, err)}
		}
		if value = strings.TrimSpace(value); value != "" {
			h.Set(name, value)
		}
	}
	return h, nil
}
