//go:build !js

package desyncs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/replays"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/desync/line"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

var viewerFlag = &cli.StringFlag{Name: "viewer", Usage: "link to the match on the server at `URL`, whose page shows replays"}

// sideFlags are the flags of desync line that make explain look for the line.
var sideFlags = []string{"source", "other", "platform"}

// addLine looks for the line of code if a flag asks for it. A failure is a note: the rest of the report is as good.
func addLine(c *cli.Context, f *replay.File, e *desync.Explanation) {
	if sidesOf(c) == "" {
		return
	}
	found, err := findOneLine(c, f)
	if err != nil {
		e.Notes = append(e.Notes, "the line of code was not found: "+err.Error())
		return
	}
	details, err := json.Marshal(found)
	if err != nil {
		panic(err) // cannot happen: it is plain data
	}
	l := &desync.Line{Tick: found.Tick, Phase: found.Phase, Because: found.Verdict(), Sides: found.Sides[:], Text: found.Lines(), Result: details}
	if f := found.Finding; f != nil && f.Reason != line.Nothing {
		at := f.Place()
		l.File, l.Number, l.Func, l.Source = at.File, at.Line, at.Func, at.Source
		if a := f.Where[0]; a != nil && a.Source != at.Source {
			l.OnA = a.Source
		}
	}
	if found.Tick > 0 && (found.Mode == line.Again || found.Mode == line.WarmCold) {
		l.Parting = &desync.Parting{Tick: found.Tick, Way: desync.WayAgain}
		if found.Mode == line.WarmCold {
			l.Parting.Way = desync.WayRestored
		}
		if len(found.Fields) > 0 {
			l.Parting.Field = found.Fields[0].Path
		}
	}
	if r := found.Reported; r != nil {
		l.Doubt = r.Doubt
	}
	e.SetLine(l)
}

// lineStep is the index of the step that finds the line of code.
const lineStep = 1

// HandOver adds the name of the bundle, the next commands and the link to the viewer, for the reader of the report. The flags name the
// module of rules, and the sides of desync line.
func HandOver(e *desync.Explanation, f *replay.File, program, path, rules, sides, viewer string) {
	e.Bundle = filepath.Base(path)
	whole := absolute(path)
	if e.Redacted { // a folder often has somebody's name
		path, whole = e.Bundle, e.Bundle
	}
	file := words.ShellWord(path)
	bundle := file + rules
	step := func(why, format string, args ...any) {
		e.Steps = append(e.Steps, desync.NextStep{Why: why, Command: program + " " + fmt.Sprintf(format, args...)})
	}
	if program == "" {
		panic("tool: the steps of a report without the name of the program") // a caller of ours
	}
	if with := e.Verdict.With; with != "" {
		e.Steps = append(e.Steps, desync.NextStep{Why: "Explain it again with a program of revision " + with + ", in the folder with the sources", Command: line.AtRecorder(sourcesOf(f), console.MainPath(), "desync", "explain", whole)})
	} else {
		step("Explain it again", "desync explain %s", bundle)
	}
	if e.Line != nil && e.Line.Doubt != "" {
		sides = "" // the sides that were compared are not those of the desync
	}
	if p := e.Verdict.Parting; p != nil {
		e.Steps = append(e.Steps, desync.NextStep{Why: "Find the line of code, in the folder with the sources of this program", Command: partingCommand(program, bundle, p)})
	} else {
		step("Find the line of code, in the folder with the sources; --other names another version", "desync line %s%s", bundle, cmp.Or(sides, revisions(f), ownSide(e)))
	}
	MarkNext(e)
	if e.Panic != nil {
		step("Look at the tick, and at what each command does", "replay step %s", bundle)
		step("Stand before the panic in a debugger, in the folder with the sources", "replay debug %s", bundle)
	}
	before := e.First.From - min(e.First.From, 1)
	field := ""
	if len(e.Fields.List) > 0 {
		field = e.Fields.List[0].Path
		if len(e.Changes) > 0 {
			field = e.Changes[0].Field // by its ID
		}
		step(fmt.Sprintf("Show the first field that differs as it was before, at tick %d", before), "replay dump %s --tick %d --path %s", bundle, before, words.ShellWord(field))
	}
	if viewer != "" {
		e.Viewer = strings.TrimSuffix(viewer, "/") + "/" + viewAt(e)
		return
	}
	e.Steps = append(e.Steps, desync.NextStep{
		Why: "Open it in the viewer, at http://127.0.0.1:8766/" + viewAt(e),
		Command: fmt.Sprintf("mkdir -p replays && cp %s replays && %s replay seal %[1]s %[3]s && %[2]s serve --dir replays --set bundles=true",
			file, program, words.ShellWord("replays/"+matchFile(path))),
	})
}

