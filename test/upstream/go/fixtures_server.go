// Package fixtures starts the server under test for the tests of apiextensions-apiserver.
package fixtures

import (
	"errors"
	"os"
	"path"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/pflag"
	clientv3 "go.etcd.io/etcd/client/v3"

	"k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/apiextensions-apiserver/pkg/cmd/server/options"
	servertesting "k8s.io/apiextensions-apiserver/pkg/cmd/server/testing"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/test/utils/undertest"
)

// foreign begin the flags that name the etcd, or the server that would authenticate and authorize.
var foreign = []string{"--etcd-", "--authentication-", "--authorization-kubeconfig", "--kubeconfig"}

func isForeign(flag string) bool {
	for _, beginning := range foreign {
		if strings.HasPrefix(flag, beginning) {
			return true
		}
	}
	return false
}

func withoutForeign(flags []string) (kept []string) {
	for i := 0; i < len(flags); i++ {
		if !isForeign(flags[i]) {
			kept = append(kept, flags[i])
		} else if !strings.Contains(flags[i], "=") {
			i++
		}
	}
	return kept
}

// StartDefaultServer starts a server; its options are those that a server in the same process would have had.
func StartDefaultServer(t servertesting.Logger, flags ...string) (func(), *rest.Config, *options.CustomResourceDefinitionsServerOptions, error) {
	dir, err := os.MkdirTemp("", "undertest")
	if err != nil {
		return nil, nil, nil, err
	}
	opts := options.NewCustomResourceDefinitionsServerOptions(os.Stdout, os.Stderr)
	known := pflag.NewFlagSet("undertest", pflag.ContinueOnError)
	known.ParseErrorsWhitelist.UnknownFlags = true
	opts.AddFlags(known)
	_ = known.Parse(flags)
	storage := &opts.RecommendedOptions.Etcd.StorageConfig
	storage.Prefix, storage.Transport.ServerList = path.Join("/", uuid.NewString(), "registry"), IntegrationEtcdServers()
	name := "apiextensions"
	if named, isNamed := t.(interface{ Name() string }); isNamed {
		name = named.Name()
	}
	server, err := undertest.Start(t.Logf, undertest.Options{
		Test: name, Dir: dir, Etcd: IntegrationEtcdServers(), Prefix: storage.Prefix, ClientAuth: true,
		Flags: append(append(undertest.GateFlags(), "--disable-admission-plugins=NamespaceLifecycle"), withoutForeign(flags)...),
	})
	if err != nil {
		os.RemoveAll(dir)
		return nil, nil, nil, err
	}
	return func() {
		server.Stop()
		os.RemoveAll(dir)
	}, server.Config, opts, nil
}

// StartDefaultServerWithConfigAccess gives a configuration that is not the server's: tests that change it cannot pass.
func StartDefaultServerWithConfigAccess(t servertesting.Logger, flags ...string) (func(), *rest.Config, apiserver.CompletedConfig, error) {
	stop, config, _, err := StartDefaultServer(t, flags...)
	return stop, config, apiserver.CompletedConfig{}, err
}

// StartDefaultServerWithClients starts a server, with clients.
func StartDefaultServerWithClients(t servertesting.Logger, flags ...string) (func(), clientset.Interface, dynamic.Interface, error) {
	stop, config, _, err := StartDefaultServer(t, flags...)
	if err != nil {
		return nil, nil, nil, err
	}
	definitions, first := clientset.NewForConfig(config)
	objects, second := dynamic.NewForConfig(config)
	if err := errors.Join(first, second); err != nil {
		stop()
		return nil, nil, nil, err
	}
	return stop, definitions, objects, nil
}

// StartDefaultServerWithClientsAndEtcd starts a server, with clients and a connection to its etcd; the last string is the prefix of its keys.
func StartDefaultServerWithClientsAndEtcd(t servertesting.Logger, flags ...string) (func(), clientset.Interface, dynamic.Interface, *clientv3.Client, string, error) {
	stop, config, opts, err := StartDefaultServer(t, flags...)
	if err != nil {
		return nil, nil, nil, nil, "", err
	}
	definitions, first := clientset.NewForConfig(config)
	objects, second := dynamic.NewForConfig(config)
	etcd, third := clientv3.New(clientv3.Config{Endpoints: IntegrationEtcdServers(), DialTimeout: 20 * time.Second})
	if err := errors.Join(first, second, third); err != nil {
		stop()
		return nil, nil, nil, nil, "", err
	}
	return func() {
		etcd.Close()
		stop()
	}, definitions, objects, etcd, opts.RecommendedOptions.Etcd.StorageConfig.Prefix, nil
}

// IntegrationEtcdServers names the etcd of the tests.
func IntegrationEtcdServers() []string {
	if url := os.Getenv("KUBE_INTEGRATION_ETCD_URL"); url != "" {
		return []string{url}
	}
	return []string{"http://127.0.0.1:2379"}
}
