package archtest

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// An importRow lists the packages that packages may import in addition to the standard library. The
// first row whose pattern names a package is the one that counts.
type importRow struct {
	pattern string
	own     []string // packages of this module, as patterns
	modules []string // other modules
	tests   []string // what its tests may import on top, of both sorts
}

// Other modules, by their use. ARCHITECTURE.md gives the reason of each.
const (
	xxhash    = "github.com/cespare/xxhash/v2"
	xxh3      = "github.com/zeebo/xxh3"
	msgpack   = "github.com/vmihailenco/msgpack/v5"
	zstd      = "github.com/klauspost/compress"
	brotli    = "github.com/andybalholm/brotli"
	websocket = "github.com/coder/websocket"
	quic      = "github.com/quic-go"
	jwt       = "github.com/golang-jwt/jwt/v5"
	jwks      = "github.com/MicahParks/jwkset"
	metrics   = "github.com/prometheus/client_golang"
	proxy     = "github.com/pires/go-proxyproto"
	xtime     = "golang.org/x/time"
	xsync     = "golang.org/x/sync"
	xtools    = "golang.org/x/tools"
	xsys      = "golang.org/x/sys"
	humanize  = "github.com/dustin/go-humanize"
	goCmp     = "github.com/google/go-cmp"
	goleak    = "go.uber.org/goleak"
	goScript  = "github.com/rogpeppe/go-internal"
	dataTests = "github.com/cockroachdb/datadriven"
	chromedp  = "github.com/chromedp"
	bbolt     = "go.etcd.io/bbolt"
	minio     = "github.com/minio/minio-go/v7"
	openAPI   = "github.com/getkin/kin-openapi"
	nats      = "github.com/nats-io/nats.go"
	natsNode  = "github.com/nats-io/nats-server/v2"
	wazero    = "github.com/tetratelabs/wazero"
	nkeys     = "github.com/nats-io/nkeys"
)

// The layers of the house. No package of the engine is in a layer above its own.
var (
	core  = []string{"state", "checksum", "lockstep", "lockstep/record", "lockstep/abi", "lockstep/flight", "lockstep/twin", "lockstep/coordinator", "internal/pack"}
	live  = slices.Concat(core, []string{"lockstep/disclosure", "lockstep/feed", "lockstep/protocol", "lockstep/datagram", "lockstep/host", "lockstep/player", "internal/ring"})
	log   = slices.Concat(core, []string{"replay", "internal/decimal"})
	shell = slices.Concat(log, live, []string{"server", "client", "kit/locksteptest", "kit/netsim"})

	// anyTest is what every test may import.
	anyTest = []string{"internal/testing/testgame", "internal/testing/loglines", "internal/testing/testenv", "internal/testing/alerting", "internal/testing/script", "internal/testing/frozen", "internal/nullgame", "internal/testing/dots", "internal/testing/drift", "internal/testing/stale", "internal/matchlog", goCmp, goleak, goScript}

	// games are test subjects for what stands above the core.
	games = []string{"examples/...", "fixed", "fixed/bodies", "fixed/grid", "fixed/ids"}
)

