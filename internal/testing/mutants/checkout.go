package mutants

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// errCheckout is wrapped by the error of [Checkout].
var errCheckout = errors.New("mutants: no checkout of the engine")

const module = "github.com/seed-49bee653/samestep"

// Checkout returns the root of the engine's checkout that the go command uses in a
// folder: the module of the folder, or the replacement of the engine in its go.mod.
// The go command ignores overlays for downloaded modules, so these are an error.
func Checkout(dir string) (string, error) {
	list := exec.Command("go", "list", "-m", "-f", "{{if .Main}}{{.Dir}}{{else if .Replace}}{{if not .Replace.Version}}{{.Dir}}{{end}}{{end}}", module)
	list.Dir = dir
	out, err := list.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		why, _, _ := strings.Cut(strings.TrimSpace(string(exit.Stderr)), "\n")
		return "", fmt.Errorf("%w: %s", errCheckout, why)
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w", errCheckout, err)
	}
	root := strings.TrimSpace(string(out))
	if root == "" {
		return "", fmt.Errorf("%w: the module is a downloaded one", errCheckout)
	}
	if _, err := os.Stat(filepath.Join(root, "internal", "testing", "mutants", "hunt")); err != nil {
		return "", fmt.Errorf("%w: %w", errCheckout, err)
	}
	return root, nil
}
