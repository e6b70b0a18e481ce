// Command pulumi-resource-kubernetes is Pulumi's kubernetes provider with its schema and its names in Terraform from files beside it. Its own command embeds
// files that a step before its build makes and that its module lacks.
//
// In this folder, with DIR for the folder of the programs, these commands build it, Pulumi and the host of Pulumi's YAML language:
//
//	go build -ldflags '-s -w' -o DIR/ tool
//	go build -ldflags '-s -w' -o DIR/pulumi-resource-kubernetes .
//	cp "$(go list -m -f '{{.Dir}}' github.com/pulumi/pulumi-kubernetes/provider/v4)"/cmd/pulumi-resource-kubernetes/*.json DIR/
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
)

const version = "4.25.0"

func read(name string) []byte {
	program, err := os.Executable()
	if err != nil {
		panic(err)
	}
	content, err := os.ReadFile(filepath.Join(filepath.Dir(program), name))
	if err != nil {
		panic(err)
	}
	return content
}

func main() {
	schema := bytes.Replace(read("schema.json"), []byte("{"), fmt.Appendf(nil, `{"version": %q,`, version), 1)
	provider.Serve("kubernetes", version, schema, read("terraform-mapping.json"))
}