var imports = []importRow{
	{pattern: "fixed", own: []string{"internal/decimal"}},
	{pattern: "fixed/grid", own: []string{"fixed"}},
	{pattern: "fixed/bodies", own: []string{"fixed", "fixed/grid"}, tests: []string{"kit/locksteptest", "lockstep"}},
	{pattern: "fixed/ids", tests: []string{"fixed", "state"}},
	{pattern: "state", own: []string{"internal/decimal"}, modules: []string{xxhash, xxh3}, tests: []string{"fixed"}},
	{pattern: "checksum", own: []string{"state"}, modules: []string{xxhash}},
	// Not fixed: the engine does no arithmetic of the game.
	{pattern: "lockstep/record", own: []string{"state", "checksum", "internal/pack"}, modules: []string{xxhash}, tests: live},
	{pattern: "lockstep/disclosure", own: []string{"lockstep/record"}},
	{pattern: "lockstep/abi", own: []string{"state", "lockstep/record"}, tests: live},
	{pattern: "lockstep/flight", own: []string{"lockstep/record"}, modules: []string{xxhash}, tests: live},
	{pattern: "lockstep/twin", own: []string{"lockstep/record"}, tests: live},
	{pattern: "lockstep", own: []string{"state", "checksum", "internal/pack", "internal/parallel", "lockstep/record", "lockstep/abi", "lockstep/flight", "lockstep/twin"}, modules: []string{xxhash}, tests: live},
	{pattern: "lockstep/coordinator", own: []string{"state", "checksum", "internal/pack", "lockstep/record", "lockstep"}, tests: live},
	{pattern: "lockstep/protocol", own: []string{"checksum", "internal/pack", "lockstep/flight", "lockstep/record", "lockstep"}, tests: live},
	{pattern: "lockstep/datagram", own: []string{"checksum", "internal/pack", "lockstep/record", "lockstep", "lockstep/protocol"}, modules: []string{xxhash}, tests: live},
	// Apart from lockstep, so that only what sends or receives views links it.
	{pattern: "lockstep/feed", own: []string{"state"}, tests: []string{"fixed"}},
	// No machine of a host imports the host; of the others, only the IDs of accounts.
	{pattern: "lockstep/host/internal/bans", own: []string{"internal/pack", "lockstep", "lockstep/host/internal/budget", "lockstep/record"}},
	{pattern: "lockstep/host/internal/budget", own: []string{"lockstep"}},
	{pattern: "lockstep/host/internal/ending", own: []string{"internal/pack", "lockstep/record", "lockstep", "lockstep/coordinator", "lockstep/protocol"}},
	{pattern: "lockstep/host/internal/evidence", own: []string{"state", "checksum", "lockstep/record", "lockstep/twin", "lockstep", "lockstep/coordinator", "lockstep/protocol"}, tests: live},
	{pattern: "lockstep/host/internal/idle", own: []string{"lockstep"}},
	{pattern: "lockstep/host/internal/link", own: []string{"lockstep"}},
	{pattern: "lockstep/host/internal/lobby", own: []string{"lockstep", "lockstep/host/internal/budget", "lockstep/protocol"}},
	{pattern: "lockstep/host/internal/views", own: []string{"lockstep", "lockstep/feed", "lockstep/protocol", "lockstep/record"}},
	{pattern: "lockstep/host/internal/vote", own: []string{"lockstep", "lockstep/host/internal/budget"}},
	{pattern: "lockstep/host/internal/pace", own: []string{"lockstep", "lockstep/host/internal/budget", "lockstep/protocol", "lockstep/record"}},
	{pattern: "lockstep/host/internal/talk", own: []string{"lockstep", "lockstep/host/internal/budget", "lockstep/protocol"}},
	{pattern: "lockstep/host/internal/syncing", own: []string{"lockstep/record", "lockstep", "lockstep/coordinator", "lockstep/protocol"}},
	{pattern: "lockstep/host", own: slices.Concat(core, []string{"lockstep/host/internal/...", "lockstep/disclosure", "lockstep/feed", "lockstep/protocol", "lockstep/datagram", "internal/ring"}), tests: live},
	{pattern: "lockstep/player", own: []string{"state", "checksum", "internal/pack", "lockstep/flight", "lockstep/feed", "lockstep/record", "lockstep/twin", "lockstep", "lockstep/protocol", "lockstep/datagram", "lockstep/player/internal/..."}, tests: live},
	{pattern: "lockstep/player/internal/answers", own: []string{"checksum", "lockstep", "lockstep/protocol", "lockstep/record"}},
	{pattern: "lockstep/player/internal/commands", own: []string{"lockstep", "lockstep/datagram", "lockstep/record"}},
	{pattern: "lockstep/player/internal/follow", own: []string{"internal/pack", "lockstep", "lockstep/flight", "lockstep/record", "state"}},
	{pattern: "lockstep/player/internal/playout", own: []string{"lockstep"}},
	{pattern: "lockstep/player/internal/predict", own: []string{"lockstep", "lockstep/player/internal/commands"}},
	{pattern: "lockstep/player/internal/dialing", own: []string{"lockstep"}},
	{pattern: "lockstep/player/internal/outbox", own: []string{"lockstep", "lockstep/datagram", "lockstep/protocol", "lockstep/record"}},
	{pattern: "lockstep/player/internal/quiet", own: []string{"lockstep"}},
	{pattern: "lockstep/player/internal/stream", own: []string{"lockstep", "lockstep/protocol", "lockstep/record"}},
	{pattern: "lockstep/player/internal/views", own: []string{"lockstep", "lockstep/feed", "lockstep/protocol", "lockstep/record"}, tests: []string{"state"}},
	{pattern: "replay", own: slices.Concat(live, []string{"internal/files", "internal/matchlog", "internal/words"}), modules: []string{xxhash, zstd, xsys}, tests: games},
	// Only the standard library: a game on another engine links nothing else of ours.
	{pattern: "recorder"},
	// Likewise: any server can use it.
	{pattern: "server/agones"},
	{pattern: "desync", own: slices.Concat(live, []string{"desync/internal/diff", "desync/internal/pages", "replay", "fixed", "internal/matchlog", "internal/words"}), modules: []string{xxhash}, tests: slices.Concat(games, []string{"desync/bisect", "desync/internal/pages/pagestest", "desync/stepper", "desync/triage", "internal/testing/planted"})},
	{pattern: "desync/bisect", own: []string{"checksum", "desync", "desync/internal/diff", "internal/words", "lockstep", "lockstep/record", "replay", "state"}, modules: []string{xxhash, xsync}, tests: slices.Concat(games, live)},
	{pattern: "desync/recordings", own: []string{"desync", "desync/bisect", "desync/internal/diff", "desync/internal/pages", "internal/matchlog", "internal/words", "lockstep", "lockstep/record", "replay", "state"}, modules: []string{xxhash}, tests: []string{"desync/triage", "internal/nullgame", "internal/testing/dots"}},
	{pattern: "desync/internal/diff", own: []string{"fixed", "internal/words", "state"}},
	{pattern: "desync/internal/pages", own: []string{"desync/internal/diff", "state"}},
	{pattern: "desync/internal/pages/pagestest"},
	{pattern: "desync/stepper", own: []string{"checksum", "desync", "desync/bisect", "desync/internal/diff", "internal/words", "lockstep", "replay", "state"}, tests: slices.Concat(games, log, live, []string{"fixed"})},
	{pattern: "desync/profile", own: []string{"desync/internal/pages", "internal/words", "lockstep", "lockstep/record", "replay", "state"}, tests: []string{"lockstep/coordinator"}},
	{pattern: "desync/triage", own: []string{"desync", "desync/internal/pages", "internal/words", "lockstep/record"}, tests: []string{"desync/internal/pages/pagestest", "lockstep"}},
	// Only the standard library: the woven copy of any package imports it.
	{pattern: "desync/probe"},
	{pattern: "desync/probe/program", own: []string{"checksum", "desync/probe", "lockstep", "lockstep/record", "state"}, tests: slices.Concat(log, live, []string{"fixed", "lockstep/local"})},
	{pattern: "desync/line/internal/weave", own: []string{"desync/probe"}, modules: []string{xtools}},
	{pattern: "desync/line", own: slices.Concat(log, []string{"desync", "desync/probe", "desync/probe/program", "desync/line/internal/weave", "internal/words", "lockstep/abi", "module"}), modules: []string{xsync}, tests: slices.Concat(games, live, []string{"internal/testing/hostile", "internal/testing/planted/workshop", "lockstep/local"})},
	// Apart, so that no test of a game links what reads and builds sources.
	{pattern: "desync/line/checkline", own: []string{"desync/probe/program", "desync/line"}},
	// No machine of a server imports the server.
	{pattern: "server/internal/allowance", modules: []string{xtime}},
	{pattern: "server/internal/crowd"},
	{pattern: "server/internal/front"},
	{pattern: "server/internal/repeat"},
	{pattern: "server/internal/guests", own: []string{"server/internal/allowance"}},
	{pattern: "server", own: slices.Concat(log, live, []string{"internal/buffer", "internal/files", "internal/logged", "internal/measure", "internal/tries", "internal/wsmatch", "server/internal/..."}), modules: []string{websocket, quic, jwt, jwks, metrics, proxy, xtime, xsync, xsys}, tests: slices.Concat(games, shell, []string{"server/archive", "server/assets", openAPI, xxhash})},
	{pattern: "server/internal/bundles", own: []string{"internal/files", "lockstep", "lockstep/host", "replay"}, tests: []string{"lockstep/coordinator", "lockstep/record", "lockstep/twin"}},
	{pattern: "server/internal/hold", own: []string{"lockstep", "lockstep/host", "lockstep/protocol"}},
	{pattern: "server/internal/livelog", own: []string{"lockstep", "lockstep/protocol", "lockstep/record", "replay"}},
	{pattern: "server/internal/owners", own: []string{"lockstep", "lockstep/host"}},
	{pattern: "server/archive", own: []string{"lockstep", "server", "replay", "internal/files", "internal/measure"}, modules: []string{metrics, bbolt}, tests: []string{"lockstep/host", "lockstep/record", "server/archive/s3", "internal/testing/bucket"}},
	// Apart, so that only a program with object storage links its client.
	{pattern: "server/archive/s3", own: []string{"server/archive"}, modules: []string{minio}, tests: []string{"lockstep", "server", "internal/testing/bucket"}},
	// Apart, so that only a program for a cluster links its storage.
	{pattern: "cluster/ownership", own: []string{"lockstep", "internal/tries"}, modules: []string{xxhash}},
	{pattern: "cluster", own: slices.Concat(log, live, []string{"internal/logged", "internal/measure", "internal/tries", "internal/wsmatch", "server", "cluster/ownership", "cluster/storage"}), modules: []string{nats, metrics}, tests: slices.Concat(games, shell)},
	{pattern: "internal/testing/fleet", own: slices.Concat(live, []string{"replay", "client", "cluster", "cluster/storage"}), modules: []string{nats}, tests: games},
	{pattern: "cluster/storage", own: []string{"lockstep", "internal/files", "internal/measure"}, modules: []string{nats, natsNode, nkeys, metrics}},
	{pattern: "cluster/audience", own: slices.Concat(live, []string{"internal/ring"}), tests: games},
	{pattern: "cluster/mirror", own: slices.Concat(live, []string{"internal/buffer", "internal/logged", "internal/measure", "internal/wsmatch", "server", "cluster/..."}), modules: []string{websocket, metrics, nats}, tests: slices.Concat(games, shell)},
	{pattern: "cluster/objects", own: []string{"server/archive", "cluster/storage"}, modules: []string{nats}, tests: []string{"lockstep", "server"}},
	{pattern: "cluster/farm", own: []string{"lockstep", "replay", "desync", "server/archive", "cluster/storage", "cluster/objects"}, modules: []string{nats, xsync}, tests: slices.Concat(games, []string{"lockstep/record"})},
	{pattern: "client", own: slices.Concat(log, live, []string{"internal/buffer"}), modules: []string{websocket, quic, xtime}, tests: slices.Concat(games, shell, []string{"server/assets"})},
	{pattern: "kit/locksteptest", own: slices.Concat(log, live, []string{"desync/probe/program", "internal/elsewhere", "internal/testing/reach", "internal/testing/simulate", "internal/testing/prober", "internal/words"}), tests: games},
	{pattern: "lockstep/local", own: []string{"lockstep", "lockstep/coordinator", "lockstep/protocol", "lockstep/host", "lockstep/player"}, tests: slices.Concat(games, []string{"replay"})},
	// The two sides of a module apart, so that a module does not link what runs it.
	{pattern: "module", own: []string{"lockstep/abi", "internal/files"}, modules: []string{wazero, xsys}, tests: slices.Concat(games, shell)},
	{pattern: "module/guest", own: core, tests: slices.Concat(games, shell)},
	{pattern: "server/assets", own: []string{"lockstep/record", "internal/files"}},
	{pattern: "kit/netsim", modules: []string{humanize}},
	{pattern: "kit/determinism", modules: []string{xtools}},

	{pattern: "page/canvas", own: []string{"fixed"}},
	{pattern: "page/input", own: []string{"fixed", "page/canvas"}},
	{pattern: "page/...", own: slices.Concat(log, live, []string{"client", "lockstep/local", "module", "page/..."}), tests: slices.Concat(games, shell, []string{"internal/site", "internal/testing/browser", "module/guest", chromedp})},

	{pattern: "internal/testing/prober", own: []string{"lockstep", "lockstep/record", "state"}},
	{pattern: "internal/testing/attack", own: slices.Concat(live, []string{"internal/testing/hostile", "internal/testing/prober", "internal/words", "state"}), modules: []string{websocket, quic}, tests: slices.Concat(games, []string{"module/guest"})},
	{pattern: "internal/testing/browser", own: slices.Concat(shell, []string{"internal/site", "internal/testing/testenv"}), modules: []string{chromedp}},
	{pattern: "internal/buffer"},
	{pattern: "internal/logged", own: []string{"lockstep/protocol"}},
	{pattern: "internal/wsmatch", own: []string{"internal/buffer"}, modules: []string{websocket}},
	{pattern: "internal/testing/conformance", tests: slices.Concat(shell, []string{"module", xxhash})},
	{pattern: "internal/decimal"},
	{pattern: "internal/elsewhere"},
	{pattern: "internal/files", modules: []string{xsys}},
	{pattern: "internal/tries"},
	{pattern: "internal/measure", modules: []string{metrics}},
	{pattern: "internal/words", tests: []string{humanize}},
	{pattern: "internal/testing/reach", own: []string{"internal/words", "lockstep", "state"}},
	{pattern: "internal/testing/simulate", own: slices.Concat(log, live, []string{"cluster/ownership", "internal/files", "internal/testing/reach"}), modules: []string{xxhash}, tests: []string{"module/guest"}},
	{pattern: "internal/testing/mutants/...", own: []string{"internal/testing/simulate", "lockstep"}, tests: []string{"internal/testing/mutants"}},
	{pattern: "internal/ring", own: []string{"lockstep/protocol", "lockstep/record"}},
	{pattern: "internal/pack", modules: []string{msgpack}},
	// The only goroutines below lockstep: none outlives Turn.Each, and no result shows them.
	{pattern: "internal/parallel"},
	{pattern: "internal/site", own: []string{"internal/files"}, modules: []string{brotli}},
	{pattern: "internal/testing/fixedbench", own: []string{"fixed"}},
	{pattern: "internal/testing/archtest", tests: []string{"kit/determinism", "internal/testing/commands"}},
	{pattern: "internal/testing/commands"},
	{pattern: "internal/testing/testenv"},
	{pattern: "internal/testing/tooltest", own: []string{"internal/testing/browser", "internal/testing/testenv", "lockstep", "replay", "server"}, modules: []string{goScript}},
	{pattern: "internal/testing/loglines"},
	{pattern: "internal/testing/ci"},
	{pattern: "internal/testing/alerting"},
	{pattern: "internal/testing/bucket"},
	{pattern: "internal/testing/netload", own: slices.Concat(shell, []string{"internal/testing/wire", "internal/words"}), modules: []string{websocket, xsync}},
	{pattern: "internal/testing/wire", own: []string{"kit/netsim"}, modules: []string{xsys}},
	{pattern: "internal/testing/script", modules: []string{dataTests}},
	{pattern: "internal/testing/frozen", own: []string{"internal/testing/script"}},
	{pattern: "internal/matchlog", own: []string{"state"}, tests: []string{"recorder"}},
	{pattern: "internal/nullgame", own: []string{"lockstep"}},
	{pattern: "internal/testing/dots", own: slices.Concat(live, []string{"replay", "fixed"})},
	{pattern: "internal/testing/stale", own: []string{"lockstep"}},
	{pattern: "internal/testing/drift", own: slices.Concat(live, []string{"replay", "fixed"})},
	{pattern: "internal/testing/testgame", own: slices.Concat(live, []string{"internal/matchlog"})},
	{pattern: "internal/testing/hostile", own: []string{"checksum", "lockstep", "lockstep/coordinator", "lockstep/host", "replay"}},
	{pattern: "internal/testing/planted", own: []string{"lockstep", "examples/skirmish"}, tests: []string{"kit/determinism", "kit/locksteptest", "internal/testing/testenv"}},
	{pattern: "internal/testing/memory", modules: []string{xxhash}, tests: slices.Concat(log, live, []string{"internal/testing/testenv"})},
	{pattern: "internal/testing/faultinjection", own: slices.Concat(log, live, []string{"desync", "desync/bisect", "fixed", "internal/words"}), tests: slices.Concat(games, shell, []string{"internal/testing/mutants", "internal/testing/testenv"})},
	{pattern: "internal/testing/logbench", own: slices.Concat(log, live, games, []string{"internal/files"}), modules: []string{xsys, xxhash}, tests: shell},

	// Games on no engine of ours.
	{pattern: "examples/marbles", own: []string{"recorder"}},
	{pattern: "examples/rollback", own: []string{"recorder"}, modules: []string{"github.com/xtaci/kcp-go/v5"}},
	{pattern: "examples/pebbles", tests: slices.Concat(shell, []string{"module"})},
	{pattern: "examples/window", own: slices.Concat(shell, games), modules: []string{"github.com/hajimehoshi/ebiten/v2"}},
	{pattern: "examples/platforms/compat", own: slices.Concat(shell, games), modules: []string{websocket, msgpack, xtime}},
	{pattern: "examples/...", own: slices.Concat(shell, games, []string{"page/..."}), modules: []string{websocket}, tests: []string{"lockstep/local", "module/guest", "internal/site", "internal/testing/browser", chromedp, brotli, zstd, msgpack}},
	{pattern: "internal/testing/planted/workshop", own: []string{"fixed", "internal/testing/planted/workshop/tools", "lockstep"}},
	{pattern: "internal/testing/planted/workshop/tools"},
	{pattern: "fuzz/...", own: slices.Concat(shell, games), tests: []string{"internal/testing/planted"}},
	{pattern: "cmd/...", own: []string{"./..."}, modules: []string{"*"}, tests: []string{chromedp}},
}

