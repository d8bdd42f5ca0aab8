package lockstep

import (
	"runtime/debug"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep/record"
)

// The module with the rules is the program's own, or one that it needs.
func TestSourcesOf(t *testing.T) {
	vcs := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs.revision", Value: "3b18e512dba79e4c"}, {Key: "vcs.modified", Value: modified}}
	}
	own := func(version string, s []debug.BuildSetting) debug.BuildInfo {
		return debug.BuildInfo{Main: debug.Module{Path: "example.com/hex", Version: version}, Settings: s, Deps: []*debug.Module{
			{Path: "example.com/hex/rules", Version: "v2.1.0"},
			{Path: "example.com/fork", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/mine", Version: "v1.0.1"}},
			{Path: "example.com/near", Version: "v1.0.0", Replace: &debug.Module{Path: "../near"}},
		}}
	}
	for _, row := range []struct {
		name string
		info debug.BuildInfo
		pkg  string
		want record.Sources
	}{
		{"a program", own("(devel)", vcs("false")), "main", record.Sources{Module: "example.com/hex", Revision: "3b18e512dba79e4c"}},
		{"a package of it", own("v1.3.0+dirty", vcs("true")), "example.com/hex/world", record.Sources{Module: "example.com/hex", Version: "v1.3.0", Revision: "3b18e512dba79e4c", Modified: true}},
		{"its revision twice", own("v0.0.0-20260101000000-3b18e512dba7", vcs("false")), "example.com/hex", record.Sources{Module: "example.com/hex", Revision: "3b18e512dba79e4c"}},
		{"a module below", own("v1.3.0", vcs("true")), "example.com/hex/rules/world", record.Sources{Module: "example.com/hex/rules", Version: "v2.1.0"}},
		{"not below", own("", nil), "example.com/hexagon", record.Sources{Module: "example.com/hex"}},
		{"a fork", own("", nil), "example.com/fork", record.Sources{Module: "example.com/fork", Version: "v1.0.1"}},
		{"a folder", own("", nil), "example.com/near/world", record.Sources{Module: "example.com/near"}},
	} {
		if got := sourcesOf(&row.info, row.pkg); got != row.want {
			t.Errorf("%s: got %+v, want %+v", row.name, got, row.want)
		}
	}
}
