// Package testing has the functions of kube-apiserver's test server, for a server that is a program of its own.
package testing

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"os"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"

	serveroptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storageversion"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	"k8s.io/kubernetes/test/utils/ktesting"
	"k8s.io/kubernetes/test/utils/undertest"
)

// Logger is what helpers of tests report to: a *testing.T or a context of ktesting.
type Logger interface {
	Cleanup(func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Helper()
	Logf(format string, args ...any)
}

// TearDownFunc stops a server.
type TearDownFunc func()

// TestServerInstanceOptions describe a server; a program of its own has the version that it has, and no StorageVersionWrapFunc.
type TestServerInstanceOptions struct {
	SkipHealthzCheck       bool
	EnableCertAuth         bool
	ProxyCA                *ProxyCA
	RequestTimeout         time.Duration
	BinaryVersion          string
	StorageVersionWrapFunc func(storageversion.Manager) storageversion.Manager
}

// ProxyCA is the authority of a front proxy.
type ProxyCA struct {
	ProxySigningCert *x509.Certificate
	ProxySigningKey  *rsa.PrivateKey
}

// TestServer is a server that runs.
type TestServer struct {
	ClientConfig      *rest.Config
	ServerOpts        *options.ServerRunOptions
	TearDownFn        TearDownFunc
	TmpDir            string
	EtcdClient        *clientv3.Client
	EtcdStoragePrefix string
}

// NewDefaultTestServerOptions accept client certificates.
func NewDefaultTestServerOptions() *TestServerInstanceOptions {
	return &TestServerInstanceOptions{EnableCertAuth: true}
}

// StartTestServer starts a server on an etcd.
func StartTestServer(t ktesting.TB, instance *TestServerInstanceOptions, flags []string, storage *storagebackend.Config) (TestServer, error) {
	if instance == nil {
		instance = NewDefaultTestServerOptions()
	}
	dir, err := os.MkdirTemp("", "undertest")
	if err != nil {
		return TestServer{}, err
	}
	server, etcd, err := start(t, dir, instance, flags, storage)
	if err != nil {
		os.RemoveAll(dir)
		return TestServer{}, err
	}
	return TestServer{
		ClientConfig: server.Config, ServerOpts: describe(server, dir, instance, flags, storage), TmpDir: dir, EtcdClient: etcd, EtcdStoragePrefix: storage.Prefix,
		TearDownFn: func() {
			server.Stop()
			etcd.Close()
			os.RemoveAll(dir)
		},
	}, nil
}

func start(t ktesting.TB, dir string, instance *TestServerInstanceOptions, flags []string, storage *storagebackend.Config) (*undertest.Server, *clientv3.Client, error) {
	etcd, _, err := GetEtcdClients(storage.Transport)
	if err != nil {
		return nil, nil, err
	}
	o := undertest.Options{
		Test: t.Name(), Dir: dir, Etcd: storage.Transport.ServerList, Prefix: storage.Prefix, Flags: append(undertest.GateFlags(), flags...),
		NoWait: instance.SkipHealthzCheck, ClientAuth: instance.EnableCertAuth,
	}
	if instance.RequestTimeout > 0 {
		o.Flags = append(o.Flags, "--request-timeout="+instance.RequestTimeout.String())
	}
	if ca := instance.ProxyCA; ca != nil {
		text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.ProxySigningCert.Raw})
		o.ProxyCA = &undertest.Authority{Cert: ca.ProxySigningCert, Key: ca.ProxySigningKey, PEM: text}
	}
	server, err := undertest.Start(t.Logf, o)
	if err != nil {
		etcd.Close()
	}
	return server, etcd, err
}

// describe gives the options that a server in the same process would have had.
func describe(server *undertest.Server, dir string, instance *TestServerInstanceOptions, flags []string, storage *storagebackend.Config) *options.ServerRunOptions {
	opts := options.NewServerRunOptions()
	known := pflag.NewFlagSet("undertest", pflag.ContinueOnError)
	known.ParseErrorsWhitelist.UnknownFlags = true
	sets := opts.Flags()
	for _, set := range sets.FlagSets {
		known.AddFlagSet(set)
	}
	_ = known.Parse(flags)
	opts.Etcd.StorageConfig = *storage
	opts.SecureServing.BindPort, opts.SecureServing.ServerCert.CertDirectory = server.Port, dir
	opts.SecureServing.ServerCert.CertKey.CertFile = server.CertFile
	if instance.EnableCertAuth {
		opts.Authentication.RequestHeader = &serveroptions.NewDelegatingAuthenticationOptions().RequestHeader
		opts.Authentication.RequestHeader.ClientCAFile, opts.Authentication.ClientCert.ClientCA = server.ProxyCA, server.ClientCA
		opts.ProxyClientCertFile, opts.ProxyClientKeyFile = server.ProxyCertFile, server.ProxyKeyFile
	}
	return opts
}

// GetEtcdClients connect to an etcd.
func GetEtcdClients(config storagebackend.TransportConfig) (*clientv3.Client, clientv3.KV, error) {
	etcd := clientv3.Config{Endpoints: config.ServerList, DialTimeout: 20 * time.Second}
	if config.CertFile != "" || config.KeyFile != "" || config.TrustedCAFile != "" {
		info := transport.TLSInfo{CertFile: config.CertFile, KeyFile: config.KeyFile, TrustedCAFile: config.TrustedCAFile}
		tls, err := info.ClientConfig()
		if err != nil {
			return nil, nil, err
		}
		etcd.TLS = tls
	}
	client, err := clientv3.New(etcd)
	return client, client, err
}

// StartTestServerOrDie ends the test when the server does not start.
func StartTestServerOrDie(t testing.TB, instance *TestServerInstanceOptions, flags []string, storage *storagebackend.Config) *TestServer {
	server, err := StartTestServer(t, instance, flags, storage)
	if err != nil {
		t.Fatalf("failed to start the server under test: %v", err)
	}
	return &server
}
