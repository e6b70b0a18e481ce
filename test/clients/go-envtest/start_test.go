package envtest

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// BenchmarkStart starts and stops the control plane of KUBEBUILDER_ASSETS.
func BenchmarkStart(b *testing.B) {
	var stopping time.Duration
	for range b.N {
		environment := &envtest.Environment{}
		if _, err := environment.Start(); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		begin := time.Now()
		if err := environment.Stop(); err != nil {
			b.Fatal(err)
		}
		stopping += time.Since(begin)
		b.StartTimer()
	}
	b.ReportMetric(float64(stopping.Milliseconds())/float64(b.N), "ms-to-stop/op")
}
