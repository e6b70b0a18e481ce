// Package undertest runs the server under test as a program beside the test: APISERVER is its command, APISERVER_LOGS a directory for its output.
package undertest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/rest"
)

// Options describe a server.
type Options struct {
	Test       string // the name of the test
	Dir        string // takes certificates, keys and tokens
	Etcd       []string
	Prefix     string
	Flags      []string // of the test; they win over the defaults
	NoWait     bool     // return before the server is healthy
	ClientAuth bool     // accept client certificates and a front proxy
	ProxyCA    *Authority
}

// Server is a program that runs.
type Server struct {
	Config                      *rest.Config
	Port                        int
	CertFile                    string // of the server, with its authority's
	ClientCA, ProxyCA           string // files
	ProxyCertFile, ProxyKeyFile string
	Stop                        func()
}

// Authority issues certificates.
type Authority struct {
	Cert *x509.Certificate
	Key  any
	PEM  []byte
}

const healthyWithin = 60 * time.Second

func toPEM(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func template(name string) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour),
	}
}

func newAuthority(name string) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	cert := template(name)
	cert.IsCA, cert.BasicConstraintsValid, cert.KeyUsage = true, true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, key.Public(), key)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParseCertificate(der)
	return &Authority{Cert: parsed, Key: key, PEM: toPEM("CERTIFICATE", der)}, err
}

// newKey makes the key of a certificate. That of a server is an RSA key, as in upstream's test servers: tests of cipher suites need one.
func newKey(usage x509.ExtKeyUsage) (crypto.Signer, error) {
	if usage == x509.ExtKeyUsageServerAuth {
		return rsa.GenerateKey(rand.Reader, 2048)
	}
	return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
}

// issue writes a certificate, with that of the authority behind it, and its key into the directory; returns both paths.
func (a *Authority) issue(dir, name string, usage x509.ExtKeyUsage) (string, string, error) {
	key, err := newKey(usage)
	if err != nil {
		return "", "", err
	}
	cert := template(name)
	cert.KeyUsage, cert.ExtKeyUsage = x509.KeyUsageDigitalSignature|x509.KeyUsageKeyEncipherment, []x509.ExtKeyUsage{usage}
	cert.DNSNames, cert.IPAddresses = []string{"localhost", "kubernetes.default.svc"}, []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(10, 0, 0, 1)}
	der, err := x509.CreateCertificate(rand.Reader, cert, a.Cert, key.Public(), a.Key)
	if err != nil {
		return "", "", err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return "", "", err
	}
	certFile, keyFile := filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key")
	chain := append(toPEM("CERTIFICATE", der), a.PEM...)
	return certFile, keyFile, errors.Join(os.WriteFile(certFile, chain, 0o644), os.WriteFile(keyFile, toPEM("PRIVATE KEY", private), 0o600))
}

// GateFlags names the feature gates that the test has switched in its own process.
func GateFlags() []string {
	var switched []string
	for name, spec := range utilfeature.DefaultMutableFeatureGate.GetAll() {
		if on := utilfeature.DefaultFeatureGate.Enabled(name); on != spec.Default && !strings.HasPrefix(string(name), "All") {
			switched = append(switched, fmt.Sprintf("%s=%t", name, on))
		}
	}
	if switched == nil {
		return nil
	}
	slices.Sort(switched)
	return []string{"--feature-gates=" + strings.Join(switched, ",")}
}

// take removes a flag from a command line; returns the rest and the flag's last value.
func take(flags []string, name string) (rest []string, value string, found bool) {
	for i := 0; i < len(flags); i++ {
		after, isPair := strings.CutPrefix(flags[i], "--"+name+"=")
		switch {
		case isPair:
			value, found = after, true
		case flags[i] == "--"+name && i+1 < len(flags):
			i++
			value, found = flags[i], true
		default:
			rest = append(rest, flags[i])
		}
	}
	return rest, value, found
}

func writeServiceAccountKey(path string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return os.WriteFile(path, toPEM("EC PRIVATE KEY", der), 0o600)
}

func (s *Server) prepareClientAuth(o Options) ([]string, error) {
	clients, err := newAuthority("client-ca")
	if err != nil {
		return nil, err
	}
	proxies := o.ProxyCA
	if proxies == nil {
		if proxies, err = newAuthority("front-proxy-ca"); err != nil {
			return nil, err
		}
	}
	s.ClientCA, s.ProxyCA = filepath.Join(o.Dir, "client-ca.crt"), filepath.Join(o.Dir, "proxy-ca.crt")
	if err := errors.Join(os.WriteFile(s.ClientCA, clients.PEM, 0o644), os.WriteFile(s.ProxyCA, proxies.PEM, 0o644)); err != nil {
		return nil, err
	}
	if s.ProxyCertFile, s.ProxyKeyFile, err = proxies.issue(o.Dir, "misty", x509.ExtKeyUsageClientAuth); err != nil {
		return nil, err
	}
	return []string{
		"client-ca-file=" + s.ClientCA, "requestheader-client-ca-file=" + s.ProxyCA, "requestheader-allowed-names=ash,misty,brock",
		"requestheader-username-headers=X-Remote-User", "requestheader-group-headers=X-Remote-Group", "requestheader-extra-headers-prefix=X-Remote-Extra-",
		"proxy-client-cert-file=" + s.ProxyCertFile, "proxy-client-key-file=" + s.ProxyKeyFile,
	}, nil
}

