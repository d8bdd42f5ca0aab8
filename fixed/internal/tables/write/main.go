// Command write writes tables_data.go into the current directory; go generate runs it in that of package fixed.
package main

import (
	"log"
	"os"

	"github.com/seed-49bee653/samestep/fixed/internal/tables"
)

func main() {
	source, err := tables.Source()
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("tables_data.go", source, 0o644); err != nil {
		log.Fatal(err)
	}
}
