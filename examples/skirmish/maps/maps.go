// Package maps has the maps and scenarios that come with skirmish; the maps are assets. [skirmish.ParseMap] says what is in such a file.
package maps

import (
	"embed"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

//go:embed *.map
var files embed.FS

// Read returns the map with the name, size and sum of an asset. It is for [lockstep.Game.WithAssets]. The error wraps
// [record.ErrNoAsset] if no such map is here.
func Read(a lockstep.Asset) ([]byte, error) {
	content, err := files.ReadFile(a.Name)
	if err != nil || a.CheckContent(content) != nil {
		return nil, record.ErrNoAsset
	}
	return content, nil
}
