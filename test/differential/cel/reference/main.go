// Reads expressions as lines of JSON and answers, line by line, what Kubernetes' own packages make of them: the report of the compiler, the type,
// the estimate of the cost, the value or the error of an evaluation, and what it cost.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	rules "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/version"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

// The first line: the schema of `self`, and the values that expressions are evaluated on.
type setup struct {
	Schema apiextensionsv1.JSONSchemaProps `json:"schema"`
	Values []json.RawMessage               `json:"values"`
}

type question struct {
	Text  string `json:"text"`
	Value int    `json:"value"`
}

type answer struct {
	Problem  string   `json:"problem,omitempty"`
	Type     string   `json:"type,omitempty"`
	Least    string   `json:"least,omitempty"`
	Most     string   `json:"most,omitempty"`
	Value    string   `json:"value,omitempty"`
	Error    string   `json:"error,omitempty"`
	Cost     string   `json:"cost,omitempty"`
	Unsteady []string `json:"unsteady,omitempty"`
}

// The bounds of sizes that a schema gives, as the validation of custom resources takes them.
type sizes struct{ root *apiservercel.DeclType }

func (s *sizes) EstimateSize(element checker.AstNode) *checker.SizeEstimate {
	path := element.Path()
	if len(path) == 0 {
		return nil
	}
	current := s.root
	for _, name := range path[1:] {
		switch name {
		case "@items", "@values":
			current = current.ElemType
		case "@keys":
			current = current.KeyType
		default:
			field, found := current.Fields[name]
			if !found {
				return nil
			}
			current = field.Type
		}
		if current == nil {
			return nil
		}
	}
	return &checker.SizeEstimate{Min: 0, Max: uint64(current.MaxElements)}
}

func (s *sizes) EstimateCallCost(string, string, *checker.AstNode, []checker.AstNode) *checker.CallEstimate {
	return nil
}

// Allows reading, refuses the name "forbidden", and fails for the name "broken".
type decider struct{}

func (decider) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	switch {
	case a.GetName() == "broken":
		return authorizer.DecisionNoOpinion, "", errors.New("the authorizer is broken")
	case a.GetName() == "forbidden":
		return authorizer.DecisionDeny, "forbidden by name", nil
	case a.GetVerb() == "get" || a.GetVerb() == "list":
		return authorizer.DecisionAllow, "reading is free", nil
	}
	return authorizer.DecisionNoOpinion, "nobody knows", nil
}

type activation map[string]any

func (a activation) ResolveName(name string) (any, bool) {
	value, found := a[name]
	return value, found
}

func fail(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<28)
	lines.Scan()
	var given setup
	fail(json.Unmarshal(lines.Bytes(), &given))
	internal := apiextensions.JSONSchemaProps{}
	fail(apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&given.Schema, &internal, nil))
	schema, err := structural.NewStructural(&internal)
	fail(err)
	schema = model.WithTypeAndObjectMeta(schema)
	declared := model.SchemaDeclType(schema, true).MaybeAssignTypeName("selfType")
	base := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
	set, err := base.Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions: []cel.EnvOption{
			cel.Variable("self", declared.CelType()), cel.Variable("oldSelf", types.NewOptionalType(declared.CelType())),
			cel.Variable("any", cel.DynType), cel.Variable("authorizer", library.AuthorizerType),
		},
		DeclTypes: []*apiservercel.DeclType{declared},
	})
	fail(err)
	asker := library.NewAuthorizerVal(&user.DefaultInfo{Name: "anna", Groups: []string{"all"}}, decider{})
	bindings := make([]activation, len(given.Values))
	for at, raw := range given.Values {
		var value any
		fail(utiljson.Unmarshal(raw, &value))
		self := rules.UnstructuredToVal(value, schema)
		bindings[at] = activation{"self": self, "oldSelf": types.OptionalOf(self), "any": value, "authorizer": asker}
	}
	env := set.NewExpressionsEnv()
	estimator := &library.CostEstimator{SizeEstimator: &sizes{declared}}
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for lines.Scan() {
		var asked question
		fail(json.Unmarshal(lines.Bytes(), &asked))
		fail(out.Encode(ask(env, estimator, asked.Text, bindings[asked.Value])))
	}
	fail(lines.Err())
}

