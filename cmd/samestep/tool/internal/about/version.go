//go:build !js

// Package about has the verbs about the program itself: version, completion and man, and new, which begins another one.
package about

import (
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// VersionCommand returns the verb version.
func VersionCommand() *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "print the build of the program, its formats, and the rules of its games",
		Description: `Two programs can play one match if their engine, their game and its build are the
same. A replay needs a program with its game and build.`,
		Flags: []cli.Flag{console.JSONFlag},
		Action: func(c *cli.Context) error {
			v := newVersions(c.App.Name, gameset.Listed(c))
			return gameset.Tell(c, v, v.print, nil)
		},
	}
}

// versions are the numbers of a program.
type versions struct {
	Program  string        `json:"program"`
	Version  string        `json:"version"`            // of the module, or (devel)
	Revision string        `json:"revision,omitempty"` // of the sources, with +modified if they were changed
	Time     string        `json:"time,omitempty"`     // of the revision
	Go       string        `json:"go"`
	Platform string        `json:"platform"`
	Replay   uint16        `json:"replay"`  // version of replay files
	Bundle   uint16        `json:"bundle"`  // format of desync bundles
	Records  uint32        `json:"records"` // protocol of a log's records
	Messages []string      `json:"messages"`
	Engine   string        `json:"engine"`
	Games    []gameVersion `json:"games"`
}

// A gameVersion is the identity of a game's rules.
type gameVersion struct {
	Game   string `json:"game"`
	Build  string `json:"build"`
	Schema string `json:"state_schema"` // its hash, as in errors of identity
}

func newVersions(program string, games gameset.List) *versions {
	v := &versions{
		Program: program, Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Replay: replay.Version, Bundle: replay.BundleVersion, Records: record.Protocol,
		Messages: []string{server.Subprotocol}, Engine: lockstep.Engine,
	}
	for _, g := range games {
		v.Games = append(v.Games, gameVersion{g.Name(), g.Build(), checksum.FormatHash(xxhash.Sum64(g.StateSchema().AppendDescription(nil)))})
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		v.addBuild(info)
	}
	return v
}

// addBuild adds what the go command has written into the program.
func (v *versions) addBuild(info *debug.BuildInfo) {
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	modified := false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.time":
			v.Time = s.Value
		case "vcs.modified":
			modified = s.Value == "true"
		}
	}
	if modified {
		v.Revision += "+modified"
	}
}

func (v *versions) print(w io.Writer) {
	line := console.NewLiner(w)
	line("program", "%s %s, %s, %s", v.Program, v.Version, v.Go, v.Platform)
	if v.Revision != "" {
		line("sources", "%s of %s", v.Revision, v.Time)
	}
	line("formats", "replay %d, bundle %d, records %d, messages %s", v.Replay, v.Bundle, v.Records,
		strings.Join(v.Messages, " "))
	line("engine", "%s", v.Engine)
	for _, g := range v.Games {
		line("game", "%q, build %q, state schema %s", g.Game, g.Build, g.Schema)
	}
}
