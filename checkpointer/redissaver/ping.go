package redissaver

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/redis/go-redis/v9"
)

// pingScript does nothing; running it shows that scripts may be run.
var pingScript = script("local function main() return {'OK'} end\n")

// Ping asks the server, or every master of a cluster, whether threads are safe there,
// and says in words what is wrong: it cannot be reached, refuses the user or password,
// is a replica or a Sentinel, is older than 6.2, or may evict parts of threads
// (maxmemory with a policy other than noeviction). The error matches
// checkpointer.ErrUnavailable. What a server does not show to this user is not judged.
func (s *Saver) Ping(ctx context.Context) error {
	_, err := s.guard(ctx, false, false, func(ctx context.Context) (any, error) {
		if c, ok := s.client.(*redis.ClusterClient); ok {
			return nil, c.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error { return inspect(ctx, node, true) })
		}
		return nil, inspect(ctx, s.client, false)
	})
	if err == nil {
		_, err = s.guard(ctx, false, false, func(ctx context.Context) (any, error) {
			return pingScript.Run(ctx, s.client, []string{s.indexKey()}).Result()
		})
	}
	if err != nil {
		return fmt.Errorf("redis: %w", inWords(err))
	}
	return nil
}

func inspect(ctx context.Context, node redis.Cmdable, cluster bool) error {
	text, err := node.Info(ctx).Result()
	if redis.IsPermissionError(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return judge(fields(text), cluster)
}

func fields(info string) map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(info) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			m[key] = value
		}
	}
	return m
}

// judge says what is wrong with a server that reports these fields of INFO.
func judge(info map[string]string, cluster bool) error {
	major, rest, _ := strings.Cut(info["redis_version"], ".")
	minor, _, _ := strings.Cut(rest, ".")
	a, errA := strconv.Atoi(major)
	b, errB := strconv.Atoi(minor)
	limit := info["maxmemory"]
	mode := cmp.Or(info["redis_mode"], info["server_mode"]) // the latter is Valkey's
	switch {
	case mode == "sentinel":
		return unfit("it is a Sentinel; the URL of a Sentinel begins with redis+sentinel://")
	case mode == "cluster" && !cluster:
		return unfit("it is a node of a cluster; the URL of a cluster begins with redis+cluster://")
	case errA == nil && errB == nil && (a < 6 || a == 6 && b < 2):
		return unfit("version %d.%d is too old, 6.2 is needed", a, b)
	case info["role"] == "slave":
		return unfit("it is a replica of %s:%s and takes no writes; connect to the master, or through Sentinel", info["master_host"], info["master_port"])
	case limit != "" && limit != "0" && info["maxmemory_policy"] != "noeviction":
		return unfit("maxmemory is %s bytes with the policy %s, which may evict parts of threads; set maxmemory-policy noeviction", limit, info["maxmemory_policy"])
	}
	return nil
}

func unfit(format string, args ...any) error {
	return fmt.Errorf("%w: %s", checkpointer.ErrUnavailable, fmt.Sprintf(format, args...))
}

// inWords puts the common causes plainly before what the client says.
func inWords(err error) error {
	switch {
	case redis.IsAuthError(err):
		return fmt.Errorf("the server refuses the user or the password: %w", err)
	case redis.IsPermissionError(err):
		return fmt.Errorf("the user may not do what is needed: %w", err)
	case redis.IsLoadingError(err):
		return fmt.Errorf("the server is still loading its data: %w", err)
	case redis.IsClusterDownError(err):
		return fmt.Errorf("the cluster does not serve all slots: %w", err)
	}
	return err
}
