package redissaver_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/redissaver"
	"github.com/langrooms/langrooms/internal/redistest"
)

func TestParseURL(t *testing.T) {
	type want struct {
		Addrs                    []string
		User, Password, Master   string
		DB                       int
		TLS, Insecure, Cluster   bool
		Prefix                   string
		TTL                      time.Duration
		Refresh                  bool
		SentinelUser, SentinelPW string
	}
	for url, w := range map[string]want{
		"redis://localhost":                 {Addrs: []string{"localhost:6379"}},
		"redis://h:7000/3":                  {Addrs: []string{"h:7000"}, DB: 3},
		"redis://[::1]:7000":                {Addrs: []string{"[::1]:7000"}},
		"redis://[::1]":                     {Addrs: []string{"[::1]:6379"}},
		"redis://:p%40%2Fss@h":              {Addrs: []string{"h:6379"}, Password: "p@/ss"},
		"redis://u:p@ss@h/":                 {Addrs: []string{"h:6379"}, User: "u", Password: "p@ss"},
		"redis://u:pa/ss@h/1":               {Addrs: []string{"h:6379"}, User: "u", Password: "pa/ss", DB: 1},
		"rediss://h?insecure=true":          {Addrs: []string{"h:6379"}, TLS: true, Insecure: true},
		"redis://h?prefix=x:&ttl=72h":       {Addrs: []string{"h:6379"}, Prefix: "x:", TTL: 72 * time.Hour},
		"redis://h?refresh=true&ttl=1m":     {Addrs: []string{"h:6379"}, TTL: time.Minute, Refresh: true},
		"redis+cluster://a,b:7000?tls=true": {Addrs: []string{"a:6379", "b:7000"}, Cluster: true, TLS: true},
		"redis+sentinel://u:p@a,b:1/my%20master/2": {Addrs: []string{"a:26379", "b:1"}, User: "u", Password: "p",
			Master: "my master", DB: 2},
		"redis+sentinel://a/m?sentinel_user=s&sentinel_password=q": {Addrs: []string{"a:26379"}, Master: "m", SentinelUser: "s", SentinelPW: "q"},
	} {
		o, c, err := redissaver.ParseURL(url)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		got := want{Addrs: o.Addrs, User: o.Username, Password: o.Password, Master: o.MasterName, DB: o.DB, TLS: o.TLSConfig != nil,
			Insecure: o.TLSConfig != nil && o.TLSConfig.InsecureSkipVerify, Cluster: o.IsClusterMode, Prefix: c.Prefix, TTL: c.TTL,
			Refresh: c.RefreshOnRead, SentinelUser: o.SentinelUsername, SentinelPW: o.SentinelPassword}
		if w.Prefix == "" {
			w.Prefix = redissaver.DefaultPrefix
		}
		if d := cmp.Diff(w, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", url, d)
		}
	}
}

// A URL that cannot be used is refused with the reason, and nothing of a password.
func TestBadURLs(t *testing.T) {
	for url, reason := range map[string]string{
		"":                                       "must start with",
		"http://h":                               "must start with",
		"h:6379":                                 "must start with",
		"redis://":                               "host 1 of 1",
		"redis://a,b":                            "takes one host",
		"redis://u:hush@h:port":                  "host 1 of 1",
		"redis://u:hush@h:99999":                 "host 1 of 1",
		"redis://u:hu%zzsh@h":                    "percent-encoding",
		"redis://u:hush?@h":                      "percent-encode",
		"redis://u:hush@h/x":                     "database",
		"redis://u:hush@h/-1":                    "database",
		"redis+cluster://u:hush@a,b/1":           "only database 0",
		"redis+cluster://u:hush@a,,b":            "host 2 of 3",
		"redis+sentinel://u:hush@a":              "master's name is missing",
		"redis+sentinel://u:hush@a/m/x":          "database",
		"redis://u:hush@h?wrong=1":               `unknown parameter "wrong"`,
		"redis://u:hush@h?ttl=soon":              "parameter ttl",
		"redis://u:hush@h?ttl=-1s":               "Config.TTL",
		"redis://u:hush@h?prefix={x}":            "braces",
		"redis://u:hush@h?prefix=a&prefix=b":     "parameter prefix",
		"redis://u:hush@h?insecure=true":         "need TLS",
		"rediss://u:hush@h?insecure=perhaps":     "parameter insecure",
		"rediss://u:hush@h?ca=/does/not/exist":   "parameter ca",
		"redis://u:hush@h?a;b":                   "not well-formed",
		"redis+sentinel://a/m?sentinel_user=%zz": "not well-formed",
	} {
		_, err := redissaver.Open(url)
		if !errors.Is(err, checkpointer.ErrInvalid) || !strings.Contains(fmt.Sprint(err), reason) {
			t.Errorf("%s: %v, want ErrInvalid with %q", url, err, reason)
		}
		if strings.Contains(fmt.Sprint(err), "hush") || strings.Contains(fmt.Sprint(err), "hu%") {
			t.Errorf("the error shows the password: %v", err)
		}
	}
	if _, err := redissaver.New(nil, redissaver.Config{}); !errors.Is(err, checkpointer.ErrInvalid) {
		t.Errorf("a nil client: %v", err)
	}
	c := client(t, "127.0.0.1:1")
	for _, bad := range []redissaver.Config{{Prefix: "a{"}, {Prefix: "}"}, {Prefix: strings.Repeat("p", 300)}, {TTL: -1}, {TTL: time.Microsecond}} {
		if _, err := redissaver.New(c, bad); !errors.Is(err, checkpointer.ErrInvalid) {
			t.Errorf("%+v: %v, want ErrInvalid", bad, err)
		}
	}
}

