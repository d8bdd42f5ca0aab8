package clustertool_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"go.yaml.in/yaml/v3"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

const manifestFolder = "../../../docs/operations/kubernetes/"

// manifestFiles are the files of one cluster, and that for Agones.
var manifestFiles = []string{"storage.yaml", "server.yaml", "mirror.yaml", "agones.yaml"}

// A manifest is an object of Kubernetes, with the fields that the tests compare.
type manifest struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Metadata   metadata
	Spec       struct {
		ClusterIP string `yaml:"clusterIP"`
		Selector  any    // of a service its labels, else matchLabels
		Ports     []struct {
			Name       string
			Port       int
			TargetPort string `yaml:"targetPort"`
		}
		PublishNotReadyAddresses bool   `yaml:"publishNotReadyAddresses"`
		ServiceName              string `yaml:"serviceName"`
		Replicas                 int
		Template                 podTemplate
		VolumeClaimTemplates     []struct{ Metadata metadata } `yaml:"volumeClaimTemplates"`
	}
	raw map[string]any
}

type metadata struct {
	Name   string
	Labels map[string]string
}

type podTemplate struct {
	Metadata metadata
	Spec     podSpec
}

type podSpec struct {
	Template         *podTemplate // of a fleet's game server, whose pod is one level deeper
	Grace            int          `yaml:"terminationGracePeriodSeconds"`
	EnableServiceEnv *bool        `yaml:"enableServiceLinks"`
	SecurityContext  struct {
		RunAsNonRoot bool `yaml:"runAsNonRoot"`
	} `yaml:"securityContext"`
	Containers []container
	Volumes    []struct {
		Name     string
		EmptyDir *struct{} `yaml:"emptyDir"`
		Secret   *struct {
			SecretName string `yaml:"secretName"`
			Items      []struct{ Key, Path string }
		}
	}
}

type container struct {
	Command, Args []string
	Env           []struct {
		Name      string
		ValueFrom struct {
			FieldRef struct {
				FieldPath string `yaml:"fieldPath"`
			} `yaml:"fieldRef"`
		} `yaml:"valueFrom"`
	}
	Ports []struct {
		Name          string
		ContainerPort int `yaml:"containerPort"`
	}
	StartupProbe   *probe `yaml:"startupProbe"`
	ReadinessProbe *probe `yaml:"readinessProbe"`
	LivenessProbe  *probe `yaml:"livenessProbe"`
	Lifecycle      struct {
		PreStop struct{ Sleep struct{ Seconds int } } `yaml:"preStop"`
	}
	VolumeMounts []struct {
		Name      string
		MountPath string `yaml:"mountPath"`
	} `yaml:"volumeMounts"`
}

type probe struct {
	HTTPGet struct{ Path, Port string } `yaml:"httpGet"`
}

// readManifests returns the objects of a file, or of another text for it.
func readManifests(t *testing.T, text []byte) (all []*manifest) {
	t.Helper()
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var n yaml.Node
		err := d.Decode(&n)
		if errors.Is(err, io.EOF) {
			return all
		}
		m := new(manifest)
		if err == nil {
			err = errors.Join(n.Decode(m), n.Decode(&m.raw))
		}
		if err != nil {
			t.Fatal(err)
		}
		if inner := m.Spec.Template.Spec.Template; inner != nil {
			m.Spec.Template = *inner
		}
		all = append(all, m)
	}
}

