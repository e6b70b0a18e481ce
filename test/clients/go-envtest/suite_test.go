// Package envtest is a suite as kubebuilder makes them: a control plane from KUBEBUILDER_ASSETS, a definition, a manager with a controller.
package envtest

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

type copier struct{ client.Client }

// Reconcile gives each ConfigMap a Secret of the same name that it owns.
func (c copier) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var source corev1.ConfigMap
	if err := c.Get(ctx, request.NamespacedName, &source); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: source.Name, Namespace: source.Namespace}, StringData: source.Data}
	if err := ctrl.SetControllerReference(&source, secret, c.Scheme()); err != nil {
		return ctrl.Result{}, err
	}
	err := c.Create(ctx, secret)
	if apierrors.IsAlreadyExists(err) {
		err = nil
	}
	return ctrl.Result{}, err
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatal(what)
}

func TestControlPlane(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	environment := &envtest.Environment{}
	config, err := environment.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := environment.Stop(); err != nil {
			t.Error(err)
		}
	}()
	user, err := environment.AddUser(envtest.User{Name: "guest", Groups: []string{"guests"}}, config)
	if err != nil {
		t.Fatal(err)
	}
	guest, err := client.New(user.Config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := guest.List(ctx, &corev1.SecretList{}); !apierrors.IsForbidden(err) {
		t.Errorf("a guest lists secrets: %v", err)
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := ctrl.NewControllerManagedBy(manager).For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).Complete(copier{manager.GetClient()}); err != nil {
		t.Fatal(err)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- manager.Start(ctx) }()
	c := manager.GetClient()
	source := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings", Namespace: "default"}, Data: map[string]string{"color": "blue"}}
	if err := c.Create(ctx, source); err != nil {
		t.Fatal(err)
	}
	key := types.NamespacedName{Name: "settings", Namespace: "default"}
	var secret corev1.Secret
	eventually(t, "no secret was made", func() bool { return c.Get(ctx, key, &secret) == nil })
	if string(secret.Data["color"]) != "blue" {
		t.Errorf("the secret holds %q", secret.Data)
	}
	if err := c.Delete(ctx, source); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the secret outlived its owner", func() bool { return apierrors.IsNotFound(c.Get(ctx, key, &secret)) })
	cancel()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}