func ask(env *cel.Env, estimator *library.CostEstimator, text string, bound activation) (found answer) {
	defer func() {
		if broken := recover(); broken != nil {
			found.Error = fmt.Sprintf("panic: %v", broken)
		}
	}()
	compiled, issues := env.Compile(text)
	if issues != nil {
		return answer{Problem: issues.String()}
	}
	found.Type = compiled.OutputType().String()
	estimate, err := env.EstimateCost(compiled, estimator)
	if err != nil {
		return answer{Problem: "cost: " + err.Error()}
	}
	found.Least, found.Most = strconv.FormatUint(estimate.Min, 10), strconv.FormatUint(estimate.Max, 10)
	program, err := env.Program(compiled, cel.CostLimit(celconfig.PerCallLimit), cel.CostTracking(estimator),
		cel.InterruptCheckFrequency(celconfig.CheckFrequency))
	if err != nil {
		return answer{Problem: "program: " + err.Error()}
	}
	for round := 0; round < 4; round++ {
		value, failed, cost := run(program, bound)
		if round == 0 {
			found.Value, found.Error, found.Cost = value, failed, cost
			continue
		}
		// The order of entries of a map in Go is chance: what shows it can not be compared.
		if value != found.Value || failed != found.Error {
			found.Unsteady = []string{"value", "error", "cost"}
		} else if cost != found.Cost && found.Unsteady == nil {
			found.Unsteady = []string{"cost"}
		}
	}
	return found
}

func run(program cel.Program, bound activation) (value, failed, cost string) {
	result, details, err := program.ContextEval(context.Background(), map[string]any(bound))
	if details != nil && details.ActualCost() != nil {
		cost = strconv.FormatUint(*details.ActualCost(), 10)
	}
	if err != nil {
		return "", err.Error(), cost
	}
	return show(result), "", cost
}

func quote(text string) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	fail(encoder.Encode(text))
	return strings.TrimSuffix(out.String(), "\n")
}

// A value as text, the same on both sides: maps and objects are sorted.
func show(value ref.Val) string {
	switch v := value.(type) {
	case types.Bool, types.Int:
		return fmt.Sprint(v.Value())
	case types.Uint:
		return fmt.Sprintf("%du", uint64(v))
	case types.Double:
		return showDouble(float64(v))
	case types.String:
		return quote(string(v))
	case types.Bytes:
		return fmt.Sprintf("b%x", []byte(v))
	case types.Null:
		return "null"
	case types.Timestamp:
		return "timestamp " + v.Time.UTC().Format(time.RFC3339Nano)
	case types.Duration:
		return fmt.Sprintf("duration %dns", int64(v.Duration))
	case *types.Optional:
		if !v.HasValue() {
			return "none"
		}
		return "some " + show(v.GetValue())
	case *types.Type:
		return "type " + v.String()
	case *apiservercel.Quantity, apiservercel.Quantity:
		return showQuantity(v)
	case apiservercel.IP:
		return "ip " + v.Addr.String()
	case apiservercel.CIDR:
		return "cidr " + v.Prefix.String()
	case apiservercel.URL:
		return fmt.Sprintf("url %q %q %q %q", v.URL.Scheme, v.URL.Host, v.URL.EscapedPath(), v.URL.RawQuery)
	case apiservercel.Semver:
		return "semver " + v.Version.String()
	}
	switch v := value.(type) {
	case traits.Mapper:
		return showMap(v)
	case traits.Lister:
		return showList(v)
	}
	if value.Type().TypeName() == "error" {
		return fmt.Sprintf("error %v", value)
	}
	return "a " + value.Type().TypeName()
}

func showQuantity(value ref.Val) string {
	if q, ok := value.(apiservercel.Quantity); ok {
		return showQuantity(&q)
	}
	// Twice negated, it has forgotten how it was written.
	number := value.(*apiservercel.Quantity).Quantity.DeepCopy()
	number.Neg()
	number.Neg()
	return "quantity " + number.String()
}

func showDouble(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "Infinity."
	case math.IsInf(v, -1):
		return "-Infinity."
	}
	return fmt.Sprintf("%x.", math.Float64bits(v))
}

func showList(list traits.Lister) string {
	parts := []string{}
	for at := list.Iterator(); at.HasNext() == types.True; {
		parts = append(parts, show(at.Next()))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func showMap(entries traits.Mapper) string {
	parts := []string{}
	for at := entries.Iterator(); at.HasNext() == types.True; {
		key := at.Next()
		parts = append(parts, show(key)+": "+show(entries.Get(key)))
	}
	sort.Strings(parts)
	return "{" + strings.Join(parts, ", ") + "}"
}
