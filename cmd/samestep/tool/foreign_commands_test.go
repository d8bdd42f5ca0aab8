//go:build unix

package tool

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/internal/testing/commands"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// The tokens of a player and of an admin on the reader's server.
const annsToken, adminsToken = "ann-ann-ann-ann-ann", "operator-operator-operator"

// A reader types the commands of the documents, in a folder with the files that they name.
type reader struct {
	*foreign
	program string // in the folder of the programs: samestep or hold
	path    string // that folder
	url     string // of a server
	env     []string
	outputs int
}

// TestDocumentedCommands runs the commands of the documents in a module outside of the tree, with the program of every game and with
// the game's own.
func TestDocumentedCommands(t *testing.T) {
	t.Parallel()
	testenv.Long(t)
	_, err := exec.LookPath("git")
	testenv.Or(t, "git", err)
	how, order := documented(t)
	f := newForeign(t)
	path := t.TempDir()
	for name, file := range map[string]string{"samestep": os.Args[0], "hold": f.program} {
		if err := os.Symlink(file, filepath.Join(path, name)); err != nil {
			t.Fatal(err)
		}
	}
	stock := *f
	stock.dir = filepath.Join(t.TempDir(), "stock")
	if err := os.CopyFS(stock.dir, os.DirFS(f.dir)); err != nil {
		t.Fatal(err)
	}
	for _, r := range []*reader{{foreign: &stock, program: "samestep", path: path}, {foreign: f, program: "hold", path: path}} {
		t.Run(r.program, func(t *testing.T) {
			r.t, r.env = t, ownCache(t)
			r.prepare()
			t.Run("printed", func(t *testing.T) {
				r.t = t
				r.printed()
			})
			for _, command := range order {
				if !strings.HasPrefix(how[command], "not run") && !commands.Printed(how[command]) {
					t.Run(strings.NewReplacer("/", "_", " ", "_").Replace(command), func(t *testing.T) {
						r.t = t
						r.follow(command, how[command])
					})
				}
			}
		})
	}
}

