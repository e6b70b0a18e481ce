package framework

import (
	"context"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/spf13/pflag"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	"k8s.io/kubernetes/pkg/controlplane"
	"k8s.io/kubernetes/test/utils/undertest"
)

// TestServerSetup changes options before the start; ModifyServerConfig has no meaning for a program of its own.
type TestServerSetup struct {
	ModifyServerRunOptions func(*options.ServerRunOptions)
	ModifyServerConfig     func(*controlplane.Config)
}

// TearDownFunc stops a server.
type TearDownFunc func()

// ownFlags are set by the harness.
var ownFlags = []string{"cert-dir", "etcd-prefix", "feature-gates", "secure-port", "bind-address"}

// StartTestServer starts a server with the flags that say what the test has changed in the options.
func StartTestServer(ctx context.Context, t testing.TB, setup TestServerSetup) (kubernetes.Interface, *rest.Config, TearDownFunc) {
	dir, err := os.MkdirTemp("", "undertest")
	if err != nil {
		t.Fatal(err)
	}
	opts := options.NewServerRunOptions()
	sets := opts.Flags()
	opts.SecureServing.ServerCert.CertDirectory = dir
	opts.Authorization.Modes = []string{"Node", "RBAC"}
	opts.Etcd.StorageConfig.Prefix = path.Join("/", uuid.NewString(), "registry")
	if setup.ModifyServerRunOptions != nil {
		setup.ModifyServerRunOptions(opts)
	}
	flags := undertest.GateFlags()
	for _, set := range sets.FlagSets {
		set.VisitAll(func(flag *pflag.Flag) {
			value := flag.Value.String()
			if value == flag.DefValue || slices.Contains(ownFlags, flag.Name) {
				return
			}
			if inner, isOpen := strings.CutPrefix(value, "["); isOpen && strings.HasSuffix(inner, "]") {
				value = strings.TrimSuffix(inner, "]")
			}
			flags = append(flags, "--"+flag.Name+"="+value)
		})
	}
	if opts.ServiceClusterIPRanges == "" {
		flags = append(flags, "--service-cluster-ip-range=10.0.0.0/24")
	}
	server, err := undertest.Start(t.Logf, undertest.Options{
		Test: t.Name(), Dir: dir, Etcd: []string{GetEtcdURL()}, Prefix: opts.Etcd.StorageConfig.Prefix, Flags: flags, ClientAuth: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(server.Config)
	if err != nil {
		t.Fatal(err)
	}
	return client, server.Config, func() {
		server.Stop()
		os.RemoveAll(dir)
	}
}