func manifestText(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(manifestFolder + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// schemas are those of Kubernetes 1.30, as the module of its validator has them.
type schemas struct {
	folder string
	docs   map[string]*openapi3.T
}

// validator is the module; .ci/steps/prepare fetches it, and nothing builds it.
const validator = "sigs.k8s.io/kubectl-validate@v0.0.4"

func newSchemas(t *testing.T) *schemas {
	t.Helper()
	cache, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE").Output()
	testenv.Or(t, "go", err)
	folder := filepath.Join(strings.TrimSpace(string(cache)), filepath.FromSlash(validator), "pkg", "openapiclient", "builtins", "1.30")
	_, err = os.Stat(folder)
	testenv.Or(t, "go mod download "+validator, err)
	return &schemas{folder, make(map[string]*openapi3.T)}
}

// of returns the schema of a kind.
func (s *schemas) of(t *testing.T, apiVersion, kind string) *openapi3.Schema {
	t.Helper()
	file, group := filepath.Join("apis", filepath.FromSlash(apiVersion)), strings.TrimSuffix(strings.TrimSuffix(apiVersion, "/v1"), ".k8s.io")
	if group == "v1" {
		file, group = filepath.Join("api", "v1"), "core"
	}
	doc := s.docs[file]
	if doc == nil {
		b, err := os.ReadFile(filepath.Join(s.folder, file+".json"))
		if err == nil {
			doc, err = openapi3.NewLoader().LoadFromData(b)
		}
		if err != nil {
			t.Fatalf("%s: %v", apiVersion, err)
		}
		for _, x := range doc.Components.Schemas { // Kubernetes refuses fields that it does not know
			if no := false; len(x.Value.Properties) > 0 {
				x.Value.AdditionalProperties = openapi3.AdditionalProperties{Has: &no}
			}
		}
		s.docs[file] = doc
	}
	x := doc.Components.Schemas["io.k8s.api."+group+".v1."+kind]
	if x == nil {
		t.Fatalf("got kind %s of %s, want one that Kubernetes 1.30 has", kind, apiVersion)
	}
	return x.Value
}

// check compares the objects of a file with their schemas, and returns how many it has compared.
func (s *schemas) check(t *testing.T, text []byte) (n int, err error) {
	t.Helper()
	for _, m := range readManifests(t, text) {
		var value any = m.raw
		apiVersion, kind := m.APIVersion, m.Kind
		switch kind { // of Agones, whose own fields TestFleet compares
		case "FleetAutoscaler":
			continue
		case "Fleet":
			apiVersion, kind = "v1", "PodTemplateSpec"
			value = m.raw["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)["template"]
		}
		b, e := json.Marshal(value)
		if e == nil {
			e = json.Unmarshal(b, &value)
		}
		if e == nil {
			e = s.of(t, apiVersion, kind).VisitJSON(value, openapi3.MultiErrors())
		}
		if e != nil {
			err = errors.Join(err, fmt.Errorf("%s %s: %w", m.Kind, m.Metadata.Name, e))
		}
		n++
	}
	return n, err
}

// Each manifest is what Kubernetes takes, and a fault is found.
func TestManifestSchemas(t *testing.T) {
	s := newSchemas(t)
	n := 0
	for _, name := range manifestFiles {
		seen, err := s.check(t, manifestText(t, name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		n += seen
	}
	if n < 14 {
		t.Errorf("compared %d objects, want 14 or more", n)
	}
	server := string(manifestText(t, "server.yaml"))
	for good, bad := range map[string]string{
		"maxUnavailable: 1":    "maxUnavailble: 1",                 // a field that is not known
		"Filesystem: true":     "Filesystem: 1",                    // another type
		"serviceName: samest":  "x: samest",                        // a field that is missing
		"valueFrom: {fieldRef": "valueFrom: {ref",                  // deep within
		"httpGet: {path: /re":  "httpGet: {scheme: HTTP, pth: /re", // deeper
	} {
		text := strings.Replace(server, good, bad, 1)
		if text == server {
			t.Fatalf("server.yaml has no %s", good)
		}
		if _, err := s.check(t, []byte(text)); err == nil {
			t.Errorf("%s instead of %s: got no error, want one", bad, good)
		}
	}
}

// The fields of Agones are those that its resources have, as its reference names them. Nobody has applied them to a cluster.
func TestFleet(t *testing.T) {
	type fleet struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Metadata   metadata
		Spec       struct {
			Replicas   int
			Scheduling string
			Template   struct {
				Metadata metadata
				Spec     struct {
					Ports []struct {
						Name, Protocol string
						PortPolicy     string `yaml:"portPolicy"`
						ContainerPort  int    `yaml:"containerPort"`
					}
					Health struct {
						InitialDelaySeconds int `yaml:"initialDelaySeconds"`
						PeriodSeconds       int `yaml:"periodSeconds"`
						FailureThreshold    int `yaml:"failureThreshold"`
					}
					Template yaml.Node
				}
			}
		}
	}
	type autoscaler struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Metadata   metadata
		Spec       struct {
			FleetName string `yaml:"fleetName"`
			Policy    struct {
				Type   string
				Buffer struct {
					BufferSize  int `yaml:"bufferSize"`
					MinReplicas int `yaml:"minReplicas"`
					MaxReplicas int `yaml:"maxReplicas"`
				}
			}
		}
	}
	d := yaml.NewDecoder(bytes.NewReader(manifestText(t, "agones.yaml")))
	d.KnownFields(true)
	var f fleet
	var a autoscaler
	if err := errors.Join(d.Decode(&f), d.Decode(&a)); err != nil {
		t.Fatal(err)
	}
	spec := f.Spec.Template.Spec
	if f.APIVersion != "agones.dev/v1" || f.Kind != "Fleet" || f.Spec.Scheduling != "Packed" || len(spec.Ports) != 1 || spec.Ports[0].PortPolicy != "Dynamic" || spec.Ports[0].Protocol != "TCP" {
		t.Errorf("got fleet %+v", f)
	}
	if b := a.Spec.Policy.Buffer; a.APIVersion != "autoscaling.agones.dev/v1" || a.Kind != "FleetAutoscaler" || a.Spec.FleetName != f.Metadata.Name || a.Spec.Policy.Type != "Buffer" || b.BufferSize < 1 || b.BufferSize > b.MinReplicas || b.MinReplicas > b.MaxReplicas {
		t.Errorf("got autoscaler %+v", a)
	}
	pod := readManifests(t, manifestText(t, "agones.yaml"))[0].Spec.Template.Spec
	if got, want := pod.Containers[0].Ports[0].ContainerPort, spec.Ports[0].ContainerPort; got != want {
		t.Errorf("the server listens on port %d, and Agones leads to %d", got, want)
	}
	if pod.Containers[0].LivenessProbe != nil {
		t.Error("got a liveness probe, which replaces that of Agones")
	}
}

// kustomization.yaml names the files of a cluster, and their image.
func TestKustomization(t *testing.T) {
	var k struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Namespace  string
		Resources  []string
		Images     []struct {
			Name    string
			NewName string `yaml:"newName"`
			NewTag  string `yaml:"newTag"`
		}
	}
	d := yaml.NewDecoder(bytes.NewReader(manifestText(t, "kustomization.yaml")))
	d.KnownFields(true)
	if err := d.Decode(&k); err != nil {
		t.Fatal(err)
	}
	if want := manifestFiles[:3]; !slices.Equal(k.Resources, want) || len(k.Images) != 1 {
		t.Errorf("got %+v, want resources %q and an image", k, want)
	}
	for _, name := range k.Resources {
		if text := string(manifestText(t, name)); strings.Count(text, "image: "+k.Images[0].Name+"\n") != 1 {
			t.Errorf("%s: got no image %s", name, k.Images[0].Name)
		}
	}
}

// closingTime is what a program needs to stop at most, besides its drain.
var closingTime = map[string]time.Duration{"serve": 50 * time.Second, "storage": 10 * time.Second, "mirror": 5 * time.Second}

// The parts of the manifests fit together.
func TestManifestsFit(t *testing.T) {
	n := 0
	for _, name := range manifestFiles {
		text := manifestText(t, name)
		for _, fault := range misfits(t, text) {
			t.Errorf("%s: %s", name, fault)
		}
		n++
	}
	if n != 4 {
		t.Errorf("got %d files", n)
	}
	for _, x := range []struct{ file, good, bad, want string }{
		{"agones.yaml", "--set=drain=2h", "--set=drain=3h", "terminationGracePeriodSeconds"},
		{"server.yaml", "  selector: {app: samestep-server}", "  selector: {app: samestep}", "selects no pod"},
		{"server.yaml", "targetPort: http", "targetPort: web", "no port web"},
		{"server.yaml", "port: http}\n            periodSeconds: 2", "port: web}\n            periodSeconds: 2", "no port web"},
		{"server.yaml", "mountPath: /etc/samestep/ca", "mountPath: /etc/ca", "is in no volume"},
		{"server.yaml", "name: HOST_IP", "name: HOST", "$(HOST_IP)"},
		{"server.yaml", "--set=keep-bytes=", "--set=keep-days=", "no keep-bytes"},
		{"server.yaml", "          resources:\n            requests: {cpu", "          lifecycle: {preStop: {sleep: {seconds: 5}}}\n          resources:\n            requests: {cpu", "preStop"},
		{"server.yaml", "{name: tmp, mountPath: /tmp}", "{name: temp, mountPath: /tmp}", "no volume temp"},
		{"mirror.yaml", "enableServiceLinks: false", "enableServiceLinks: true", "enableServiceLinks"},
		{"storage.yaml", "serviceName: samestep-storage", "serviceName: samestep-nodes", "no headless service"},
		{"storage.yaml", "    matchLabels: {app: samestep-storage}\n---", "    matchLabels: {app: storage}\n---", "selects no pod"},
	} {
		text := string(manifestText(t, x.file))
		bad := strings.Replace(text, x.good, x.bad, 1)
		if got := strings.Join(misfits(t, []byte(bad)), "\n"); bad == text || !strings.Contains(got, x.want) {
			t.Errorf("%s: %s: got %q, want %q", x.file, x.bad, got, x.want)
		}
	}
}

var (
	variable = regexp.MustCompile(`\$\((\w+)\)`)
	filePath = regexp.MustCompile(`^--(?:set=)?[\w-]+=(/.+)$`)
)

// misfits compares what the objects of a file say of each other.
func misfits(t *testing.T, text []byte) (faults []string) {
	t.Helper()
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	var owner *manifest
	all := readManifests(t, text)
	for _, m := range all {
		if len(m.Spec.Template.Spec.Containers) == 1 {
			owner = m
		}
	}
	if owner == nil {
		t.Fatal("got no pod with one container")
	}
	pod, labels := &owner.Spec.Template.Spec, owner.Spec.Template.Metadata.Labels
	c := &pod.Containers[0]
	ports := make(map[string]int)
	for _, p := range c.Ports {
		ports[p.Name] = p.ContainerPort
	}
	headless := make(map[string]bool)
	for _, m := range all {
		what := m.Kind + " " + m.Metadata.Name
		if want := labelsOf(m.Spec.Selector); m.Spec.Selector != nil && (len(want) == 0 || !covers(labels, want)) {
			fault("%s: selects no pod: got %v, want some of %v", what, want, labels)
		}
		if m.Kind != "Service" {
			continue
		}
		headless[m.Metadata.Name] = m.Spec.ClusterIP == "None" && m.Spec.PublishNotReadyAddresses
		for _, p := range m.Spec.Ports {
			switch {
			case p.TargetPort != "" && ports[p.TargetPort] == 0:
				fault("%s: no port %s", what, p.TargetPort)
			case p.TargetPort == "" && !slices.Contains(slices.Collect(maps.Values(ports)), p.Port):
				fault("%s: no port %d", what, p.Port)
			}
		}
	}
	if s := owner.Spec.ServiceName; owner.Kind == "StatefulSet" && !headless[s] {
		fault("%s: no headless service %s with addresses of pods that are not ready", owner.Metadata.Name, s)
	}
	probes := []*probe{c.StartupProbe, c.ReadinessProbe, c.LivenessProbe}
	for i, p := range probes {
		if p == nil && owner.Kind != "Fleet" {
			fault("probe %d is missing", i)
		}
		if p != nil && ports[p.HTTPGet.Port] == 0 {
			fault("probe %d: no port %s", i, p.HTTPGet.Port)
		}
		if want := []string{"/healthz", "/readyz", "/healthz"}[i]; p != nil && p.HTTPGet.Path != want {
			fault("probe %d: got path %s, want %s", i, p.HTTPGet.Path, want)
		}
	}
	if !pod.SecurityContext.RunAsNonRoot || pod.EnableServiceEnv == nil || *pod.EnableServiceEnv {
		fault("want runAsNonRoot: true and enableServiceLinks: false")
	}
	volumes := make(map[string]bool)
	for _, v := range pod.Volumes {
		volumes[v.Name] = true
	}
	for _, v := range owner.Spec.VolumeClaimTemplates {
		volumes[v.Metadata.Name] = true
	}
	for _, m := range c.VolumeMounts {
		if !volumes[m.Name] {
			fault("no volume %s", m.Name)
		}
	}
	for _, m := range all {
		if m.Spec.PublishNotReadyAddresses && m.Spec.ClusterIP != "None" && c.Lifecycle.PreStop.Sleep.Seconds > 0 {
			fault("preStop waits in vain: service %s has the address of a pod until that ends", m.Metadata.Name)
		}
	}
	if slices.Contains(c.Args, "--set=archive=nats:") && !slices.ContainsFunc(c.Args, func(a string) bool { return strings.HasPrefix(a, "--set=keep-bytes=") }) {
		fault("no keep-bytes: replays fill the volumes of the storage")
	}
	env := make(map[string]bool)
	for _, e := range c.Env {
		env[e.Name] = e.ValueFrom.FieldRef.FieldPath != ""
	}
	needs := closingTime[c.Command[1]] + time.Duration(c.Lifecycle.PreStop.Sleep.Seconds)*time.Second
	for _, arg := range c.Args {
		for _, v := range variable.FindAllStringSubmatch(arg, -1) {
			if !env[v[1]] {
				fault("%s: no variable %s", arg, v[0])
			}
		}
		if path := filePath.FindStringSubmatch(arg); path != nil && !mounted(c, path[1]) {
			fault("%s is in no volume", arg)
		}
		if d, ok := strings.CutPrefix(arg, "--set=drain="); ok {
			drain, err := time.ParseDuration(d)
			if err != nil {
				fault("%s: %v", arg, err)
			}
			needs += drain
		}
	}
	if grace := time.Duration(pod.Grace) * time.Second; grace < needs {
		fault("terminationGracePeriodSeconds: got %v, want %v or more", grace, needs)
	}
	return faults
}

// The storage admits the pods that connect to it and no other ones, and the page names each secret.
func TestManifestAccess(t *testing.T) {
	page, err := os.ReadFile("../../../docs/kubernetes.md")
	if err != nil {
		t.Fatal(err)
	}
	var policy struct {
		Spec struct {
			Ingress []struct {
				Ports []struct{ Port string }
				From  []struct {
					PodSelector any `yaml:"podSelector"`
				}
			}
		}
	}
	for _, m := range readManifests(t, manifestText(t, "storage.yaml")) {
		if b, err := yaml.Marshal(m.raw); m.Kind == "NetworkPolicy" && (err != nil || yaml.Unmarshal(b, &policy) != nil) {
			t.Fatalf("got policy %s, %v", b, err)
		}
	}
	admitted := func(port string, labels map[string]string) bool {
		for _, rule := range policy.Spec.Ingress {
			if rule.Ports[0].Port == port && len(rule.From) == 1 {
				return covers(labels, labelsOf(rule.From[0].PodSelector))
			}
		}
		t.Fatalf("got no rule for port %s from pods", port)
		return false
	}
	secrets := 0
	for _, name := range manifestFiles {
		for _, m := range readManifests(t, manifestText(t, name)) {
			pod := m.Spec.Template
			for _, v := range pod.Spec.Volumes {
				if v.Secret == nil {
					continue
				}
				if secrets++; !strings.Contains(string(page), "`"+v.Secret.SecretName+"`") {
					t.Errorf("docs/kubernetes.md does not name the secret %s", v.Secret.SecretName)
				}
			}
			if len(pod.Spec.Containers) == 0 {
				continue
			}
			connects := strings.Contains(strings.Join(pod.Spec.Containers[0].Args, " "), "--nats=")
			if got := admitted("clients", pod.Metadata.Labels); got != connects {
				t.Errorf("%s: the storage admits clients: got %t, want %t", name, got, connects)
			}
			if got, want := admitted("nodes", pod.Metadata.Labels), name == "storage.yaml"; got != want {
				t.Errorf("%s: the storage admits nodes: got %t, want %t", name, got, want)
			}
		}
	}
	if secrets < 7 {
		t.Errorf("got %d secrets, want 7 or more", secrets)
	}
}

// labelsOf returns the labels of a selector.
func labelsOf(selector any) map[string]any {
	s, _ := selector.(map[string]any)
	if inner, ok := s["matchLabels"].(map[string]any); ok {
		return inner
	}
	return s
}

func covers(labels map[string]string, want map[string]any) bool {
	for k, v := range want {
		if labels[k] != v {
			return false
		}
	}
	return true
}

func mounted(c *container, path string) bool {
	for _, m := range c.VolumeMounts {
		if path == m.MountPath || strings.HasPrefix(path, m.MountPath+"/") {
			return true
		}
	}
	return false
}
