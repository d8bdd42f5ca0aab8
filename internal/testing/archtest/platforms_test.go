package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var platformsLine = regexp.MustCompile(`(?m)^deterministic="(.*)"$`)

// platformFindings looks for packages that the script does not test on every platform.
func platformFindings(script string, packages []string) (found []finding) {
	var tested []string
	if m := platformsLine.FindStringSubmatch(script); m != nil {
		tested = strings.Fields(m[1])
	}
	for _, p := range packages {
		if !slices.ContainsFunc(tested, func(pattern string) bool { return under(pattern, p) }) {
			found = append(found, finding{".ci/steps/platforms.sh", 0, "platforms", p + " is not tested on every platform"})
		}
	}
	return found
}

// The packages of the engine and its games are tested on every platform.
func TestPlatforms(t *testing.T) {
	script, err := os.ReadFile(filepath.Join(ours(t).dir, ".ci", "steps", "platforms.sh"))
	if err != nil {
		t.Fatal(err)
	}
	report(t, platformFindings(string(script), append(slices.Clone(engine), "replay", "desync", "examples/skirmish")))
}

func TestPlatformsControl(t *testing.T) {
	expect(t, platformFindings("steps\n"+`deterministic="a b/..."`+"\n", []string{"a", "b/c", "a/d", "e"}),
		".ci/steps/platforms.sh:0: platforms: a/d is not tested on every platform",
		".ci/steps/platforms.sh:0: platforms: e is not tested on every platform",
	)
}