// importFindings compares the import graph with the table.
func importFindings(tr *tree, table []importRow) []finding {
	var found []finding
	for _, p := range tr.pkgs {
		at := slices.IndexFunc(table, func(r importRow) bool { return under(r.pattern, p.path) })
		if at < 0 {
			found = append(found, finding{p.files[0].name, 1, "imports", "package " + p.path + " has no row in the table of imports"})
			continue
		}
		for _, f := range p.files {
			for _, spec := range f.ast.Imports {
				name, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					panic(err) // the parser accepted it
				}
				if !table[at].allows(tr, p, f, name) {
					found = append(found, finding{f.name, tr.line(spec.Pos()), "imports", p.path + " must not import " + strings.TrimPrefix(name, tr.module+"/")})
				}
			}
		}
	}
	return found
}

// allows reports whether file f of package p may import a path.
func (r *importRow) allows(tr *tree, p *pkg, f *file, name string) bool {
	if first, _, _ := strings.Cut(name, "/"); !strings.Contains(first, ".") {
		return true // the standard library; the purity rules say more
	}
	own, isOwn := strings.CutPrefix(name, tr.module+"/")
	if isOwn {
		name = own
	}
	if f.test && (own == p.path || named(r.tests, name) || named(anyTest, name)) {
		return true
	}
	if isOwn {
		return named(r.own, name)
	}
	return named(r.modules, name)
}

