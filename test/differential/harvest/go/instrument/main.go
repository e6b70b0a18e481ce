// Makes the functions of validation in Go packages report what they are called with: `instrument RECORD FOLDER…` copies the file RECORD into each
// folder, and lets each function there whose name begins with "validat" call it first.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

type insertion struct {
	offset int
	text   string
}

func main() {
	record, err := os.ReadFile(os.Args[1])
	if err != nil {
		fail(err)
	}
	for _, folder := range os.Args[2:] {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			fail(err)
		}
		for _, file := range files {
			if !strings.HasSuffix(file, "_test.go") {
				if err := instrument(file); err != nil {
					fail(err)
				}
			}
		}
		if err := os.WriteFile(filepath.Join(folder, "record_calls.go"), record, 0o644); err != nil {
			fail(err)
		}
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func instrument(file string) error {
	source, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	positions := token.NewFileSet()
	parsed, err := parser.ParseFile(positions, file, source, 0)
	if err != nil {
		return err
	}
	var insertions []insertion
	for _, declaration := range parsed.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok || function.Body == nil || function.Recv != nil || function.Type.TypeParams != nil {
			continue
		}
		names := listParameters(function)
		if len(names) == 0 || !strings.HasPrefix(strings.ToLower(function.Name.Name), "validat") {
			continue
		}
		insertions = append(insertions, insertion{
			offset: positions.Position(function.Body.Lbrace).Offset + 1,
			text:   fmt.Sprintf(" defer recordCall(%q, %s)(); ", function.Name.Name, strings.Join(names, ", ")),
		})
	}
	text := string(source)
	for index := len(insertions) - 1; index >= 0; index-- {
		at := insertions[index]
		text = text[:at.offset] + at.text + text[at.offset:]
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

func listParameters(function *ast.FuncDecl) (names []string) {
	for _, field := range function.Type.Params.List {
		for _, name := range field.Names {
			if name.Name != "_" {
				names = append(names, name.Name)
			}
		}
	}
	return names
}
