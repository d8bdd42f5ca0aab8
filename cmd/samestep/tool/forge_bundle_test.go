//go:build !js

package tool

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// began returns a bundle with another manifest.
func (f *forger) began(in []byte) ([]byte, error) {
	z, err := zip.NewReader(bytes.NewReader(in), int64(len(in)))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, file := range z.File {
		r, err := file.Open()
		if err != nil {
			return nil, err
		}
		b, err := io.ReadAll(r)
		if err == nil && file.Name == "manifest.json" {
			b, err = f.manifest(b)
		}
		if err != nil {
			return nil, err
		}
		to, err := w.Create(file.Name)
		if err == nil {
			_, err = to.Write(b)
		}
		if err != nil {
			return nil, err
		}
	}
	err = w.Close()
	return out.Bytes(), err
}

func (f *forger) manifest(text []byte) ([]byte, error) {
	var m replay.Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, err
	}
	m.Agreed, m.Began = 0, lockstep.Tick(f.n)
	m.Exhibits = m.Exhibits[len(m.Exhibits)-1:] // of the tick itself
	return json.Marshal(&m)
}
