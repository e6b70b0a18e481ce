// Package validation is the place of each package that this file is copied into: the functions there report what they are called with.
package validation

import (
	"encoding/json"
	"os"
	"reflect"
	"sync"
	"sync/atomic"
)

var (
	recordDepth int64
	recordMutex sync.Mutex
)

type recordedArgument struct {
	Type  string
	Value json.RawMessage
}

// recordCall writes the arguments of a function that a test calls, those that are structs or lists of them, as a line of JSON to the file that
// RECORD_CALLS names. What is called inside of another recorded function is not written. The returned function ends the call.
func recordCall(function string, arguments ...any) func() {
	name := os.Getenv("RECORD_CALLS")
	if name == "" {
		return func() {}
	}
	if atomic.AddInt64(&recordDepth, 1) == 1 {
		var found []recordedArgument
		for _, argument := range arguments {
			if recorded, ok := recordArgument(argument); ok {
				found = append(found, recorded)
			}
		}
		line, err := json.Marshal(map[string]any{"function": function, "arguments": found})
		if err == nil && len(found) > 0 {
			appendLine(name, line)
		}
	}
	return func() { atomic.AddInt64(&recordDepth, -1) }
}

func recordArgument(argument any) (recorded recordedArgument, ok bool) {
	// Some types of tests cannot be written as JSON, and say so by a panic.
	defer func() { _ = recover() }()
	if argument == nil {
		return recordedArgument{}, false
	}
	prefix := ""
	element := reflect.TypeOf(argument)
	for element.Kind() == reflect.Pointer || element.Kind() == reflect.Slice {
		if element.Kind() == reflect.Slice {
			prefix += "[]"
		}
		element = element.Elem()
	}
	if element.PkgPath() == "" || element.Kind() != reflect.Struct {
		return recordedArgument{}, false
	}
	value, err := json.Marshal(argument)
	return recordedArgument{Type: prefix + element.PkgPath() + "." + element.Name(), Value: value}, err == nil
}

func appendLine(name string, line []byte) {
	recordMutex.Lock()
	defer recordMutex.Unlock()
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return
	}
	defer file.Close()
	_, _ = file.Write(append(line, '\n'))
}