// prepare plays the matches whose files the documents name, and starts a server.
func (r *reader) prepare() {
	t := r.t
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, key := range map[string]any{"PRIVATE KEY": private, "PUBLIC KEY": public} {
		file, b := "public.pem", []byte(nil)
		if name == "PRIVATE KEY" {
			file = "sign.pem"
			b, err = x509.MarshalPKCS8PrivateKey(key)
		} else {
			b, err = x509.MarshalPKIXPublicKey(key)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(r.dir, file), pem.EncodeToMemory(&pem.Block{Type: name, Bytes: b}), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"tokens.txt": "player 0 ann - " + annsToken + "\nplayer 1 bob - bob-bob-bob-bob-bob\nadmin - operator - " + adminsToken + "\n",
		".gitignore": "*\n!*.go\n!go.*\n!*/\n",
	} {
		if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	defer func() {
		if t.Failed() {
			t.FailNow() // nothing else would work
		}
	}()
	page, err := os.ReadFile("../../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	own := regexp.MustCompile(`(?m)^    (awk .* > admin\.txt)`).FindStringSubmatch(string(page))
	if own == nil {
		t.Fatal("operations.md does not say where admin.txt comes from")
	}
	r.sh(console.ExitOK, "mkdir matches && cp tokens.txt matches && "+own[1])
	r.sh(console.ExitOK, "git init -q && git add . && git -c user.name=a -c user.email=a@example.com commit -qm one && git tag v1.3")
	r.sh(console.ExitOK, "hold demo --dir made && cp made/*.ssr hold.ssr && rm -r made")
	r.sh(console.ExitOK, r.program+` demo --dir made && cp made/*.ssr plain.ssr && samestep replay seal plain.ssr sealed.ssr && samestep replay sign --key sign.pem sealed.ssr match.ssr &&
		mkdir -p matches crashes archive examples/skirmish/maps && cp match.ssr matches/match-1-9d40d492.ssr && cp made/*.zip crashes && cp made/*.zip matches/duel-desync-160-player2.zip &&
		cp -r rules/testdata/golden . && cp match.ssr archive && `+r.program+` replay export match.ssr > match.jsonl && cp match.jsonl a.jsonl && mkdir recordings && cp match.ssr A.ssr && cp match.ssr B.ssr && cp match.ssr lost.ssr && cp match.ssr match-1-9d40d492.ssr && cp match.ssr match-1-9d40d492-24000.ssr && cp -r matches copy`)
	if r.program == "samestep" {
		maps := filepath.Join(r.dir, "examples/skirmish/maps/crossroads.map")
		if b, err := os.ReadFile("../../../examples/skirmish/maps/crossroads.map"); err != nil || os.WriteFile(maps, b, 0o600) != nil {
			t.Fatal(err)
		}
		r.sh(console.ExitOK, `printf '{"Size": 64, "Map": [%s]}' "$(samestep assets add examples/skirmish/maps/crossroads.map)" > crossroads.json`)
	}
	s := tooltest.ServeFrom(t, r.programFile(), "--tokens", filepath.Join(r.dir, "tokens.txt"), "--matches", "1", "--tick-rate", "100", "--dir", t.TempDir())
	r.url = s.URL
}

func (r *reader) programFile() string {
	if r.program == "samestep" {
		return os.Args[0]
	}
	return r.foreign.program
}

// sh is types with the one exit code before.
func (r *reader) sh(code int, line string) string { r.t.Helper(); return r.types(line, code) }

func (r *reader) command(ctx context.Context, line string) *exec.Cmd {
	c := exec.CommandContext(ctx, "sh", "-c", line)
	c.Dir, c.WaitDelay = r.dir, time.Second
	c.Env = append(os.Environ(), "GOFLAGS=", "PATH="+r.path+":"+os.Getenv("PATH"), "SAMESTEP_TOKEN="+adminsToken)
	c.Env = append(c.Env, r.env...)
	return c
}

var (
	ownProgram      = regexp.MustCompile(`^(SAMESTEP_TOKEN=… )?(samestep(-8)?|go run \./cmd/samestep|go tool samestep|go run \.)( |$)`)
	documentedPoint = regexp.MustCompile(`@(20m|24000)\b`)
)

// typed returns a command with what the reader puts in place of the words that stand for something.
func (r *reader) typed(command string) string {
	field := "Diggers[0].At.X"
	if r.program == "samestep" {
		field = "Units[ID=27].Health"
	}
	r.outputs++
	values := map[string]string{
		"FILE": "match.ssr", "FILE...": "match.ssr", "A": "match.ssr", "B": "lost.ssr", "IN": "match.ssr", "OUT": fmt.Sprintf("out/%d", r.outputs),
		"FOLDER": "matches", "BUNDLE": "matches/duel-desync-160-player2.zip", "PLACE": "archive", "/srv/archive": "archive", "URL": r.url + "/matches/match-1", "TOKEN": adminsToken,
		"T": "100", "P": field, "FIELD": field, "REVISION": "v1.3", "PACKAGE": "./rules", "PACKAGES": "./rules", "OLD": "mygame-7.wasm", "NEW": "mygame-7.wasm", "mygame-8.wasm": "mygame-7.wasm",
		"1m": "2s", "[--live]": "--live", "14400": "100", "…": "",
	}
	values["../hold"] = "../made-" + r.program // another one
	if strings.HasPrefix(command, "samestep new ") {
		values["FOLDER"] = "../new-" + r.program
	}
	if strings.Contains(command, "rules add") {
		values["FILE"] = "mygame-7.wasm"
	}
	if strings.Contains(command, "--rules") || strings.Contains(command, "-rules ") {
		values["match.ssr"], values["A"], values["matches"] = "hold.ssr", "hold.ssr", "hold.ssr"
	}
	if strings.Contains(command, " healthcheck ") {
		values["URL"] = r.url
	}
	switch {
	case strings.Contains(command, " save "):
		values["http://127.0.0.1:8766/matches/match-1"] = fmt.Sprintf("%s/matches/match-1 saved-%d.ssr", r.url, r.outputs) // twice in the same tick
		values["lost.ssr"] = ""
	case strings.Contains(command, " replay import "):
		values["match.ssr"] = "imported.ssr"
	case strings.Contains(command, " simulate "):
		command += " --seeds 1 --minutes 1"
	case strings.Contains(command, "--html report.html"):
		values["report.html"] = fmt.Sprintf("report-%d.html", r.outputs)
	}
	command = ownProgram.ReplaceAllString(command, "${1}"+r.program+"${4}")
	command = strings.ReplaceAll(command, "SAMESTEP_TOKEN=…", "SAMESTEP_TOKEN="+annsToken)
	if strings.HasPrefix(command, r.program+" join") {
		command = "SAMESTEP_TOKEN=" + annsToken + " " + command
	}
	var words []string
	for _, w := range strings.Split(command, " ") {
		if v, ok := values[w]; ok {
			w = v
		}
		if v, ok := values[strings.TrimSuffix(w, "@20m")]; ok {
			w = v + "@20m"
		}
		words = append(words, documentedPoint.ReplaceAllString(strings.ReplaceAll(w, "http://127.0.0.1:8766", r.url), "@100"))
	}
	return strings.Join(words, " ")
}

// follow runs a command as its row says.
func (r *reader) follow(command, how string) {
	t := r.t
	way, only, _ := strings.Cut(how, ", ")
	if only == "stock" && r.program != "samestep" || only == "game" && r.program != "hold" {
		return
	}
	line := r.typed(command)
	began := time.Now()
	defer func() { t.Logf("%.1f s: %s", time.Since(began).Seconds(), line) }()
	if way == "serves" || way == "joins" {
		r.interrupted(line, way == "serves")
		return
	}
	var code int
	if _, err := fmt.Sscanf(way, "exit %d", &code); err != nil {
		t.Fatal(err)
	}
	r.types(line, code)
}

// interrupted starts a command and interrupts it, if it serves when it listens, and otherwise after a while.
func (r *reader) interrupted(line string, serves bool) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	if serves && !strings.Contains(line, "--listen") {
		line += " --listen 127.0.0.1:0"
	}
	c := r.command(ctx, "exec env "+line)
	c.Env = append(c.Env, "SAMESTEP_WEB=false")
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		r.t.Fatal(err)
	}
	var told []byte
	for buf := make([]byte, 4096); serves && !bytes.Contains(told, []byte("listening on http://")); {
		n, err := out.Read(buf)
		told = append(told, buf[:n]...)
		if err != nil {
			r.t.Errorf("%s does not listen: %v\n%s%s", line, c.Wait(), told, &errs)
			return
		}
	}
	if !serves {
		time.Sleep(2 * time.Second)
	}
	c.Process.Signal(syscall.SIGINT)
	more, _ := io.ReadAll(out)
	if err := c.Wait(); err != nil || bytes.Contains(errs.Bytes(), []byte("usage: ")) {
		r.t.Errorf("%s: interrupted, got %v:\n%s%s%s", line, err, told, more, &errs)
	}
}

// printed runs the commands that verbs print: those of a demo, of a report, of a triage and of a mistake in the command line.
func (r *reader) printed() {
	t := r.t
	const bundle = "crashes/*.zip"
	demo := r.sh(console.ExitOK, r.program+" demo --dir again")
	r.printedBy("demo", demo, `try: (.+)`, 1, console.ExitOK)
	report := r.sh(console.ExitDesync, r.program+" desync explain "+bundle)
	r.printedBy("explain", report, `\nnext +(.+)`, 1, console.ExitOK, console.ExitDesync)
	var e struct{ Steps []desync.NextStep }
	if err := json.Unmarshal([]byte(r.sh(console.ExitDesync, r.program+" desync explain --json "+bundle+" 2>&-")), &e); err != nil || len(e.Steps) != 4 {
		t.Fatalf("got the steps %+v, %v", e.Steps, err)
	}
	for _, step := range e.Steps {
		before, last, several := strings.Cut(step.Command, " seal ")
		first, serve, _ := strings.Cut(last, " && ")
		if !several {
			r.runs("explain", step.Command, console.ExitOK, console.ExitDesync)
			continue
		}
		r.runs("explain", before+" seal "+first, console.ExitOK)
		r.interrupted(serve, true)
	}
	triage := r.sh(console.ExitDesync, r.program+" desync triage crashes")
	r.printedBy("triage", triage, `next:\n +(.+)`, 1, console.ExitDesync)
	r.recordings()
	if r.program == "samestep" {
		r.missingModule()
	}
	r.printedBy("a mistyped verb", r.sh(console.ExitUsage, r.program+" replay verfy x"), `see (.+ --help)`, 1, console.ExitOK)
	r.printedBy("a mistyped flag", r.sh(console.ExitUsage, r.program+" replay verify --jsn x"), `see (.+ --help)`, 1, console.ExitOK)
}

// recordings compares the recordings of another engine, as triage says.
func (r *reader) recordings() {
	r.sh(console.ExitOK, `mkdir other && for n in 0 1; do printf '%s\n' '{"log":1,"title":"x","tick_rate_hz":20,"players":2,"match":"m","by":'$n'}' '{"t":1,"p":'$n',"sum":"0000000000000005"}' '{"t":2,"p":'$n',"sum":"000000000000000'$n'"}' '{"t":2,"end":true}' > other/$n.jsonl; done`)
	r.printedBy("triage of recordings", r.sh(console.ExitDesync, r.program+" desync triage other"), `next:\n +(.+)`, 1, console.ExitDesync)
	r.sh(console.ExitOK, `mkdir nameless && for n in 0 1; do sed 's/,"match":"m"//' other/$n.jsonl > nameless/$n.jsonl; done`)
	found := r.printedCommands(r.types(r.program+" desync triage nameless", console.ExitError, console.ExitCorrupt, console.ExitUsage, console.ExitDesync), `compare it with (replay bisect A B)`)
	if len(found) == 0 {
		r.t.Fatal("triage does not say how to compare recordings without a match")
	}
	r.sh(console.ExitDesync, r.program+" "+strings.Replace(found[0], "A B", "nameless/0.jsonl nameless/1.jsonl", 1))
}

// missingModule verifies a replay whose module is not there, and then as the error says.
func (r *reader) missingModule() {
	r.sh(console.ExitOK, "samestep rules build -o printed.wasm ./rules && samestep demo --rules printed.wasm --game hold --dir named")
	found := r.printedCommands(r.sh(console.ExitIdentity, "samestep replay verify named/*.ssr"), `add it \((.+?)\)`)
	if len(found) != 1 {
		r.t.Fatalf("got the commands %q, want one", found)
	}
	r.runs("a missing module", strings.Replace(found[0], "FILE", "printed.wasm", 1), console.ExitOK)
	r.sh(console.ExitOK, "samestep replay verify named/*.ssr")
}

func (r *reader) printedCommands(output, pattern string) (all []string) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(strings.Join(strings.Fields(output), " "), -1) {
		all = append(all, m[1])
	}
	return all
}

