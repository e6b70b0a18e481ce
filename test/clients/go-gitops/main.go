// Command gitops does with a cluster what Argo CD does: its engine watches every kind, syncs manifests by server-side apply, and asks by dry runs of
// server-side apply what others would change. It is given a kubeconfig and two files of manifests, and prints what it has seen as JSON.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/cache"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/diff"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/engine"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/sync"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/utils/kube"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/utils/tracing"
	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	manager   = "argocd-controller"
	namespace = "default"
	label     = "app.kubernetes.io/managed-by"
)

type outcome struct {
	// Resources is the number of kinds that the engine watches.
	Resources int `json:"resources"`
	// Parsed names the kinds whose type OpenAPI v2 has.
	Parsed []string          `json:"parsed"`
	Synced map[string]string `json:"synced"`
	// Before names what differs once the first manifests are applied, After what of the second ones, by dry runs; Structured the same without the server.
	Before     []string `json:"before"`
	After      []string `json:"after"`
	Structured []string `json:"structured"`
	// Predicted is the first object as a dry run has it.
	Predicted string `json:"predicted"`
}

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func read(file string) []*unstructured.Unstructured {
	objects := must(kube.SplitYAML(must(os.ReadFile(file))))
	for _, object := range objects {
		object.SetNamespace(namespace)
	}
	return objects
}

// compare names the objects that differ from those of the cluster.
func compare(wanted, live []*unstructured.Unstructured, options ...diff.Option) ([]string, *diff.DiffResultList) {
	found := must(diff.DiffArray(wanted, live, options...))
	names := []string{}
	for index, each := range found.Diffs {
		if each.Modified {
			names = append(names, wanted[index].GetKind()+"/"+wanted[index].GetName())
		}
	}
	return names, found
}

func main() {
	config := must(clientcmd.BuildConfigFromFlags("", os.Args[1]))
	manifests, changed := read(os.Args[2]), read(os.Args[3])
	clusterCache := cache.NewClusterCache(config, cache.SetPopulateResourceInfoHandler(func(un *unstructured.Unstructured, _ bool) (any, bool) {
		return nil, un.GetLabels()[label] == "gitops"
	}))
	run := engine.NewEngine(config, clusterCache)
	stop := must(run.Run())
	defer stop()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()

	result := outcome{Resources: len(clusterCache.GetAPIResources()), Synced: map[string]string{}}
	isManaged := func(r *cache.Resource) bool { return r.Resource != nil && r.Resource.GetLabels()[label] == "gitops" }
	options := []sync.SyncOpt{sync.WithServerSideApply(true), sync.WithServerSideApplyManager(manager)}
	for _, each := range must(run.Sync(ctx, manifests, isManaged, "1", namespace, options...)) {
		result.Synced[each.ResourceKey.Kind+"/"+each.ResourceKey.Name] = string(each.Status)
	}

	parser := clusterCache.GetGVKParser()
	kubectl := &kube.KubectlCmd{Log: logr.Discard(), Tracer: tracing.NopTracer{}}
	live := []*unstructured.Unstructured{}
	for _, each := range manifests {
		if parser.Type(each.GroupVersionKind()) != nil {
			result.Parsed = append(result.Parsed, each.GetKind())
		}
		live = append(live, must(kubectl.GetResource(ctx, config, each.GroupVersionKind(), each.GetName(), namespace)))
	}
	dryRuns, cleanup, err := kubectl.ManageServerSideDiffDryRuns(config)
	must(dryRuns, err)
	defer cleanup()
	typed := []diff.Option{diff.WithGVKParser(parser), diff.WithManager(manager)}
	asked := append(typed, diff.WithServerSideDiff(true), diff.WithServerSideDryRunner(diff.NewK8sServerSideDryRunner(dryRuns)))
	result.Before, _ = compare(manifests, live, asked...)
	after, found := compare(changed, live, asked...)
	result.After, result.Predicted = after, string(found.Diffs[0].PredictedLive)
	result.Structured, _ = compare(changed, live, append(typed, diff.WithStructuredMergeDiff(true))...)
	_ = json.NewEncoder(os.Stdout).Encode(result)
}
