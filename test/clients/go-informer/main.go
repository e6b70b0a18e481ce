// A client-go informer over protobuf. Prints, for each line on stdin, what it holds, whether it has synced, and how it asked.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

var streamed, protobuf, requests atomic.Int64

type counter struct{ next http.RoundTripper }

func (c counter) RoundTrip(request *http.Request) (*http.Response, error) {
	requests.Add(1)
	if request.URL.Query().Get("sendInitialEvents") == "true" {
		streamed.Add(1)
	}
	response, err := c.next.RoundTrip(request)
	if err == nil && strings.HasPrefix(response.Header.Get("Content-Type"), "application/vnd.kubernetes.protobuf") {
		protobuf.Add(1)
	}
	return response, err
}

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	if err != nil {
		panic(err)
	}
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return counter{next} })
	factory := informers.NewSharedInformerFactoryWithOptions(kubernetes.NewForConfigOrDie(config), 0, informers.WithNamespace("default"))
	configMaps := factory.Core().V1().ConfigMaps()
	pods := factory.Core().V1().Pods().Informer()
	informer := configMaps.Informer()
	stop := make(chan struct{})
	factory.Start(stop)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		held, _ := configMaps.Lister().ConfigMaps(v1.NamespaceDefault).List(labels.Everything())
		state := map[string]string{}
		for _, item := range held {
			state[item.Name] = item.ResourceVersion
		}
		answer, _ := json.Marshal(map[string]any{
			"state": state, "synced": informer.HasSynced() && pods.HasSynced(),
			"streamed": streamed.Load(), "protobuf": protobuf.Load(), "requests": requests.Load(),
		})
		fmt.Println(string(answer))
	}
}