// printedBy runs the commands that an output has where a pattern matches, which are as many as wanted.
func (r *reader) printedBy(what, output, pattern string, n int, codes ...int) {
	r.t.Helper()
	found := regexp.MustCompile(pattern).FindAllStringSubmatch(output, -1)
	if len(found) != n {
		r.t.Errorf("%s: got %d commands, want %d:\n%s", what, len(found), n, output)
	}
	for _, m := range found {
		again := r.runs(what, m[1], codes...)
		if m2 := regexp.MustCompile(pattern).FindStringSubmatch(again); m2 != nil && m2[1] == m[1] && what != "explain" {
			r.t.Errorf("%s: %s prints itself again:\n%s", what, m[1], again)
		}
	}
}

// runs runs a printed command, which must end with one of some exit codes.
func (r *reader) runs(what, line string, codes ...int) string {
	r.t.Helper()
	if !strings.HasPrefix(line, r.program+" ") && !strings.HasPrefix(line, "mkdir ") && !strings.HasPrefix(line, "go run ") {
		r.t.Errorf("%s: %q does not begin with the program", what, line)
	}
	return r.types(line, codes...)
}

// types types a command, which must end with one of some exit codes, and returns its output.
func (r *reader) types(line string, codes ...int) string {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 2*time.Minute)
	defer cancel()
	c := r.command(ctx, line)
	out, _ := c.CombinedOutput()
	if wrong := wrongEnd(c.ProcessState.ExitCode(), string(out), codes); wrong != "" {
		r.t.Errorf("%s: %s:\n%s", line, wrong, out)
	}
	return string(out)
}

// wrongEnd returns what is wrong with the end of a command that somebody was told to type; "" for nothing.
func wrongEnd(code int, out string, want []int) string {
	switch {
	case !slices.Contains(want, code):
		return fmt.Sprintf("got exit code %d, want one of %d", code, want)
	case strings.Contains(out, "usage: ") && !slices.Contains(want, console.ExitUsage):
		return "it is a mistake in the command line"
	case strings.Contains(out, "panic: "):
		return "it panics"
	}
	return ""
}

// Control: a command that does not work as told is found.
func TestWrongEndControl(t *testing.T) {
	for _, row := range []struct {
		code  int
		out   string
		wrong bool
	}{
		{console.ExitOK, "USAGE:\n", false}, {console.ExitDesync, "THE PLAYER", false}, {console.ExitUsage, "usage: x", true}, {console.ExitOK, "samestep: usage: x", true}, {console.ExitError, "", true}, {console.ExitOK, "panic: x", true},
	} {
		if got := wrongEnd(row.code, row.out, []int{console.ExitOK, console.ExitDesync}); (got != "") != row.wrong {
			t.Errorf("%d %q: got %q", row.code, row.out, got)
		}
	}
}