// commandLine has the defaults that the test does not set, the test's flags, and the token of its administrator.
func (s *Server) commandLine(o Options, serving *Authority, token string) ([]string, error) {
	certFile, keyFile, err := serving.issue(o.Dir, "apiserver", x509.ExtKeyUsageServerAuth)
	if err != nil {
		return nil, err
	}
	s.CertFile = certFile
	accountKey := filepath.Join(o.Dir, "sa.key")
	if err := writeServiceAccountKey(accountKey); err != nil {
		return nil, err
	}
	defaults := []string{
		"bind-address=127.0.0.1", fmt.Sprintf("secure-port=%d", s.Port), "cert-dir=" + o.Dir, "tls-cert-file=" + certFile, "tls-private-key-file=" + keyFile,
		"service-account-issuer=https://foo.bar.example.com", "service-account-key-file=" + accountKey, "service-account-signing-key-file=" + accountKey,
		"service-cluster-ip-range=10.0.0.0/16", "etcd-servers=" + strings.Join(o.Etcd, ","), "etcd-prefix=" + o.Prefix,
		"storage-media-type=application/vnd.kubernetes.protobuf", "authorization-mode=AlwaysAllow",
	}
	if o.ClientAuth {
		more, err := s.prepareClientAuth(o)
		if err != nil {
			return nil, err
		}
		defaults = append(defaults, more...)
	}
	flags, givenTokens, hasTokens := take(o.Flags, "token-auth-file")
	lines := fmt.Sprintf("%s,system:apiserver,%s,\"system:masters\"\n", token, token)
	if hasTokens {
		if given, err := os.ReadFile(givenTokens); err == nil {
			lines += string(given)
		}
	}
	tokenFile := filepath.Join(o.Dir, "undertest-tokens.csv")
	if err := os.WriteFile(tokenFile, []byte(lines), 0o600); err != nil {
		return nil, err
	}
	args := []string{"--token-auth-file=" + tokenFile}
	_, _, isConfigured := take(flags, "authorization-config")
	for _, flag := range defaults {
		name, _, _ := strings.Cut(flag, "=")
		if _, _, given := take(flags, name); !given && !(name == "authorization-mode" && isConfigured) {
			args = append(args, "--"+flag)
		}
	}
	return append(args, flags...), nil
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// Start starts a server, and waits until it is healthy unless told otherwise.
func Start(log func(format string, args ...any), o Options) (*Server, error) {
	command := strings.Fields(os.Getenv("APISERVER"))
	if len(command) == 0 {
		return nil, errors.New("APISERVER names no command")
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	serving, err := newAuthority("serving-ca")
	if err != nil {
		return nil, err
	}
	token := uuid.NewString()
	server := &Server{Port: port, Config: &rest.Config{
		Host: fmt.Sprintf("https://127.0.0.1:%d", port), BearerToken: token, QPS: 1000, Burst: 10000, TLSClientConfig: rest.TLSClientConfig{CAData: serving.PEM},
	}}
	args, err := server.commandLine(o, serving, token)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%s-%d.log", strings.NewReplacer("/", "_", " ", "_").Replace(o.Test), port)
	output, err := os.Create(filepath.Join(os.Getenv("APISERVER_LOGS"), name))
	if err != nil {
		return nil, err
	}
	process := exec.Command(command[0], append(command[1:], args...)...)
	process.Stdout, process.Stderr = output, output
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := process.Start(); err != nil {
		return nil, err
	}
	exited := make(chan struct{})
	go func() {
		_ = process.Wait()
		close(exited)
	}()
	server.Stop = func() {
		defer output.Close()
		_ = syscall.Kill(-process.Process.Pid, syscall.SIGTERM)
		select {
		case <-exited:
		case <-time.After(10 * time.Second):
			_ = syscall.Kill(-process.Process.Pid, syscall.SIGKILL)
			<-exited
		}
	}
	log("server under test: %s, output in %s", server.Config.Host, output.Name())
	if o.NoWait {
		return server, nil
	}
	if err := server.waitUntilHealthy(exited); err != nil {
		server.Stop()
		text, _ := os.ReadFile(output.Name())
		return nil, fmt.Errorf("%w: %s", err, text[max(0, len(text)-600):])
	}
	return server, nil
}

func (s *Server) waitUntilHealthy(exited <-chan struct{}) error {
	transport, err := rest.TransportFor(s.Config)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: transport, Timeout: 5 * time.Second}
	defer client.CloseIdleConnections()
	deadline := time.After(healthyWithin)
	for _, path := range []string{"/healthz", "/api/v1/namespaces/default", "/api/v1/namespaces/kube-system"} {
		for !isOK(client, s.Config.Host+path) {
			select {
			case <-exited:
				return errors.New("the server ended")
			case <-deadline:
				return fmt.Errorf("%s was not ok within %v", path, healthyWithin)
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
	return nil
}

func isOK(client *http.Client, url string) bool {
	response, err := client.Get(url)
	if err != nil {
		return false
	}
	response.Body.Close()
	return response.StatusCode == http.StatusOK
}
