package redistest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// StartCluster runs a cluster of three masters without replicas and returns them when
// all slots are served.
func StartCluster(t testing.TB) []*Server {
	t.Helper()
	Need(t)
	var servers []*Server
	args := []string{"--cluster", "create"}
	for range 3 {
		s := Start(t, "--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf", "--cluster-node-timeout", "15000") // a busy machine is no failure
		servers = append(servers, s)
		args = append(args, s.Addr)
	}
	out, err := exec.CommandContext(t.Context(), "redis-cli", append(args, "--cluster-yes")...).CombinedOutput()
	if err != nil {
		t.Fatalf("redis-cli --cluster create: %v\n%s", err, out)
	}
	for _, s := range servers {
		err := Eventually(20*time.Second, func() error {
			info, err := Command(s.Addr, "CLUSTER", "INFO")
			if err == nil && !strings.Contains(info, "cluster_state:ok") {
				err = fmt.Errorf("cluster at %s: %s", s.Addr, info)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return servers
}

// MasterName is what the Sentinel of [StartSentinel] calls its master.
const MasterName = "rooms"

// Sentinel is a master and its replica, watched by one Sentinel.
type Sentinel struct {
	Addr            string // the Sentinel's
	Master, Replica *Server
}

// StartSentinel runs a replicated pair under one Sentinel.
func StartSentinel(t testing.TB) *Sentinel {
	t.Helper()
	s := &Sentinel{Master: Start(t)}
	host, port, _ := strings.Cut(s.Master.Addr, ":")
	s.Replica = Start(t, "--replicaof", host, port, "--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0")
	conf := filepath.Join(t.TempDir(), "sentinel.conf")
	listen, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("port %d\nbind 127.0.0.1\nsentinel monitor %s %s %s 1\nsentinel down-after-milliseconds %s 500\nsentinel failover-timeout %s 3000\n",
		listen, MasterName, host, port, MasterName, MasterName)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	guard := &Server{Addr: fmt.Sprintf("127.0.0.1:%d", listen), args: []string{conf, "--sentinel"}}
	if err := guard.Restart(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(guard.Kill)
	s.Addr = guard.Addr
	if err := Eventually(30*time.Second, s.ready); err != nil {
		t.Fatal(err)
	}
	return s
}

// ready waits for the replica to be in step and known to the Sentinel.
func (s *Sentinel) ready() error {
	info, err := Command(s.Replica.Addr, "INFO", "replication")
	if err != nil || !strings.Contains(info, "master_link_status:up") {
		return fmt.Errorf("the replica is not in step: %s %v", info, err)
	}
	count, err := Command(s.Addr, "SENTINEL", "REPLICAS", MasterName)
	if err != nil || count != "*1" {
		return fmt.Errorf("the Sentinel does not know the replica: %s %v", count, err)
	}
	return nil
}
