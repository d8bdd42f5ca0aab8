package server

import (
	"net/netip"
	"reflect"
	"testing"

	"github.com/seed-49bee653/samestep/server/internal/allowance"
)

// The memory formula counts all tables with an entry for each address.
func TestBudgetTables(t *testing.T) {
	tables := 1 // of guests.Quota
	for f := range reflect.TypeFor[gates]().Fields() {
		if f.Type == reflect.TypeFor[*allowance.Table[netip.Prefix]]() || f.Type == reflect.TypeFor[*allowance.Table[reservation]]() {
			tables++
		}
	}
	if tables != budgetTables {
		t.Errorf("got %d tables, want %d", tables, budgetTables)
	}
}
