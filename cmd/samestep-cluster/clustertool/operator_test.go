//go:build unix

package clustertool_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/internal/games"
	"github.com/seed-49bee653/samestep/cmd/samestep-cluster/clustertool"
)

// Flags of a cluster are refused without --durability replicated, since the server would play outside of it.
func TestOutside(t *testing.T) {
	dir := t.TempDir()
	serve := "serve --check-config --game minimal --set web=false --dir " + dir
	const outside = "without it this server is in no cluster"
	for _, flags := range []string{"--nats nats://127.0.0.1:1", "--name x", "--set replicas=3", "--set redirect=true", "--set node-listen=127.0.0.1:0", "--set archive=nats: --nats nats://127.0.0.1:1 --name x"} {
		command(t, 2, serve+" "+flags, outside)
	}
	command(t, 0, serve+" --set archive=nats: --nats nats://127.0.0.1:1", "ok")
	command(t, 2, serve+" --durability both", "none, interval, frame or replicated")
	command(t, 2, serve+" --durability replicated --resume", "servers resume the matches of lost ones by themselves")
	command(t, 0, "serve --help", "--nats URL", "--name NAME")
	command(t, 0, "serve --print-settings", "\n#archive: \"\"\n", "\n#replicas: 1\n")
}

// The steps of cluster.md for one machine work as written, in order, in an empty folder. Only the ports differ.
func TestOneMachine(t *testing.T) {
	page, err := os.ReadFile("../../../docs/cluster.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(page), "\nOn one machine:\n\n")
	block, _, _ = strings.Cut(block, "\n\n")
	t.Chdir(t.TempDir())
	node, ran := freeAddress(t), 0
	for line := range strings.Lines(block) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), " #")
		verb, own := strings.CutPrefix(strings.ReplaceAll(line, "127.0.0.1:4222", node), "samestep-cluster ")
		switch {
		case !own:
			if out, err := exec.CommandContext(t.Context(), "sh", "-ec", line).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v: %s", line, err, out)
			}
		case strings.HasPrefix(verb, "storage "):
			background(t, "storage at ", verb+" --listen "+node)
		case strings.HasPrefix(verb, "serve "):
			background(t, "listening on ", verb+" --listen 127.0.0.1:0 --game minimal --set web=false")
		default:
			command(t, 0, verb+" --nats nats://"+node, "one", "match-1")
		}
		ran++
	}
	if ran < 4 {
		t.Errorf("got %d steps, want at least 4", ran)
	}
}

// A key of the wrong role is one line, at once.
func TestWrongRole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tokens(t, dir)
	command(t, 0, "keys new --dir "+dir+"/keys")
	url := background(t, "storage at ", "storage --name a --listen 127.0.0.1:0 --dir "+dir+"/a --node-users "+dir+"/keys/users.txt")
	as := func(role string) string { return " --nats " + url + " --nats-nkey " + dir + "/keys/" + role + ".nk" }
	for _, row := range []struct{ line, want string }{
		{"status" + as("worker"), "operator"},
		{"farm submit --archive" + as("worker"), "operator"},
		{"farm submit --archive" + as("mirror"), "operator"},
		{"farm results" + as("mirror"), "operator"},
		{"mirror --listen 127.0.0.1:0" + as("worker"), "mirror"},
		{"serve --durability replicated --listen 127.0.0.1:0 --game minimal --matches 0 --set web=false --tokens " + dir + "/tokens.txt --dir " + dir + "/b" + asKeys(as("operator")), "server"},
	} {
		var out bytes.Buffer
		code := clustertool.Run(t.Context(), append([]string{"samestep-cluster"}, strings.Fields(row.line)...), &out, &out, games.All()...)
		want := "samestep-cluster: this key's role may not do this; it needs a key of role " + row.want
		if lines := strings.Split(strings.TrimSpace(out.String()), "\n"); code != 1 || len(lines) != 1 || !strings.HasPrefix(lines[0], want) {
			t.Errorf("%s: got %d and %s", row.line, code, &out)
		}
	}
	command(t, 1, "status"+as("operator"), "no server has used this storage yet")
}

// An operator sees what servers, matches, nodes and mirrors do: by status, and by the addresses for metrics and health.
func TestOperator(t *testing.T) {
	dir := t.TempDir()
	tokens(t, dir)
	metrics := freeAddress(t)
	t.Setenv("SAMESTEP_METRICS", metrics)
	settings := filepath.Join(dir, "storage.yaml")
	if err := os.WriteFile(settings, []byte("name: a\nlisten: 127.0.0.1:0\nlog-format: json\ndir: "+dir+"/a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	storage := background(t, "storage at ", "storage --settings "+settings)
	os.Unsetenv("SAMESTEP_METRICS")
	url := background(t, "listening on ", fmt.Sprintf("serve --durability replicated --nats %s --listen 127.0.0.1:0 --name one --dir %[2]s/one --tokens %[2]s/tokens.txt --game minimal --set web=false --set archive=nats:", storage, dir))
	mirror := background(t, "mirror at ", "mirror --listen 127.0.0.1:0 --nats "+storage)
	for of, names := range map[string][]string{
		url: {"cluster_lease_age_seconds", "cluster_servers 1\n", `cluster_matches{state="playing"} 1` + "\n", `cluster_matches{state="waiting"} 0` + "\n",
			`cluster_takeovers_total{result="failed"} 0` + "\n", "cluster_append_seconds_count", "archive_waiting 0\n"},
		"http://" + metrics: {"storage_ready 1\n", "storage_nodes 1\n", "storage_connected 1\n", "storage_clients", "storage_streams", "storage_bytes"},
		mirror:              {"mirror_welcomes_total"},
	} {
		text := get(t, strings.TrimSuffix(of, "/")+"/metrics")
		for _, name := range names {
			if !strings.Contains(text, "\nsamestep_"+name) {
				t.Errorf("%s has no %q:\n%s", of, name, text)
			}
		}
		command(t, 0, "healthcheck "+of, "ready")
		command(t, 0, "healthcheck --live "+of, "ok")
	}
	command(t, 0, "status --nats "+storage, "match-1", "lobby", "0 of 4", "NODE", "LEADS")
	command(t, 0, "status --json --nats "+storage, `"state": "lobby"`, `"leader": "a"`)
}

// freeAddress returns an address on loopback that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// A client that is refused learns why: the token, or a redirect to a server whose URL it was not given.
func TestJoinRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tokens(t, dir)
	storage := background(t, "storage at ", "storage --name a --listen 127.0.0.1:0 --dir "+dir+"/a")
	serve := func(name, more string) string {
		return background(t, "listening on ", fmt.Sprintf("serve --durability replicated --nats %s --listen 127.0.0.1:0 --name %s --dir %s --tokens %s/tokens.txt --game minimal --set web=false %s", storage, name, filepath.Join(dir, name), dir, more))
	}
	one := serve("one", "")
	two := serve("two", "--matches 0 --set redirect=true")
	const match, player = "/matches/match-1", " --token the-player-of-seat-0"
	await(t, "the second server knows the match", func() bool { return get(t, two+match) != "" })
	command(t, 1, "join --time 1s "+two+match+player, "the server did not admit this client: ", "which would get the token: "+strings.TrimPrefix(one, "http://"))
	command(t, 0, "join --time 1s "+two+match+" "+one+match+player, "player 0")
	command(t, 1, "join --time 1s "+one+match, "the server requires a token; see --token and SAMESTEP_TOKEN")
	command(t, 1, "join --time 1s "+one+match+" --token somebody-somebody-else", "unknown token")
}
