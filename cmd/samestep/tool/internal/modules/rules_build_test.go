//go:build !js && !wasip1

package modules

import (
	"strings"
	"testing"
)

// Packages that cannot become a module, and why.
func TestRulesBuildRefuses(t *testing.T) {
	for _, row := range []struct{ name, want string }{
		{"../../../../../cmd/samestep", "package main"},
		{"../../../../../fixed", "has no function Rules()"},
		{"../../../../../nowhere", "nowhere"},
	} {
		if _, err := findRules(t.Context(), row.name, "Usual"); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: got %v, want %q", row.name, err, row.want)
		}
	}
}
