package lockstep

import (
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep/record"
)

// WithAssets returns the same game with a source of assets. read returns the content of an asset; the engine checks it, and
// does not change it. Each simulation reads the assets of its match when it is made. read must be safe for concurrent use.
// An error that wraps [record.ErrNoAsset] says that the content is not here.
func (g *Game) WithAssets(read func(Asset) ([]byte, error)) *Game {
	own := *g
	own.readAsset = read
	return &own
}

// HasAssets reports whether matches of the game can have assets.
func (g *Game) HasAssets() bool { return g.listAssets != nil }

// Assets returns the list of assets in the configuration of the match with header h. It needs no source of assets.
func (g *Game) Assets(h *Header) ([]Asset, error) {
	if err := g.CheckIdentity(h); err != nil {
		return nil, err
	}
	return g.assetsOf(h.Config)
}

// assetsOf returns the checked list of assets of a configuration in canonical bytes.
func (g *Game) assetsOf(config []byte) (list []Asset, err error) {
	if g.listAssets == nil {
		return nil, nil
	}
	c, err := g.unpackConfig(config)
	if err != nil {
		return nil, fmt.Errorf("lockstep: configuration: %w", err)
	}
	defer func() {
		if v := recover(); v != nil {
			list, err = nil, panicked(0, "Assets", v)
		}
	}()
	list = g.listAssets(c)
	if err := record.CheckAssets(list); err != nil {
		return nil, &ConfigError{g.name, err}
	}
	return list, nil
}

// contents returns the checked contents of the assets of a configuration in canonical bytes.
func (g *Game) contents(config []byte) ([][]byte, error) {
	list, err := g.assetsOf(config)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	all := make([][]byte, len(list))
	for i, a := range list {
		if all[i], err = g.ReadAsset(a); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// ReadAsset returns the content of an asset from the game's source, after a check. The error names the asset; it wraps
// [record.ErrNoAsset] if the game has no source or the source does not have the asset, and [record.ErrAssetContent] if the
// content is another one.
func (g *Game) ReadAsset(a Asset) ([]byte, error) {
	if g.readAsset == nil {
		return nil, &record.AssetError{Asset: a, Err: fmt.Errorf("%w: the game has no source of assets", record.ErrNoAsset)}
	}
	//samestep:allow unseen what it returns is compared with the sum in the header
	b, err := g.readAsset(a)
	if err != nil {
		if named := (*record.AssetError)(nil); errors.As(err, &named) {
			return nil, err
		}
		return nil, &record.AssetError{Asset: a, Err: err}
	}
	if err := a.CheckContent(b); err != nil {
		return nil, err
	}
	return b, nil
}
