package record

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"
)

// Limits of the assets of a match.
const (
	MaxAssets     = 64       // in one configuration
	MaxAssetName  = 64       // bytes of a name
	MaxAssetBytes = 64 << 20 // of all assets of a match together
)

// Errors of assets, which an [*AssetError] wraps.
var (
	// ErrAsset reports a list of assets that no match can have.
	ErrAsset = errors.New("bad asset")

	// ErrNoAsset reports an asset whose content is not here.
	ErrNoAsset = errors.New("asset not found")

	// ErrAssetContent reports content with another size or sum than the list says.
	ErrAssetContent = errors.New("the content does not match the asset")
)

// An Asset names a file that a match needs, such as its map. A game puts it into its configuration, so all machines have the same content.
type Asset struct {
	Name   string `json:"name"`   // unique in the list: a file name without a folder, of at most MaxAssetName bytes
	SHA256 string `json:"sha256"` // of the content: 64 hexadecimal digits, lower case
	Size   uint32 `json:"size"`   // of the content in bytes, from 1 on
}

// NewAsset returns the asset with this content.
func NewAsset(name string, content []byte) (Asset, error) {
	a := Asset{Name: name, SHA256: sumOf(content), Size: uint32(min(len(content), MaxAssetBytes+1))}
	return a, a.Check()
}

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// An AssetError says which asset is missing or wrong, and why.
type AssetError struct {
	Asset Asset
	Err   error
}

func (e *AssetError) Error() string {
	return fmt.Sprintf("lockstep: asset %.*q with sha256 %.64s: %v", MaxAssetName, e.Asset.Name, e.Asset.SHA256, e.Err)
}

func (e *AssetError) Unwrap() error { return e.Err }

// Check returns an [*AssetError] that wraps [ErrAsset] if the asset cannot be in a list.
func (a Asset) Check() error {
	if why := a.fault(); why != "" {
		return &AssetError{a, fmt.Errorf("%w: %s", ErrAsset, why)}
	}
	return nil
}

func (a Asset) fault() string {
	switch {
	case a.Name == "" || len(a.Name) > MaxAssetName:
		return fmt.Sprintf("got a name of %d bytes, want 1 to %d", len(a.Name), MaxAssetName)
	case !utf8.ValidString(a.Name):
		return "the name is not UTF-8"
	case a.Name[0] == '.':
		return "the name begins with a dot"
	case !IsAssetSum(a.SHA256):
		return "want a sha256 of 64 hexadecimal digits, lower case"
	case a.Size == 0 || a.Size > MaxAssetBytes:
		return fmt.Sprintf("got a size of %d bytes, want 1 to %d", a.Size, MaxAssetBytes)
	}
	for _, r := range a.Name {
		if r == '/' || r == '\\' || r == ':' || unicode.IsControl(r) {
			return fmt.Sprintf("the name has the character %q", r)
		}
	}
	return ""
}

// IsAssetSum reports whether a text is a sum as in [Asset]: 64 hexadecimal digits, lower case.
func IsAssetSum(text string) bool {
	if len(text) != hex.EncodedLen(sha256.Size) {
		return false
	}
	for i := range len(text) {
		if c := text[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// CheckContent returns an [*AssetError] that wraps [ErrAssetContent] unless b is the content of the asset.
func (a Asset) CheckContent(b []byte) error {
	if len(b) != int(a.Size) {
		return &AssetError{a, fmt.Errorf("%w: got %d bytes, want %d", ErrAssetContent, len(b), a.Size)}
	}
	if got := sumOf(b); got != a.SHA256 {
		return &AssetError{a, fmt.Errorf("%w: got sha256 %s", ErrAssetContent, got)}
	}
	return nil
}

// CheckAssets returns an [*AssetError] that wraps [ErrAsset] if no match can have this list.
func CheckAssets(list []Asset) error {
	if len(list) > MaxAssets {
		return fmt.Errorf("lockstep: %w: got a list of %d assets, want at most %d", ErrAsset, len(list), MaxAssets)
	}
	total := uint64(0)
	for i, a := range list {
		if err := a.Check(); err != nil {
			return err
		}
		for _, before := range list[:i] {
			if before.Name == a.Name {
				return &AssetError{a, fmt.Errorf("%w: duplicate name in the list", ErrAsset)}
			}
		}
		if total += uint64(a.Size); total > MaxAssetBytes {
			return &AssetError{a, fmt.Errorf("%w: the list exceeds %d bytes", ErrAsset, MaxAssetBytes)}
		}
	}
	return nil
}
