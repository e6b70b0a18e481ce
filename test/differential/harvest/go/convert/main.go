// Reads recorded calls of validation (see record.go) and writes the API objects of each, in the version that is preferred, as a line of JSON:
// {"function": …, "objects": […]}. A call with a part of an object gives an object around it, where the part is one of those below.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install"
	_ "k8s.io/kubernetes/pkg/apis/apiserverinternal/install"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/authentication/install"
	_ "k8s.io/kubernetes/pkg/apis/authorization/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/certificates/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/discovery/install"
	_ "k8s.io/kubernetes/pkg/apis/events/install"
	_ "k8s.io/kubernetes/pkg/apis/flowcontrol/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	"k8s.io/kubernetes/pkg/apis/policy"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	_ "k8s.io/kubernetes/pkg/apis/storagemigration/install"
)

type argument struct {
	Type  string
	Value json.RawMessage
}

type call struct {
	Function  string     `json:"function"`
	Arguments []argument `json:"arguments"`
}

var (
	scheme = legacyscheme.Scheme
	// kinds are those of the internal types, by their package and name.
	kinds = map[string]schema.GroupVersionKind{}
	named = metav1.ObjectMeta{Name: "a"}
)

const corePackage = "k8s.io/kubernetes/pkg/apis/core."

func podOf(spec core.PodSpec) runtime.Object {
	if len(spec.Containers) == 0 {
		spec.Containers = []core.Container{plainContainer()}
	}
	return &core.Pod{ObjectMeta: named, Spec: spec}
}

func plainContainer() core.Container {
	return core.Container{Name: "c", Image: "i", ImagePullPolicy: core.PullAlways, TerminationMessagePolicy: core.TerminationMessageReadFile}
}

func containerOf(set func(*core.Container)) runtime.Object {
	container := plainContainer()
	set(&container)
	return podOf(core.PodSpec{Containers: []core.Container{container}})
}

// part makes an object around a part of one.
func part[T any](around func(T) runtime.Object) func([]byte) runtime.Object {
	return func(text []byte) runtime.Object {
		var value T
		if json.Unmarshal(text, &value) != nil {
			return nil
		}
		return around(value)
	}
}

var parts = map[string]func([]byte) runtime.Object{
	corePackage + "PodSpec":         part(podOf),
	corePackage + "PodTemplateSpec": part(func(v core.PodTemplateSpec) runtime.Object { return &core.PodTemplate{ObjectMeta: named, Template: v} }),
	"[]" + corePackage + "Volume":   part(func(v []core.Volume) runtime.Object { return podOf(core.PodSpec{Volumes: v}) }),
	"[]" + corePackage + "Container": part(func(v []core.Container) runtime.Object {
		return podOf(core.PodSpec{Containers: v})
	}),
	"[]" + corePackage + "Toleration": part(func(v []core.Toleration) runtime.Object { return podOf(core.PodSpec{Tolerations: v}) }),
	"[]" + corePackage + "TopologySpreadConstraint": part(func(v []core.TopologySpreadConstraint) runtime.Object {
		return podOf(core.PodSpec{TopologySpreadConstraints: v})
	}),
	corePackage + "PodDNSConfig": part(func(v core.PodDNSConfig) runtime.Object { return podOf(core.PodSpec{DNSConfig: &v}) }),
	corePackage + "PodSecurityContext": part(func(v core.PodSecurityContext) runtime.Object {
		return podOf(core.PodSpec{SecurityContext: &v})
	}),
	"[]" + corePackage + "EnvVar": part(func(v []core.EnvVar) runtime.Object {
		return containerOf(func(c *core.Container) { c.Env = v })
	}),
	corePackage + "EnvVar": part(func(v core.EnvVar) runtime.Object {
		return containerOf(func(c *core.Container) { c.Env = []core.EnvVar{v} })
	}),
	"[]" + corePackage + "EnvFromSource": part(func(v []core.EnvFromSource) runtime.Object {
		return containerOf(func(c *core.Container) { c.EnvFrom = v })
	}),
	"[]" + corePackage + "VolumeMount": part(func(v []core.VolumeMount) runtime.Object {
		return containerOf(func(c *core.Container) { c.VolumeMounts = v })
	}),
	corePackage + "Probe": part(func(v core.Probe) runtime.Object {
		return containerOf(func(c *core.Container) { c.LivenessProbe = &v })
	}),
	corePackage + "ResourceRequirements": part(func(v core.ResourceRequirements) runtime.Object {
		return containerOf(func(c *core.Container) { c.Resources = v })
	}),
	corePackage + "SecurityContext": part(func(v core.SecurityContext) runtime.Object {
		return containerOf(func(c *core.Container) { c.SecurityContext = &v })
	}),
	corePackage + "WindowsSecurityContextOptions": part(func(v core.WindowsSecurityContextOptions) runtime.Object {
		return containerOf(func(c *core.Container) { c.SecurityContext = &core.SecurityContext{WindowsOptions: &v} })
	}),
	"[]" + corePackage + "ContainerPort": part(func(v []core.ContainerPort) runtime.Object {
		return containerOf(func(c *core.Container) { c.Ports = v })
	}),
	"[]" + corePackage + "ContainerResizePolicy": part(func(v []core.ContainerResizePolicy) runtime.Object {
		return containerOf(func(c *core.Container) { c.ResizePolicy = v })
	}),
	corePackage + "SleepAction": part(func(v core.SleepAction) runtime.Object {
		return containerOf(func(c *core.Container) { c.Lifecycle = &core.Lifecycle{PreStop: &core.LifecycleHandler{Sleep: &v}} })
	}),
	corePackage + "CSIVolumeSource": part(func(v core.CSIVolumeSource) runtime.Object {
		return podOf(core.PodSpec{Volumes: []core.Volume{{Name: "v", VolumeSource: core.VolumeSource{CSI: &v}}}})
	}),
	corePackage + "CSIPersistentVolumeSource": part(func(v core.CSIPersistentVolumeSource) runtime.Object {
		return &core.PersistentVolume{ObjectMeta: named, Spec: core.PersistentVolumeSpec{
			AccessModes: []core.PersistentVolumeAccessMode{core.ReadWriteOnce}, PersistentVolumeSource: core.PersistentVolumeSource{CSI: &v},
		}}
	}),
	corePackage + "PersistentVolumeClaimSpec": part(func(v core.PersistentVolumeClaimSpec) runtime.Object {
		return &core.PersistentVolumeClaim{ObjectMeta: named, Spec: v}
	}),
	corePackage + "PersistentVolumeSpec": part(func(v core.PersistentVolumeSpec) runtime.Object {
		return &core.PersistentVolume{ObjectMeta: named, Spec: v}
	}),
	"k8s.io/kubernetes/pkg/apis/policy.PodDisruptionBudgetSpec": part(func(v policy.PodDisruptionBudgetSpec) runtime.Object {
		return &policy.PodDisruptionBudget{ObjectMeta: named, Spec: v}
	}),
}

