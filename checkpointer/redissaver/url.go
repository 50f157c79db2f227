package redissaver

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// ParseURL reads the address of a store. The forms:
//
//	redis://[user:password@]host[:6379][/db]
//	rediss://…                                   the same over TLS
//	redis+sentinel://[user:password@]host[:26379],host…/MASTER[/db]
//	redis+cluster://[user:password@]host[:6379],host…
//
// User and password are percent-encoded. Query parameters:
//
//	prefix, ttl, refresh     [Config]: Prefix, TTL (a Go duration), RefreshOnRead (a bool)
//	tls                      true for TLS with Sentinel and Cluster
//	ca                       a file of PEM certificates that may sign the server's
//	insecure                 true accepts any certificate
//	sentinel_user, sentinel_password   for the sentinels themselves
//
// The options send nothing on connecting but HELLO (and AUTH, SELECT), do not retry (a
// [Saver] does, where it is safe), give up on a host that cannot be reached after 0.7
// seconds and on a server that is silent for 5: a reply that goes on coming is waited for,
// however long it takes. Errors match checkpointer.ErrInvalid and never contain a part of
// the URL that may be secret.
func ParseURL(raw string) (*redis.UniversalOptions, Config, error) {
	o, c, _, err := parse(raw)
	return o, c, err
}

// parse is ParseURL and the dialer of the options.
func parse(raw string) (*redis.UniversalOptions, Config, *dialer, error) {
	o, c, err := parseURL(raw)
	if err != nil {
		return nil, Config{}, nil, fmt.Errorf("redissaver: url: %w: %w", checkpointer.ErrInvalid, err)
	}
	return o, c, withDialer(o), nil
}

func parseURL(raw string) (*redis.UniversalOptions, Config, error) {
	scheme, rest, found := strings.Cut(raw, "://")
	ports := map[string]string{"redis": "6379", "rediss": "6379", "redis+cluster": "6379", "redis+sentinel": "26379"}
	port, known := ports[scheme]
	if !found || !known {
		return nil, Config{}, errors.New("it must start with redis://, rediss://, redis+sentinel:// or redis+cluster://")
	}
	rest, query, _ := strings.Cut(rest, "?")
	if strings.Contains(query, "@") {
		return nil, Config{}, errors.New("an @ after the ?: percent-encode the user and the password")
	}
	o := &redis.UniversalOptions{
		Protocol:                 2,
		MaxRetries:               -1,
		DialerRetries:            1,
		DialTimeout:              700 * time.Millisecond,
		ReadTimeout:              5 * time.Second,
		WriteTimeout:             5 * time.Second,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		IsClusterMode:            scheme == "redis+cluster",
	}
	if k := strings.LastIndex(rest, "@"); k >= 0 {
		if err := userInfo(o, rest[:k]); err != nil {
			return nil, Config{}, err
		}
		rest = rest[k+1:]
	}
	hosts, path, _ := strings.Cut(rest, "/")
	if err := errors.Join(addresses(o, hosts, port, scheme), database(o, path, scheme)); err != nil {
		return nil, Config{}, err
	}
	c, err := parameters(o, query, scheme)
	return o, c, err
}

func userInfo(o *redis.UniversalOptions, text string) error {
	user, password, _ := strings.Cut(text, ":")
	var errUser, errPassword error
	o.Username, errUser = url.PathUnescape(user)
	o.Password, errPassword = url.PathUnescape(password)
	if errUser != nil || errPassword != nil {
		return errors.New("the user or the password has a bad percent-encoding")
	}
	return nil
}

func addresses(o *redis.UniversalOptions, hosts, port, scheme string) error {
	list := strings.Split(hosts, ",")
	if len(list) > 1 && (scheme == "redis" || scheme == "rediss") {
		return fmt.Errorf("%s:// takes one host; there are %d", scheme, len(list))
	}
	for i, h := range list {
		host, p, err := net.SplitHostPort(h)
		if err != nil {
			host, p = strings.Trim(h, "[]"), port
		}
		n, err := strconv.ParseUint(p, 10, 16)
		if host == "" || err != nil || n == 0 || strings.ContainsAny(host, " /@") {
			return fmt.Errorf("host %d of %d is not host or host:port", i+1, len(list))
		}
		o.Addrs = append(o.Addrs, net.JoinHostPort(host, p))
	}
	return nil
}

func database(o *redis.UniversalOptions, path, scheme string) error {
	db := strings.TrimSuffix(path, "/")
	switch scheme {
	case "redis+cluster":
		if db != "" && db != "0" {
			return errors.New("a cluster has only database 0")
		}
		return nil
	case "redis+sentinel":
		var err error
		master, after, _ := strings.Cut(db, "/")
		o.MasterName, err = url.PathUnescape(master)
		if err != nil || o.MasterName == "" {
			return errors.New("the master's name is missing: redis+sentinel://host,host/MASTER")
		}
		db = after
	}
	if db == "" {
		return nil
	}
	n, err := strconv.ParseUint(db, 10, 15)
	if err != nil {
		return errors.New("the database is not a number")
	}
	o.DB = int(n)
	return nil
}

func parameters(o *redis.UniversalOptions, query, scheme string) (Config, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return Config{}, errors.New("the parameters after the ? are not well-formed")
	}
	var c Config
	var insecure bool
	var ca string
	secure := scheme == "rediss"
	for name, v := range values {
		var err error
		switch name {
		case "prefix":
			c.Prefix = v[0]
		case "ttl":
			c.TTL, err = time.ParseDuration(v[0])
		case "refresh":
			c.RefreshOnRead, err = strconv.ParseBool(v[0])
		case "insecure":
			insecure, err = strconv.ParseBool(v[0])
		case "ca":
			ca = v[0]
		case "tls":
			var on bool
			on, err = strconv.ParseBool(v[0])
			secure = secure || on
		case "sentinel_user":
			o.SentinelUsername = v[0]
		case "sentinel_password":
			o.SentinelPassword = v[0]
		default:
			return Config{}, fmt.Errorf("unknown parameter %q", name)
		}
		if err != nil || len(v) != 1 {
			return Config{}, fmt.Errorf("parameter %s cannot be used", name)
		}
	}
	c, err = c.check()
	if err != nil {
		return Config{}, err
	}
	if !secure && (insecure || ca != "") {
		return Config{}, errors.New("ca and insecure need TLS: rediss:// or tls=true")
	}
	if secure {
		o.TLSConfig, err = tlsConfig(ca, insecure)
	}
	return c, err
}

func tlsConfig(ca string, insecure bool) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: insecure}
	if ca == "" {
		return c, nil
	}
	pem, err := os.ReadFile(ca)
	if err != nil {
		return nil, fmt.Errorf("parameter ca: %w", err)
	}
	c.RootCAs = x509.NewCertPool()
	if !c.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("parameter ca: %s holds no PEM certificate", ca)
	}
	return c, nil
}
