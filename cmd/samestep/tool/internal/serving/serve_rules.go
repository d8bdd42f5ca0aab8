//go:build !js

package serving

import (
	"net/http"
	"slices"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/internal/site"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/server"
)

// SendRules lets clients fetch the modules of the games, if there are any.
func SendRules(l gameset.List, o *server.Options) error {
	modules := make(map[string][]byte)
	for _, g := range l {
		if g.Module != nil {
			modules["rules/"+g.Module.Sum+gameset.ModuleExtension] = g.Module.Bytes
		}
	}
	if len(modules) == 0 {
		return nil
	}
	s, err := site.NewFixed(modules)
	if err != nil {
		return err
	}
	o.Rules = s.Over(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "this server has no such module of rules", http.StatusNotFound)
	}))
	moduleOf := func(hosted *lockstep.Game) *gameset.RulesModule {
		i := slices.IndexFunc(l, func(g *gameset.Playable) bool { return g.Game == hosted })
		if i < 0 {
			return nil
		}
		return l[i].Module
	}
	o.ModuleOf = func(hosted *lockstep.Game) []byte {
		if m := moduleOf(hosted); m != nil {
			return m.Bytes
		}
		return nil
	}
	o.RulesOf = func(hosted *lockstep.Game) string {
		if m := moduleOf(hosted); m != nil {
			return m.Sum
		}
		return ""
	}
	return nil
}
