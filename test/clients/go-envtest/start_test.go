package envtest

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/fake"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// processorTime is what children that have ended used.
func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// measure runs a control plane of KUBEBUILDER_ASSETS from start to stop, with work between.
func measure(b *testing.B, environment func() *envtest.Environment, work func(client.Client) error) {
	var starting, stopping time.Duration
	before := processorTime(b)
	for range b.N {
		begin := time.Now()
		plane := environment()
		config, err := plane.Start()
		if err != nil {
			b.Fatal(err)
		}
		starting += time.Since(begin)
		c, err := client.New(config, client.Options{})
		if err == nil {
			err = work(c)
		}
		begin = time.Now()
		if stopErr := plane.Stop(); err != nil || stopErr != nil {
			b.Fatal(err, stopErr)
		}
		stopping += time.Since(begin)
	}
	mean := func(sum time.Duration) float64 { return float64(sum.Milliseconds()) / float64(b.N) }
	b.ReportMetric(mean(starting), "ms-to-start/op")
	b.ReportMetric(mean(stopping), "ms-to-stop/op")
	b.ReportMetric(mean(processorTime(b)-before), "cpu-ms/op")
}

// BenchmarkStart starts and stops a control plane.
func BenchmarkStart(b *testing.B) {
	measure(b, func() *envtest.Environment { return &envtest.Environment{} }, func(client.Client) error { return nil })
}

func define(index int) *apiextensionsv1.CustomResourceDefinition {
	plural := fmt.Sprintf("kinds%d", index)
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	spec := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"text": text}}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + ".example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Kind: fmt.Sprintf("Kind%d", index)},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": spec},
				}},
			}},
		},
	}
}

// BenchmarkSuite installs 20 definitions and creates 300 objects between start and stop.
func BenchmarkSuite(b *testing.B) {
	const definitions, objects = 20, 300
	environment := func() *envtest.Environment {
		var crds []*apiextensionsv1.CustomResourceDefinition
		for index := range definitions {
			crds = append(crds, define(index))
		}
		return &envtest.Environment{CRDs: crds}
	}
	measure(b, environment, func(c client.Client) error {
		for index := range objects {
			name := fmt.Sprintf("object-%d", index)
			var object client.Object = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}
			if index%2 == 0 {
				object = &unstructured.Unstructured{Object: map[string]any{
					"apiVersion": "example.com/v1", "kind": fmt.Sprintf("Kind%d", index%definitions),
					"metadata": map[string]any{"name": name, "namespace": "default"}, "spec": map[string]any{"text": name},
				}}
			}
			if err := c.Create(context.Background(), object); err != nil {
				return err
			}
		}
		return nil
	})
}

// BenchmarkFakes creates 300 objects with the fakes of client-go, which have a tracker in place of a server.
func BenchmarkFakes(b *testing.B) {
	for range b.N {
		maps := fake.NewClientset().CoreV1().ConfigMaps("default")
		for index := range 300 {
			settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("object-%d", index)}}
			if _, err := maps.Create(context.Background(), settings, metav1.CreateOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	}
}
