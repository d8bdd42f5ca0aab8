package fixed_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/fixed/internal/tables"
)

func TestTablesAreGenerated(t *testing.T) {
	want, err := tables.Source()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("tables_data.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("tables_data.go is not what go generate ./fixed writes")
	}
}

func TestTablesAreSmall(t *testing.T) {
	if limit := 40 << 10; fixed.TableBytes > limit {
		t.Errorf("tables of %d bytes, want at most %d", fixed.TableBytes, limit)
	}
}
