// A suite against a cluster that runs already (USE_EXISTING_CLUSTER): envtest reads KUBECONFIG, installs the definitions there, and starts and stops nothing.
package envtest

import (
	"context"
	"os"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

func TestExistingCluster(t *testing.T) {
	if os.Getenv("USE_EXISTING_CLUSTER") != "true" {
		t.Skip("USE_EXISTING_CLUSTER is not set")
	}
	ctx := context.Background()
	preserve := true
	definition := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "lamps.example.org"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.org", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "lamps", Singular: "lamp", Kind: "Lamp", ListKind: "LampList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{
					OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &preserve},
				}}},
		},
	}
	environment := &envtest.Environment{CRDs: []*apiextensionsv1.CustomResourceDefinition{definition},
		CRDInstallOptions: envtest.CRDInstallOptions{CleanUpAfterUse: true}}
	config, err := environment.Start()
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	lamp := &unstructured.Unstructured{Object: map[string]interface{}{"spec": map[string]interface{}{"watts": int64(5)}}}
	lamp.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Lamp"})
	lamp.SetName("desk")
	lamp.SetNamespace("default")
	if err := c.Create(ctx, lamp); err != nil {
		t.Fatal(err)
	}
	if err := environment.Stop(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the definition stayed", func() bool {
		return apierrors.IsNotFound(c.Get(ctx, client.ObjectKey{Name: "lamps.example.org"}, definition))
	})
}
