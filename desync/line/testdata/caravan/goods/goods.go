// Package goods has the tables of the game, which it reads from files.
package goods

import (
	"embed"
	_ "embed"
	"strconv"
	"strings"
)

// Kinds is how many goods there are.
const Kinds = 5

//go:embed data/costs.csv
var costs string

//go:embed data/tolls.txt data/moods.txt
var files embed.FS

// A Good is a row of the table.
type Good struct {
	Name         string
	Cost, Weight int32
	Effect       string
}

// Table has the goods.
var Table = parse(costs)

// byName finds a row.
var byName = func() map[string]int {
	m := map[string]int{}
	for i, g := range Table {
		m[g.Name] = i
	}
	return m
}()

func parse(text string) (all [Kinds]Good) {
	for i, row := range strings.Split(strings.TrimSpace(text), "\n")[1:] {
		f := strings.Split(row, ",")
		all[i] = Good{f[0], number(f[1]), number(f[2]), f[3]}
	}
	return all
}

func number(s string) int32 {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		panic(err)
	}
	return int32(n)
}

// Cost returns the cost of a good.
func Cost(name string) int32 { return Table[byName[name]].Cost }

// Toll returns the toll at a place.
func Toll(place string) int32 {
	text, err := files.ReadFile("data/tolls.txt")
	if err != nil {
		panic(err)
	}
	for line := range strings.Lines(string(text)) {
		if name, n, ok := strings.Cut(line, " "); ok && name == place {
			return number(n)
		}
	}
	return 0
}

// Moods are what the weather makes of people.
var Moods []int32

func init() {
	text, err := files.ReadFile("data/moods.txt")
	if err != nil {
		panic(err)
	}
	for _, f := range strings.Fields(string(text)) {
		Moods = append(Moods, number(f))
	}
}
