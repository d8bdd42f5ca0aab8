//go:build !wasip1

package tool

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/hostile"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// noExecVariable makes the program run as systemd's MemoryDenyWriteExecute does.
const noExecVariable = "SAMESTEP_TEST_MEMORY_DENY_WRITE_EXECUTE"

func init() {
	if os.Getenv(noExecVariable) != "" {
		if err := unix.Prctl(unix.PR_SET_MDWE, unix.PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0); err != nil {
			os.Stderr.WriteString("no MDWE: " + err.Error())
			os.Exit(console.ExitError)
		}
	}
}

// Under the unit's MemoryDenyWriteExecute a server takes modules of rules, and says that they are interpreted.
func TestRulesWithoutExecutableMemory(t *testing.T) {
	module := filepath.Join(t.TempDir(), "rules.wasm")
	at := slices.IndexFunc(hostile.Catalogue, func(m hostile.Module) bool { return m.Name == "passes" }) // in each tick, so not here
	if err := os.WriteFile(module, hostile.Catalogue[at].Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	const warning = "modules of rules are interpreted"
	for _, deny := range []string{"", "1"} {
		t.Setenv(noExecVariable, deny)
		var out bytes.Buffer
		code := tooltest.Process(t.Context(), os.Args[0], []string{"serve", "--rules", module, "--dir", "", "--set", "web=false", "--check-config"}, &out, &out)
		if strings.HasPrefix(out.String(), "no MDWE") {
			t.Skip(out.String()) // before Linux 6.3
		}
		if warned := strings.Contains(out.String(), warning); code != console.ExitOK || warned != (deny != "") {
			t.Errorf("denied %q: got exit code %d and %s", deny, code, &out)
		}
	}
}
