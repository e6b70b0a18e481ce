// A custom kind with a defaulting and a validating webhook, as a kubebuilder project has them: definition and configurations are installed by envtest, the
// webhooks are served by the manager.
package envtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

type backupSpec struct {
	Schedule string `json:"schedule"`
	Keep     *int   `json:"keep,omitempty"`
}

type backup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              backupSpec `json:"spec,omitempty"`
}

func (b *backup) DeepCopyObject() runtime.Object {
	out := *b
	b.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	if b.Spec.Keep != nil {
		keep := *b.Spec.Keep
		out.Spec.Keep = &keep
	}
	return &out
}

var group = schema.GroupVersion{Group: "batch.example.org", Version: "v1"}

type backupWebhook struct{}

func (backupWebhook) Default(_ context.Context, b *backup) error {
	if b.Spec.Keep == nil {
		keep := 7
		b.Spec.Keep = &keep
	}
	return nil
}

func check(b *backup) (admission.Warnings, error) {
	if len(strings.Fields(b.Spec.Schedule)) != 5 {
		return nil, fmt.Errorf("schedule %q has not five fields", b.Spec.Schedule)
	}
	if *b.Spec.Keep > 100 {
		return admission.Warnings{"many backups are kept"}, nil
	}
	return nil, nil
}

func (backupWebhook) ValidateCreate(_ context.Context, b *backup) (admission.Warnings, error) {
	return check(b)
}

func (backupWebhook) ValidateUpdate(_ context.Context, old, b *backup) (admission.Warnings, error) {
	if *b.Spec.Keep < *old.Spec.Keep {
		return nil, errors.New("keep does not shrink")
	}
	return check(b)
}

func (backupWebhook) ValidateDelete(_ context.Context, b *backup) (admission.Warnings, error) {
	if b.Labels["protected"] != "" {
		return nil, errors.New("the backup is protected")
	}
	return nil, nil
}

func backupDefinition() *apiextensionsv1.CustomResourceDefinition {
	keep := true
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "backups.batch.example.org"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group.Group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "backups", Kind: "Backup"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: group.Version, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &keep}},
			}},
		},
	}
}

func options() envtest.WebhookInstallOptions {
	rules := func(operations ...admissionv1.OperationType) []admissionv1.RuleWithOperations {
		return []admissionv1.RuleWithOperations{{Operations: operations, Rule: admissionv1.Rule{
			APIGroups: []string{group.Group}, APIVersions: []string{group.Version}, Resources: []string{"backups"},
		}}}
	}
	service := func(path string) admissionv1.WebhookClientConfig {
		return admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Name: "webhook", Namespace: "system", Path: &path}}
	}
	none, fail, versions := admissionv1.SideEffectClassNone, admissionv1.Fail, []string{"v1"}
	return envtest.WebhookInstallOptions{
		MutatingWebhooks: []*admissionv1.MutatingWebhookConfiguration{{
			ObjectMeta: metav1.ObjectMeta{Name: "backups"},
			Webhooks: []admissionv1.MutatingWebhook{{
				Name: "mbackup.example.org", ClientConfig: service("/mutate-batch-example-org-v1-backup"), Rules: rules(admissionv1.Create, admissionv1.Update),
				SideEffects: &none, FailurePolicy: &fail, AdmissionReviewVersions: versions,
			}},
		}},
		ValidatingWebhooks: []*admissionv1.ValidatingWebhookConfiguration{{
			ObjectMeta: metav1.ObjectMeta{Name: "backups"},
			Webhooks: []admissionv1.ValidatingWebhook{{
				Name: "vbackup.example.org", ClientConfig: service("/validate-batch-example-org-v1-backup"), Rules: rules(admissionv1.OperationAll),
				SideEffects: &none, FailurePolicy: &fail, AdmissionReviewVersions: versions,
			}},
		}},
	}
}

type warningRecorder struct{ texts chan string }

func (r warningRecorder) HandleWarningHeaderWithContext(_ context.Context, _ int, _ string, text string) {
	r.texts <- text
}

func TestWebhooks(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	scheme.Scheme.AddKnownTypeWithName(group.WithKind("Backup"), &backup{})
	metav1.AddToGroupVersion(scheme.Scheme, group)
	environment := &envtest.Environment{CRDs: []*apiextensionsv1.CustomResourceDefinition{backupDefinition()}, WebhookInstallOptions: options()}
	config, err := environment.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := environment.Stop(); err != nil {
			t.Error(err)
		}
	}()
	warnings := warningRecorder{make(chan string, 10)}
	config.WarningHandlerWithContext = warnings
	serving := environment.WebhookInstallOptions
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Metrics: metricsserver.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{
			Host: serving.LocalServingHost, Port: serving.LocalServingPort, CertDir: serving.LocalServingCertDir,
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := ctrl.NewWebhookManagedBy(manager, &backup{}).WithDefaulter(backupWebhook{}).WithValidator(backupWebhook{}).Complete(); err != nil {
		t.Fatal(err)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- manager.Start(ctx) }()
	eventually(t, "the webhooks are not served", func() bool {
		connection, err := net.Dial("tcp", net.JoinHostPort(serving.LocalServingHost, strconv.Itoa(serving.LocalServingPort)))
		if err == nil {
			connection.Close()
		}
		return err == nil
	})
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkBackups(ctx, t, c, warnings)
	cancel()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

func checkBackups(ctx context.Context, t *testing.T, c client.Client, warnings warningRecorder) {
	t.Helper()
	refused := func(err error, text string) {
		t.Helper()
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `admission webhook "vbackup.example.org" denied the request: `+text) {
			t.Errorf("the answer is %v", err)
		}
	}
	make := func(name, schedule string) *backup {
		return &backup{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, Spec: backupSpec{Schedule: schedule}}
	}
	refused(c.Create(ctx, make("bad", "daily")), `schedule "daily" has not five fields`)
	nightly := make("nightly", "0 3 * * *")
	if err := c.Create(ctx, nightly); err != nil {
		t.Fatal(err)
	}
	if nightly.Spec.Keep == nil || *nightly.Spec.Keep != 7 {
		t.Errorf("keep is %v", nightly.Spec.Keep)
	}
	*nightly.Spec.Keep = 3
	refused(c.Update(ctx, nightly), "keep does not shrink")
	*nightly.Spec.Keep = 200
	nightly.Labels = map[string]string{"protected": "yes"}
	if err := c.Update(ctx, nightly); err != nil {
		t.Fatal(err)
	}
	if text := <-warnings.texts; text != "many backups are kept" {
		t.Errorf("the warning is %q", text)
	}
	refused(c.Delete(ctx, nightly), "the backup is protected")
	if err := c.Patch(ctx, nightly, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":null}}`))); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(ctx, nightly); err != nil {
		t.Fatal(err)
	}
}
