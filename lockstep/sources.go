package lockstep

import (
	"runtime/debug"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Sources returns the sources that the rules of the game were built from. The go command writes them into the program, but not in every kind of build.
// The module is that of the package of the state's type.
func (g *Game) Sources() record.Sources { return g.sources }

// ownSources returns the sources of a package of this program.
//
//samestep:allow runtime for people: no simulation reads it
func ownSources(pkg string) record.Sources {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return record.Sources{}
	}
	return sourcesOf(info, pkg)
}

// sourcesOf returns the sources of a package of a program: its module, and what is known of its version. The go command
// tells the revision of the program's own module only.
func sourcesOf(info *debug.BuildInfo, pkg string) record.Sources {
	in := &info.Main
	longest := 0
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if (pkg == m.Path || strings.HasPrefix(pkg, m.Path+"/")) && len(m.Path) > longest {
			in, longest = m, len(m.Path)
		}
	}
	s := record.Sources{Module: in.Path, Version: in.Version}
	if in.Replace != nil {
		s.Version = in.Replace.Version // none for a folder
	}
	if in == &info.Main {
		for _, v := range info.Settings {
			switch v.Key {
			case "vcs.revision":
				s.Revision = v.Value
			case "vcs.modified":
				s.Modified = v.Value == "true"
			}
		}
	}
	s.Version = strings.TrimSuffix(s.Version, "+dirty")
	if s.Version == "(devel)" || len(s.Revision) >= 12 && strings.Contains(s.Version, s.Revision[:12]) {
		s.Version = "" // the revision says it
	}
	return s
}