// named reports whether one of the patterns names a package, or is the module
// that a package belongs to.
func named(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		isModule := strings.Contains(pattern, ".") && !strings.HasSuffix(pattern, "/...")
		return pattern == "*" || pattern == "./..." || under(pattern, name) || isModule && under(pattern+"/...", name)
	})
}

func TestImports(t *testing.T) {
	report(t, importFindings(ours(t), imports))
}

// The engine never imports a game, whatever the table says of single packages.
func TestImportTableLayers(t *testing.T) {
	for _, r := range imports {
		if strings.HasPrefix(r.pattern, "examples") || strings.HasPrefix(r.pattern, "cmd") || strings.HasPrefix(r.pattern, "fuzz") {
			continue
		}
		switch r.pattern {
		case "internal/testing/logbench", "internal/testing/planted", "internal/testing/browser", "internal/testing/tooltest":
			continue // they measure and test the engine, and no row but cmd's and those of tests names them
		}
		if named(r.own, "examples/skirmish") || named(r.own, "cmd/samestep") || named(r.own, "internal/testing/testenv") {
			t.Errorf("package %s of the engine may import what stands above it", r.pattern)
		}
		if strings.HasPrefix(r.pattern, "lockstep") && named(r.own, "fixed") {
			t.Errorf("package %s may import fixed", r.pattern)
		}
	}
}

