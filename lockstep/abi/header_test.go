package abi_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-49bee653/samestep/lockstep/abi"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// numbers returns the numbers that a header in C defines, in its order.
func numbers(header string) (list []string) {
	for _, m := range regexp.MustCompile(`\b(?:#define )?RULES_([A-Z_]+)(?: = | )([0-9]+)\b`).FindAllStringSubmatch(header, -1) {
		if m[1] != "OUTPUT_BYTES" { // the author's choice
			list = append(list, m[1]+" "+m[2])
		}
	}
	return list
}

// The header for rules in C has the numbers of this package.
func TestHeaderOfC(t *testing.T) {
	var want []string
	add := func(name string, number int) { want = append(want, fmt.Sprintf("%s %d", name, number)) }
	for i, name := range []string{"DESCRIBE", "CONFIGURE", "ASSETS", "LOAD", "NEW", "RESTORE", "SAVE", "STEP", "VALIDATE", "WORD", "VIEW", "VIEW_OF", "USUAL"} {
		f := abi.Function(i)
		if own := strings.ToUpper(f.String()); f != abi.Word && own != strings.ReplaceAll(name, "_", "") {
			t.Errorf("function %d is %s, want %s", i, own, name)
		}
		add(name, i)
	}
	add("OK", int(abi.OK))
	add("REFUSED", int(abi.Refused))
	add("PANICKED", int(abi.Panicked))
	add("SYSTEM", int(record.System))
	header := readText(t, "../../module/samestep_rules.h")
	if diff := cmp.Diff(want, numbers(header)); diff != "" {
		t.Errorf("samestep_rules.h (-want +got):\n%s", diff)
	}
	other := strings.Replace(header, "RULES_SAVE = 6", "RULES_SAVE = 7", 1)
	if cmp.Equal(want, numbers(other)) {
		t.Error("control: a wrong number is not seen")
	}
}
