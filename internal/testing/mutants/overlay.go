package mutants

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Overlay writes an overlay for the go command into a folder, and returns its name. With it, packages of the checkout have
// the mutants, which are numbered from 1. Each of these packages gets a function SelectMutant(number int), with which the
// program chooses a mutant, or with 0, none.
func Overlay(root string, all []Mutant, dir string) (string, error) {
	e := newEngine(root)
	var places []*place
	for i := range all {
		p, err := e.place(&all[i])
		if err != nil {
			return "", err
		}
		p.number = i + 1
		places = append(places, p)
	}
	return overlay(root, woven(places, selectable), dir, "mutants")
}

// woven returns the changed files of mutants, by path from the root. choice makes the file of a package that selects one.
func woven(list []*place, choice func(pkg string) []byte) map[string][]byte {
	byFile := map[*file][]*place{}
	for _, m := range list {
		byFile[m.file] = append(byFile[m.file], m)
	}
	files := map[string][]byte{}
	for f, list := range byFile {
		files[f.name] = weave(f, list)
		files[path.Join(path.Dir(f.name), "mutantinforce.go")] = choice(f.Name.Name)
	}
	return files
}

// overlay writes changed or added files of the checkout, and the list of them for the go command.
func overlay(root string, files map[string][]byte, dir, name string) (string, error) {
	replace := map[string]string{}
	for name, content := range files {
		original, err := filepath.Abs(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return "", err
		}
		replace[original] = filepath.Join(dir, strings.ReplaceAll(name, "/", "-"))
		if err := os.WriteFile(replace[original], content, 0o600); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, name+".overlay.json")
	return overlay, os.WriteFile(overlay, list, 0o600)
}