func TestImportsControl(t *testing.T) {
	tr := treeOf(t, map[string]string{
		"lockstep/a.go":      "package lockstep\nimport (\n\"fmt\"\n\"example.test/m/state\"\n\"example.test/m/fixed\"\n)",
		"lockstep/a_test.go": "package lockstep_test\nimport (\n\"example.test/m/lockstep\"\n\"example.test/m/examples/skirmish\"\n\"go.uber.org/goleak\"\n)",
		"server/a.go":        "package server\nimport \"example.test/m/examples/skirmish\"",
		"fixed/a.go":         "package fixed\nimport (\n\"example.test/m/internal/decimal\"\n\"example.test/m/state\"\n\"go.uber.org/goleak\"\n)",
		"replay/a.go":        "package replay\nimport (\n\"github.com/klauspost/compress/zstd\"\n\"github.com/klauspost/compressed\"\n\"example.test/m/server\"\n)",
		"surprise/a.go":      "package surprise",
		"cmd/samestep/a.go":  "package main\nimport (\n\"example.test/m/examples/skirmish\"\n\"github.com/urfave/cli/v2\"\n)",
	})
	expect(t, importFindings(tr, imports),
		"fixed/a.go:4: imports: fixed must not import state",
		"fixed/a.go:5: imports: fixed must not import go.uber.org/goleak",
		"lockstep/a.go:5: imports: lockstep must not import fixed",
		"lockstep/a_test.go:4: imports: lockstep must not import examples/skirmish",
		"replay/a.go:4: imports: replay must not import github.com/klauspost/compressed",
		"replay/a.go:5: imports: replay must not import server",
		"server/a.go:2: imports: server must not import examples/skirmish",
		"surprise/a.go:1: imports: package surprise has no row",
	)
}
