// Command webhook is cert-manager's webhook server with its certificate from files. Its own command is in a module that is not published; the module's
// name here stands below cert-manager's so that its internal packages may be imported.
package main

import (
	"fmt"
	"os"
	"strconv"

	config "github.com/cert-manager/cert-manager/internal/apis/config/webhook"
	"github.com/cert-manager/cert-manager/internal/webhook"
	logf "github.com/cert-manager/cert-manager/pkg/logs"
	ctrl "sigs.k8s.io/controller-runtime"
)

// Arguments: a port, the files of a certificate and its key, a kubeconfig.
func main() {
	port, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	var options config.WebhookConfiguration
	options.SecurePort = int32(port)
	options.MetricsListenAddress = "0"
	options.TLSConfig.Filesystem.CertFile = os.Args[2]
	options.TLSConfig.Filesystem.KeyFile = os.Args[3]
	options.KubeConfig = os.Args[4]
	server, err := webhook.NewCertManagerWebhookServer(logf.Log, options)
	if err == nil {
		err = server.Run(ctrl.SetupSignalHandler())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