// What Ping says of a wrong password, and that no error shows it.
func TestPingPassword(t *testing.T) {
	server := redistest.Start(t, "--requirepass", "open-sesame")
	for user, reason := range map[string]string{
		"":             "refuses the user or the password",
		":hush@":       "refuses the user or the password",
		"nobody:hush@": "refuses the user or the password",
	} {
		s := openURL(t, "redis://"+user+server.Addr)
		err := s.Ping(t.Context())
		if !errors.Is(err, checkpointer.ErrUnavailable) || !strings.Contains(err.Error(), reason) || strings.Contains(err.Error(), "hush") {
			t.Errorf("ping as %q: %v", user, err)
		}
		if _, err := s.Get(t.Context(), checkpointer.Ref{Thread: "t"}); !errors.Is(err, checkpointer.ErrUnavailable) {
			t.Errorf("get as %q: %v", user, err)
		}
	}
	s := openURL(t, "redis://:open-sesame@"+server.Addr)
	if err := s.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	everything(t, s)
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		info   map[string]string
		reason string
	}{
		{map[string]string{"redis_version": "7.0.15", "role": "master", "maxmemory": "0", "maxmemory_policy": "allkeys-lru"}, ""},
		{map[string]string{"redis_version": "6.2.0", "maxmemory": "100", "maxmemory_policy": "noeviction"}, ""},
		{map[string]string{"redis_version": "8.2.1-int"}, ""},
		{map[string]string{}, ""},
		{map[string]string{"redis_version": "6.0.16"}, "version 6.0 is too old, 6.2 is needed"},
		{map[string]string{"redis_version": "5.0.3"}, "too old"},
		{map[string]string{"redis_version": "7.0.0", "role": "slave", "master_host": "h", "master_port": "1"}, "replica of h:1"},
		{map[string]string{"redis_version": "7.0.0", "maxmemory": "100", "maxmemory_policy": "allkeys-lru"}, "allkeys-lru"},
		{map[string]string{"redis_version": "7.0.0", "maxmemory": "100", "maxmemory_policy": "volatile-ttl"}, "volatile-ttl"},
		{map[string]string{"redis_mode": "sentinel"}, "Sentinel"},
		{map[string]string{"redis_mode": "cluster"}, "cluster"},
		{map[string]string{"server_name": "valkey", "server_mode": "sentinel"}, "Sentinel"},
		{map[string]string{"server_name": "valkey", "server_mode": "cluster"}, "cluster"},
		{map[string]string{"server_name": "valkey", "server_mode": "standalone", "redis_version": "7.2.4"}, ""},
	} {
		err := redissaver.Judge(c.info)
		if (err == nil) != (c.reason == "") || err != nil && !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%v: %v, want %q", c.info, err, c.reason)
		}
	}
}

// A real server with an evicting policy is pointed out; the connection's first words
// raise no error on the server.
func TestPingEvictionAndQuietHandshake(t *testing.T) {
	server := redistest.Start(t, "--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru")
	s := open(t, server.Addr)
	if err := s.Ping(t.Context()); err == nil || !strings.Contains(err.Error(), "maxmemory-policy noeviction") {
		t.Errorf("ping: %v", err)
	}
	if _, err := s.Get(t.Context(), checkpointer.Ref{Thread: "t"}); !errors.Is(err, checkpointer.ErrNotFound) {
		t.Fatal(err)
	}
	info, err := redistest.Command(server.Addr, "INFO", "errorstats")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(info) {
		if strings.HasPrefix(line, "errorstat_") && !strings.HasPrefix(line, "errorstat_NOSCRIPT") {
			t.Errorf("the server has answered with an error: %s", line)
		}
	}
}

// TLS: a certificate that the ca file has signed is accepted, another is not, and
// insecure accepts any.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	cert, key := selfSigned(t, dir)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_, port, _ := net.SplitHostPort(addr)
	l.Close()
	redistest.Start(t, "--tls-port", port, "--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", cert, "--tls-auth-clients", "no")
	for query, ok := range map[string]bool{"?ca=" + cert: true, "?insecure=true": true, "": false} {
		err := openURL(t, "rediss://"+addr+query).Ping(t.Context())
		if (err == nil) != ok {
			t.Errorf("rediss with %q: %v", query, err)
		}
	}
}

func selfSigned(t *testing.T, dir string) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: pkcs8}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

func FuzzParseURL(f *testing.F) {
	for _, url := range []string{"redis://u:p@h:1/2?prefix=x", "redis+sentinel://a,b/m/1", "redis+cluster://[::1]:7,b", "rediss://:%41@h?ttl=1h"} {
		f.Add(url)
	}
	f.Fuzz(func(t *testing.T, url string) {
		o, _, err := redissaver.ParseURL(url)
		if err != nil && !errors.Is(err, checkpointer.ErrInvalid) {
			t.Fatal(err)
		}
		if err == nil && (len(o.Addrs) == 0 || slices.Contains(o.Addrs, "")) {
			t.Fatalf("no address: %q", o.Addrs)
		}
	})
}
