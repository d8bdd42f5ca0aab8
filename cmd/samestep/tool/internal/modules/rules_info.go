//go:build !js

package modules

import (
	"io"
	"strings"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
)

// A moduleInfo is what a verb prints of a module.
type moduleInfo struct {
	File     string   `json:"file"`
	SHA256   string   `json:"sha256"`
	Bytes    int      `json:"size_bytes"`
	Game     string   `json:"game"`
	Build    string   `json:"build"`
	Commands []string `json:"commands"`
	State    []string `json:"state"`        // its sections
	Schema   string   `json:"state_schema"` // its hash, as in errors of identity
	View     bool     `json:"view"`
	Assets   bool     `json:"assets"`
}

func newModuleInfo(name string, g *gameset.Playable) *moduleInfo {
	i := &moduleInfo{
		File: name, SHA256: g.Module.Sum, Bytes: len(g.Module.Bytes), Game: g.Name(), Build: g.Build(),
		Schema: checksum.FormatHash(g.StateSchema().Fingerprint()), View: g.ViewSchema() != nil, Assets: g.HasAssets(),
		Commands: []string{},
	}
	for s := range g.StateSchema().NumSections() {
		i.State = append(i.State, g.StateSchema().SectionName(s))
	}
	for _, k := range g.Commands() {
		i.Commands = append(i.Commands, k.Name)
	}
	return i
}

func (i *moduleInfo) print(w io.Writer) {
	line := console.NewLiner(w)
	line("rules", "of %s build %s", i.Game, i.Build)
	line("module", "%s, %d bytes, sha256 %s", console.Shown(i.File), i.Bytes, i.SHA256)
	line("commands", "%s", console.Shown(strings.Join(i.Commands, ", ")))
	line("state", "%s (schema %s)", console.Shown(strings.Join(i.State, ", ")), i.Schema)
	line("views", "%s", yesOrNo(i.View))
	line("assets", "%s", yesOrNo(i.Assets))
}

func yesOrNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
