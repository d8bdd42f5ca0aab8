//go:build unix

package fleet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// A Machine is an empty one on which an operator follows docs/operations.md, with the files of docs/operations as they are: their
// paths are below Root, and their addresses are free ones.
type Machine struct {
	Root       string // in place of /
	Program    string // as in Options
	Operations string // the folder docs/operations

	server string // the address in place of that in the files
}

// Names in the files.
const (
	shippedServer  = "127.0.0.1:8766"
	shippedProgram = "/usr/local/bin/samestep"
	shippedHost    = "play.example"
)

// NewMachine returns a machine that has nothing.
func NewMachine(root, program, operations string) (*Machine, error) {
	free, err := freeAddresses(1)
	if err != nil {
		return nil, err
	}
	return &Machine{Root: root, Program: program, Operations: operations, server: free[0]}, nil
}

// at returns a path of the machine.
func (m *Machine) at(path string) string { return filepath.Join(m.Root, path) }

// here replaces what the files name by what this machine has.
func (m *Machine) here(text string) string {
	return strings.NewReplacer(
		shippedServer, m.server, shippedProgram, m.Program, "${CREDENTIALS_DIRECTORY}", m.at("/run/credentials"), "/etc/", m.at("/etc")+"/", "/var/lib/", m.at("/var/lib")+"/",
	).Replace(text)
}

// execStart is the line of the unit that starts the server.
var execStart = regexp.MustCompile(`(?m)^ExecStart=(.*)$`)

// writeLine is the command in the comment of the unit that writes the settings.
var writeLine = regexp.MustCompile(`(?m)^# samestep (serve --write-settings .*?) writes `)

// WriteSettings runs the command that the unit names for its settings.
func (m *Machine) WriteSettings(ctx context.Context) (out string, err error) {
	unit, err := os.ReadFile(filepath.Join(m.Operations, "samestep.service"))
	if err != nil {
		return "", err
	}
	found := writeLine.FindSubmatch(unit)
	if found == nil {
		return "", errors.New("fleet: the unit names no command that writes its settings")
	}
	args := append(strings.Fields(m.here(string(found[1]))), "--listen", m.server, "--dir", m.at("/var/lib/samestep")) // ports and folders of this machine
	b, err := exec.CommandContext(ctx, m.Program, args...).CombinedOutput()
	return string(b), err
}

// StartUnit starts the server as the unit does, with its arguments.
func (m *Machine) StartUnit(ctx context.Context) (*Process, error) {
	unit, err := os.ReadFile(filepath.Join(m.Operations, "samestep.service"))
	if err != nil {
		return nil, err
	}
	found := execStart.FindSubmatch(unit)
	if found == nil {
		return nil, errors.New("fleet: the unit has no ExecStart")
	}
	secrets := m.at("/run/credentials")
	err = os.MkdirAll(secrets, 0o700)
	if err == nil { // LoadCredential
		err = os.Symlink(m.at("/etc/samestep/tokens"), filepath.Join(secrets, "tokens"))
	}
	if err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	return Run(ctx, m.Root, "unit", "listening on ", strings.Fields(m.here(string(found[1]))))
}

// Admin returns the token of the admin.
func (m *Machine) Admin() (string, error) {
	b, err := os.ReadFile(m.at("/etc/samestep/tokens"))
	words := strings.Fields(string(b))
	if err != nil || len(words) == 0 {
		return "", fmt.Errorf("fleet: no tokens: %w", err)
	}
	return words[len(words)-1], nil
}

// Proxies are the proxies of docs/operations, by the names of their programs.
var Proxies = []string{"nginx", "caddy"}

// proxies say what is around the files, and how the programs are started.
var proxies = map[string]struct {
	file, listens, ours, around string // the file; what it listens on, and in its place; the rest of a configuration
	args                        func(config, dir string) []string
}{
	"nginx": {
		"nginx.conf", "listen 80;", "listen %s;",
		"events {}\nerror_log stderr;\npid nginx.pid;\nhttp {\naccess_log off;\nclient_body_temp_path a;\nproxy_temp_path b;\nfastcgi_temp_path c;\nuwsgi_temp_path d;\nscgi_temp_path e;\n%s}\n",
		func(config, dir string) []string {
			return []string{"-p", dir, "-c", config, "-e", "stderr", "-g", "daemon off;"}
		},
	},
	"caddy": {
		"Caddyfile", shippedHost + " {", "http://" + shippedHost + ":%[2]s {\nbind %[1]s", "{\nadmin off\nauto_https off\n}\n%s",
		func(config, _ string) []string { return []string{"run", "--adapter", "caddyfile", "--config", config} },
	},
}

// StartProxy starts a proxy with its file, and returns its address. stop ends it, and returns what it has logged.
func (m *Machine) StartProxy(ctx context.Context, name string) (address string, stop func() string, err error) {
	p := proxies[name]
	program, err := exec.LookPath(name)
	if err != nil {
		return "", nil, err
	}
	text, err := os.ReadFile(filepath.Join(m.Operations, p.file))
	if err != nil {
		return "", nil, err
	}
	free, err := freeAddresses(1)
	if err != nil {
		return "", nil, err
	}
	host, port, err := net.SplitHostPort(free[0])
	if err != nil {
		return "", nil, err
	}
	ours := p.ours
	if strings.Contains(ours, "%[2]s") {
		ours = fmt.Sprintf(ours, host, port)
	} else {
		ours = fmt.Sprintf(ours, free[0])
	}
	dir := m.at("/proxy-" + name)
	config := filepath.Join(dir, "config")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", nil, err
	}
	if err := os.WriteFile(config, fmt.Appendf(nil, p.around, strings.Replace(m.here(string(text)), p.listens, ours, 1)), 0o600); err != nil {
		return "", nil, err
	}
	c := exec.CommandContext(ctx, program, p.args(config, dir)...)
	c.Dir, c.Env = dir, append(os.Environ(), "HOME="+dir)
	var log strings.Builder
	c.Stdout, c.Stderr = &log, &log
	if err := c.Start(); err != nil {
		return "", nil, err
	}
	stop = func() string {
		_ = c.Process.Signal(syscall.SIGINT)
		timer := time.AfterFunc(startTime, func() { _ = c.Process.Kill() })
		defer timer.Stop()
		_ = c.Wait()
		return log.String()
	}
	for deadline := time.Now().Add(startTime); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if conn, err := net.Dial("tcp", free[0]); err == nil {
			conn.Close()
			return free[0], stop, nil
		}
	}
	return "", nil, fmt.Errorf("fleet: %s does not listen: %s", name, stop())
}
