//go:build linux

package clustertool_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A kubelet stands in for that of a machine, and for the network: it starts the program of a pod with what the manifest says. Each
// pod has an address on loopback.
type kubelet struct {
	t       *testing.T
	dir     string
	secrets map[string]map[string]string // the file for each key of each secret
	pods    []*runningPod
}

type runningPod struct {
	name, address, host string // host is its name in the network, or ""
	spec                *podSpec
	stop                func()
}

// add makes the pods of the manifests, and starts none.
func (k *kubelet) add(all []*manifest) (added []*runningPod) {
	for _, m := range all {
		if len(m.Spec.Template.Spec.Containers) == 0 {
			continue
		}
		for i := range m.Spec.Replicas {
			p := &runningPod{name: fmt.Sprintf("%s-%d", m.Metadata.Name, i), spec: &m.Spec.Template.Spec}
			n := len(k.pods) + 1
			p.address = fmt.Sprintf("127.%d.%d.%d", 64+os.Getpid()%128, os.Getpid()/128%250, n)
			if m.Spec.ServiceName != "" {
				p.host = p.name + "." + m.Spec.ServiceName
			}
			k.pods, added = append(k.pods, p), append(added, p)
		}
	}
	return added
}

// line returns the command line of a pod's container, in which addresses and paths are those of the test.
func (k *kubelet) line(p *runningPod) string {
	k.t.Helper()
	c := &p.spec.Containers[0]
	if len(c.Command) != 2 || c.Command[0] != "/samestep" {
		k.t.Fatalf("got command %q, want the program and a verb", c.Command)
	}
	var replaced []string
	for _, e := range c.Env {
		value := map[string]string{"metadata.name": p.name, "status.hostIP": "127.0.0.1"}[e.ValueFrom.FieldRef.FieldPath]
		replaced = append(replaced, "$("+e.Name+")", value)
	}
	vars := strings.NewReplacer(replaced...)
	replaced = []string{"0.0.0.0:", p.address + ":"}
	for _, other := range k.pods {
		if other.host != "" {
			replaced = append(replaced, other.host+":", other.address+":")
		}
	}
	for _, m := range c.VolumeMounts {
		replaced = append(replaced, "="+m.MountPath, "="+k.mount(p, m.Name, m.MountPath))
	}
	places := strings.NewReplacer(replaced...)
	words := []string{c.Command[1]}
	for _, arg := range c.Args {
		words = append(words, places.Replace(vars.Replace(arg)))
	}
	return strings.Join(words, " ")
}

// mount makes the folder of a volume in a pod.
func (k *kubelet) mount(p *runningPod, volume, path string) string {
	k.t.Helper()
	dir := filepath.Join(k.dir, p.name, path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		k.t.Fatal(err)
	}
	for _, v := range p.spec.Volumes {
		if v.Name != volume || v.Secret == nil {
			continue
		}
		files := make(map[string]string)
		for key, file := range k.secrets[v.Secret.SecretName] {
			files[key] = file
		}
		if len(v.Secret.Items) > 0 {
			named := make(map[string]string)
			for _, item := range v.Secret.Items {
				named[item.Path] = files[item.Key]
			}
			files = named
		}
		for name, file := range files {
			b, err := os.ReadFile(file)
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, name), b, 0o440)
			}
			if err != nil {
				k.t.Fatal(err)
			}
		}
	}
	return dir
}

// start starts pods at the same time.
func (k *kubelet) start(pods []*runningPod) {
	prefix := map[string]string{"storage": "storage at ", "serve": "listening on ", "mirror": "mirror at "}
	var all sync.WaitGroup
	for _, p := range pods {
		line := k.line(p)
		all.Go(func() { _, p.stop = stoppable(k.t, prefix[p.spec.Containers[0].Command[1]], line) })
	}
	all.Wait()
}

// ask makes a request to a pod, as one for a host.
func (k *kubelet) ask(p *runningPod, method, path, host, body string) (status int, text string) {
	k.t.Helper()
	port := p.spec.Containers[0].ReadinessProbe.HTTPGet.Port
	for _, x := range p.spec.Containers[0].Ports {
		if x.Name == port {
			port = fmt.Sprint(x.ContainerPort)
		}
	}
	r, err := http.NewRequestWithContext(k.t.Context(), method, "http://"+p.address+":"+port+path, strings.NewReader(body))
	if err != nil {
		k.t.Fatal(err)
	}
	if r.Host = host; host == "" {
		r.Host = p.address + ":" + port // as probes have it
	}
	r.Header.Set("Authorization", "Bearer ops-ops-ops-ops-ops-ops")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err.Error()
	}
	return answer.StatusCode, string(b)
}

