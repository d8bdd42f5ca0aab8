package archtest

import (
	"go/ast"
	"strings"
	"testing"
)

// diskServer is the package whose matches and metrics never wait for a disk, and diskMachines are the parts of its matches.
const diskServer = "server"

var diskMachines = []string{diskServer, "server/internal/bundles", "server/internal/livelog"}

// diskCalls are the functions, by package, that wait for a disk. A name that ends with * is a prefix.
var diskCalls = map[string][]string{
	"os":     {"Chtimes", "Create*", "Link", "Lstat", "Mkdir*", "Open*", "Read*", "Remove*", "Rename", "Stat", "Symlink", "Truncate", "Write*"},
	"files":  {"*"},
	"replay": {"Create", "Lock", "Locked", "Open*", "Replace", "SealFile", "SignFile", "WriteBundle"},
}

// diskUsers are the functions of diskServer that may wait for the disk, and who waits then: never a match that plays, nor who holds
// a mutex that one takes, or the metrics.
var diskUsers = map[string]string{
	"New":                         "the program that starts",
	"CheckLog":                    "the program that starts",
	"LiveLogs":                    "the program that starts",
	"Log.Abandon":                 "who creates or resumes a match",
	"recovery.replace":            "who resumes a match",
	"openInterrupted":             "who resumes a match",
	"recoverer.compareLog":        "a goroutine of its own, with a mutex that only others of its kind take",
	"Log.Lost":                    "a goroutine of its own",
	"Log.Release":                 "a match that is over",
	"sealer.archive":              "a match that is over, or who resumes it",
	"SealFile":                    "a goroutine of its own",
	"writeBundle":                 "a goroutine of its own",
	"writeProbe":                  "a goroutine of its own, see storage.check",
	"denialFolder.Put":            "the goroutine of keeper",
	"denialFolder.remove":         "the goroutine of keeper, or of a sweep",
	"denialFolder.Sweep":          "a goroutine of its own, see denier.sweepLater",
	"denialFolder.Get":            "who resumes a match, or a goroutine of its own",
	"denialFolder.each":           "the program that starts, or a sweep",
	"readTries":                   "the program that starts, or a request",
	"writeTries":                  "who resumes a match",
	"forgetTries":                 "who resumes a match",
	"recoverer.keepTries":         "who resumes a match",
	"Match.openSave":              "a request",
	"newTemporary":                "a request",
	"openFinished":                "a request",
	"replayFolder.files":          "a request, with a mutex that only others of its kind take",
	"replayFolder.evidence":       "a request, or the goroutine of a seal",
	"replayFolder.removeEvidence": "a request",
	"replayFolder.remove":         "a request",
}

// diskFindings looks for other functions that do. A method has the name of its type: Match.begin.
func diskFindings(tr *tree, users map[string]string) (found []finding) {
	used := map[string]bool{}
	tr.calls(diskMachines, func(f *file, fn *ast.FuncDecl, call *ast.CallExpr) {
		if !waitsForDisk(call) {
			return
		}
		name := declared(fn)
		if used[name] = true; users[name] == "" {
			found = append(found, finding{f.name, tr.line(call.Pos()), "disk", name + " waits for the disk: let a goroutine of its own do that, hold no mutex, and add it to the table"})
		}
	})
	for name := range users {
		if !used[name] {
			found = append(found, finding{diskServer, 0, "disk", name + " does not wait for the disk any more"})
		}
	}
	return found
}

// declared returns the name of a function, or the type and the name of a method.
func declared(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	of := fn.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if id, ok := of.(*ast.Ident); ok {
		return id.Name + "." + fn.Name.Name
	}
	return fn.Name.Name
}

func waitsForDisk(call *ast.CallExpr) bool {
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	of, ok := s.X.(*ast.Ident)
	if !ok {
		return false
	}
	for _, name := range diskCalls[of.Name] {
		if prefix, any := strings.CutSuffix(name, "*"); s.Sel.Name == name || any && strings.HasPrefix(s.Sel.Name, prefix) {
			return true
		}
	}
	return false
}

// No match that plays, and no metric, waits for a disk: whoever does is in the table, with who waits then.
func TestDisk(t *testing.T) { report(t, diskFindings(ours(t), diskUsers)) }

func TestDiskControl(t *testing.T) {
	tr := treeOf(t, map[string]string{
		"server/a.go":    "package p\nfunc (m *Match) tick() { os.Lstat(m.path) }\nfunc save() { files.OpenNoFollow(p) }\nfunc id() { os.Getpid() }",
		"elsewhere/a.go": "package p\nfunc a() { os.Lstat(p) }",
	})
	expect(t, diskFindings(tr, map[string]string{"save": "its caller", "gone": "nobody"}),
		"server/a.go:2: disk: Match.tick waits for the disk", "gone does not wait for the disk any more")
}