// objectsOf are the objects among the arguments, at most two: the new one and the old one of an update.
func objectsOf(one call) (found []runtime.Object) {
	for _, argument := range one.Arguments {
		kind, known := kinds[argument.Type]
		if !known || len(found) == 2 {
			continue
		}
		object, err := scheme.New(kind)
		if err == nil && json.Unmarshal(argument.Value, object) == nil {
			found = append(found, object)
		}
	}
	if around := parts[one.Arguments[0].Type]; len(found) == 0 && around != nil {
		if object := around(one.Arguments[0].Value); object != nil {
			found = append(found, object)
		}
	}
	return found
}

func convert(object runtime.Object) (text json.RawMessage, err error) {
	// Values that no client can send make some conversions panic.
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("%v", reason)
		}
	}()
	element := reflect.TypeOf(object).Elem()
	kind := kinds[element.PkgPath()+"."+element.Name()]
	if accessor, err := meta.Accessor(object); err == nil {
		accessor.SetResourceVersion("")
		accessor.SetUID("")
		accessor.SetManagedFields(nil)
	}
	for _, version := range scheme.PrioritizedVersionsForGroup(kind.Group) {
		if scheme.Recognizes(version.WithKind(kind.Kind)) {
			versioned, err := scheme.ConvertToVersion(object, version)
			if err != nil {
				return nil, err
			}
			return json.Marshal(versioned)
		}
	}
	return nil, fmt.Errorf("no version of %s", kind.Kind)
}

func main() {
	apiextensions.Install(scheme)
	for kind, of := range scheme.AllKnownTypes() {
		if kind.Version == runtime.APIVersionInternal && !strings.HasPrefix(of.PkgPath(), "k8s.io/apimachinery") {
			kinds[of.PkgPath()+"."+of.Name()] = kind
		}
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 1<<20), 1<<28)
	output := bufio.NewWriter(os.Stdout)
	defer output.Flush()
	written := map[string]bool{}
	for lines.Scan() {
		var one call
		if json.Unmarshal(lines.Bytes(), &one) != nil {
			continue
		}
		var objects []json.RawMessage
		for _, object := range objectsOf(one) {
			text, err := convert(object)
			if err != nil {
				objects = nil
				break
			}
			objects = append(objects, text)
		}
		line, err := json.Marshal(map[string]any{"function": one.Function, "objects": objects})
		if err == nil && len(objects) > 0 && !written[string(line)] {
			written[string(line)] = true
			_, _ = output.Write(append(line, '\n'))
		}
	}
}