// ready waits until all probes of pods succeed.
func (k *kubelet) ready(pods []*runningPod) {
	k.t.Helper()
	for _, p := range pods {
		c := &p.spec.Containers[0]
		for _, x := range []*probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
			await(k.t, p.name+": "+x.HTTPGet.Path, func() bool {
				status, _ := k.ask(p, http.MethodGet, x.HTTPGet.Path, "", "")
				return status == http.StatusOK
			})
		}
	}
}

// The manifests make a cluster: their programs take the flags, find each other and the files of the secrets, and pass the probes. A
// match is played by one server, found at each of them, and watched at a mirror; when its server is stopped, another one has it.
func TestManifestsRun(t *testing.T) {
	overlap(t)
	dir := t.TempDir()
	k := &kubelet{t: t, dir: dir}
	nodes := k.add(readManifests(t, manifestText(t, "storage.yaml")))
	servers := k.add(readManifests(t, manifestText(t, "server.yaml")))
	mirrors := k.add(readManifests(t, manifestText(t, "mirror.yaml")))
	if len(nodes) != 3 || len(servers) != 3 || len(mirrors) != 2 {
		t.Fatalf("got %d nodes, %d servers and %d mirrors, want 3, 3 and 2", len(nodes), len(servers), len(mirrors))
	}
	certificates(t, dir, nodes[0].address, nodes[1].address, nodes[2].address)
	command(t, 0, "keys new --dir "+dir+"/keys")
	tokens(t, dir)
	k.secrets = map[string]map[string]string{
		"samestep-node":     {"users.txt": dir + "/keys/users.txt"},
		"samestep-node-tls": {"tls.crt": dir + "/cert.pem", "tls.key": dir + "/key.pem", "ca.crt": dir + "/ca.pem"},
		"samestep-server":   {"server.nk": dir + "/keys/server.nk", "tokens": dir + "/tokens.txt"},
		"samestep-mirror":   {"mirror.nk": dir + "/keys/mirror.nk"},
	}
	k.start(nodes)
	k.ready(nodes)
	k.start(servers)
	k.ready(servers)
	k.start(mirrors)
	k.ready(mirrors)

	const match = `{"name":"duel","players":2}`
	if status, text := k.ask(servers[0], http.MethodPost, "/matches", "play.example", match); status != http.StatusCreated {
		t.Fatalf("POST /matches: got %d %s", status, text)
	}
	found := func(p *runningPod, host string) bool {
		status, text := k.ask(p, http.MethodGet, "/matches/duel", host, "")
		var v struct{ State string }
		return status == http.StatusOK && json.Unmarshal([]byte(text), &v) == nil && v.State != "recovering"
	}
	for _, p := range servers {
		await(t, p.name+" answers for the match", func() bool { return found(p, "play.example") })
		if status, text := k.ask(p, http.MethodGet, "/matches/duel", "evil.example", ""); status != http.StatusForbidden {
			t.Errorf("%s, for another host: got %d %s, want 403", p.name, status, text)
		}
	}
	for _, p := range mirrors {
		await(t, p.name+" answers for the match", func() bool {
			status, _ := k.ask(p, http.MethodGet, "/matches/duel", "watch.example", "")
			return status == http.StatusOK
		})
	}
	owner := slices.IndexFunc(servers, func(p *runningPod) bool {
		live, err := filepath.Glob(filepath.Join(dir, p.name, "matches", "live", "duel-*"))
		return err == nil && len(live) > 0
	})
	if owner < 0 {
		t.Fatal("no server has the log of the match in its volume")
	}
	begin := time.Now()
	servers[owner].stop()
	if took, limit := time.Since(begin), time.Duration(servers[owner].spec.Grace)*time.Second; took > limit {
		t.Errorf("the server took %v to stop, and is killed after %v", took, limit)
	}
	if status, _ := k.ask(servers[owner], http.MethodGet, "/healthz", "", ""); status != 0 {
		t.Errorf("the stopped server answers %d", status)
	}
	for i, p := range servers {
		if i != owner {
			await(t, p.name+" answers for the match of the stopped server", func() bool { return found(p, "play.example") })
		}
	}
}

// The server under Agones takes the flags of its manifest.
func TestFleetFlags(t *testing.T) {
	dir := t.TempDir()
	tokens(t, dir)
	k := &kubelet{t: t, dir: dir, secrets: map[string]map[string]string{"samestep-server": {"tokens": dir + "/tokens.txt"}}}
	pods := k.add(readManifests(t, manifestText(t, "agones.yaml")))
	command(t, 0, k.line(pods[0])+" --check-config", "ok")
	command(t, 2, strings.Replace(k.line(pods[0]), "--set=drain", "--set=drian", 1)+" --check-config", "drian")
}