// partingCommand returns the command that finds the line of code at which rules have no fixed result.
func partingCommand(program, bundle string, p *desync.Parting) string {
	return fmt.Sprintf("%s desync line %s --tick %d", program, bundle, p.Tick)
}

// element finds the ID in the path of an element of a list, or of a field in it.
var element = regexp.MustCompile(`^[^\[]+\[[A-Za-z_]+=(\d+)\]`)

// viewAt returns the part of a page's address that shows the match and the player's side beside each other, where they first differ:
// the unit in games that have some, and the field in others.
func viewAt(e *desync.Explanation) string {
	at := "#/replay/" + url.PathEscape(e.Bundle)
	if e.Shown == nil {
		return fmt.Sprintf("%s?t=%d", at, e.Tick)
	}
	at = fmt.Sprintf("%s?t=%d", at, e.Shown.Tick)
	if id := element.FindStringSubmatch(e.Shown.Field); id != nil {
		at += "&unit=" + id[1]
	}
	return at + "&path=" + url.QueryEscape(e.Shown.Field)
}

// sidesOf returns the flags that say what the two sides are; "" for none.
func sidesOf(c *cli.Context) (flags string) {
	for _, name := range sideFlags {
		if c.IsSet(name) {
			flags += fmt.Sprintf(" --%s %s", name, words.ShellWord(c.String(name)))
		}
	}
	return flags
}

// rulesOf returns the flags that name modules of rules; "" for none.
func rulesOf(c *cli.Context) (flags string) {
	for _, module := range c.StringSlice(gameset.RulesFlag.Name) {
		flags += " --" + gameset.RulesFlag.Name + " " + words.ShellWord(module)
	}
	return flags
}

// sourcesOf returns the sources of the program that recorded a bundle.
func sourcesOf(f *replay.File) record.Sources {
	h, err := f.Header()
	if err != nil {
		return record.Sources{} // cannot happen: the bundle was explained
	}
	return record.ParseSources(h.Sources)
}

// revisions names the revisions of the recorder and of the player who differed, as flags; "" if they are not known.
func revisions(f *replay.File) string {
	h, err := f.Header()
	if err != nil {
		return "" // cannot happen: the bundle was explained
	}
	return line.Revisions(h, &f.Bundle().Manifest)
}

// MarkNext marks, for the text, the command that explains the bundle with the build that recorded it, if this one cannot, and the
// one that finds the line of code, unless the line is known, or no line is at fault.
func MarkNext(e *desync.Explanation) {
	e.Steps[0].Next = e.Verdict.With != ""
	known := e.Line != nil && e.Line.File != "" && e.Line.Doubt == ""
	memory := e.Verdict.Parting == nil && e.Again != nil && e.Again.Outcome == protocol.RightThisTime.String()
	elsewhere := !e.Verdict.Simulated && e.Verdict.Advice != "" // the advice comes first: nothing here has the game
	e.Steps[lineStep].Next = !known && !memory && !elsewhere
}

// absolute returns the path of a file for a command that runs in another folder.
func absolute(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		return whole
	}
	return path
}

// ownSide names the platform that only the machines that differ have, as a flag; "" for none.
func ownSide(e *desync.Explanation) string {
	for _, t := range e.Traits {
		if platform, _, _ := strings.Cut(t.Value, " "); t.Name == "platform" && t.Telling() && strings.Contains(platform, "/") {
			return " --platform " + words.ShellWord(platform)
		}
	}
	return ""
}

// matchFile returns the name of the replay of the match whose server has written a bundle.
func matchFile(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), replays.BundleExtension)
	if i := max(strings.LastIndex(name, "-desync-"), strings.LastIndex(name, "-panic-")); i > 0 {
		name = name[:i]
	}
	return cmp.Or(name, "match") + replays.ReplayExtension
}
