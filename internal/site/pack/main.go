// Command pack builds the WebAssembly that release builds embed, as small as it
// gets:
//
//	pack DIRECTORY NAME=PACKAGE...
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/seed-49bee653/samestep/internal/site"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("got %d arguments, want a directory and NAME=PACKAGE", len(args))
	}
	cache, err := os.MkdirTemp("", "pack-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(cache)
	o := site.BuildOptions{Packages: make(map[string]string), Cache: cache, Quality: 11}
	for _, arg := range args[1:] {
		name, path, ok := strings.Cut(arg, "=")
		if !ok {
			return fmt.Errorf("got %q, want NAME=PACKAGE", arg)
		}
		o.Packages[name] = path
	}
	files, err := site.Build(context.Background(), o)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(args[0]); err != nil {
		return err
	}
	return os.CopyFS(args[0], files)
}
