package page_test

import (
	"fmt"
	"io/fs"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/page"
	"github.com/seed-49bee653/samestep/page/canvas"
)

// kinds of sight: the matrices take linear red, green and blue to what the eye sees (Machado, Oliveira and Fernandes 2009,
// severity 1). None is nil.
var sights = map[string]*[3][3]float64{
	"usual":  nil,
	"protan": {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deutan": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritan": {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// apart is the least distance (CIEDE2000) of two of the first eight colours.
const apart = 15

// The first eight colours of each palette are apart for the eyes that it is made for. Those of the usual one are not for eyes
// that see red and green alike, or blue and yellow.
func TestPalettesApart(t *testing.T) {
	palettes := readPalettes(t)
	for _, row := range []struct {
		palette, sight string
		want           bool
	}{
		{"usual", "usual", true}, {"contrast", "usual", true},
		{"redgreen", "usual", true}, {"redgreen", "protan", true}, {"redgreen", "deutan", true},
		{"blueyellow", "usual", true}, {"blueyellow", "tritan", true},
		{"usual", "protan", false}, {"usual", "deutan", false}, {"usual", "tritan", false},
	} {
		fills := palettes[row.palette]
		if len(fills) != 16 {
			t.Fatalf("%s has %d colours, want 16", row.palette, len(fills))
		}
		least, which := math.Inf(1), ""
		for i, a := range fills[:8] {
			for _, b := range fills[:i] {
				if d := distance(lab(t, a, sights[row.sight]), lab(t, b, sights[row.sight])); d < least {
					least, which = d, a+" and "+b
				}
			}
		}
		if least >= apart != row.want {
			t.Errorf("%s for %s sight: the least distance is %.1f (%s), want at least %d: %v", row.palette, row.sight, least, which, apart, row.want)
		}
		t.Logf("%-10s for %-6s sight: %.1f", row.palette, row.sight, least)
	}
}

// The pictures that games draw have the colours of the usual palette, which the page replaces by those of the chosen one.
func TestPaletteOfPictures(t *testing.T) {
	for player, fill := range readPalettes(t)["usual"] {
		if got := fmt.Sprintf("#%08x", uint32(canvas.PlayerColour(player))); got != fill+"ff" {
			t.Errorf("player %d: package canvas has %s, the page %s", player, got, fill)
		}
	}
}

// The distance is that of the reference data of Sharma, Wu and Dalal (2005).
func TestColourDistance(t *testing.T) {
	for _, row := range []struct {
		a, b [3]float64
		want float64
	}{
		{[3]float64{50, 2.6772, -79.7751}, [3]float64{50, 0, -82.7485}, 2.0425},
		{[3]float64{50, 2.5, 0}, [3]float64{73, 25, -18}, 27.1492},
		{[3]float64{60.2574, -34.0099, 36.2677}, [3]float64{60.4626, -34.1751, 39.4387}, 1.2644},
		{[3]float64{6.7747, -0.2908, -2.4247}, [3]float64{5.8714, -0.0985, -2.2286}, 0.6377},
		{[3]float64{50, 0, 0}, [3]float64{50, -1, 2}, 2.3669},
	} {
		if got := distance(row.a, row.b); math.Abs(got-row.want) > 5e-5 {
			t.Errorf("%v and %v: got %.4f, want %.4f", row.a, row.b, got, row.want)
		}
	}
}

var paletteOf = regexp.MustCompile(`(?s)(\w+): \{\s+label.*?fills: "([^"]+)"`)

func readPalettes(t *testing.T) map[string][]string {
	t.Helper()
	b, err := fs.ReadFile(page.Parts(), "palette.js")
	if err != nil {
		t.Fatal(err)
	}
	palettes := map[string][]string{}
	for _, m := range paletteOf.FindAllStringSubmatch(string(b), -1) {
		palettes[m[1]] = strings.Fields(m[2])
	}
	return palettes
}

// lab returns a colour as some eyes see it, in CIELAB.
func lab(t *testing.T, css string, sight *[3][3]float64) [3]float64 {
	t.Helper()
	var c [3]float64
	for i := range c {
		v, err := strconv.ParseUint(css[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		if c[i] = float64(v) / 255; c[i] <= 0.04045 {
			c[i] /= 12.92
		} else {
			c[i] = math.Pow((c[i]+0.055)/1.055, 2.4)
		}
	}
	if sight != nil {
		c = [3]float64{weighted(sight[0], c), weighted(sight[1], c), weighted(sight[2], c)}
		for i := range c {
			c[i] = min(1, max(0, c[i]))
		}
	}
	curve := func(v float64) float64 {
		if v > 216.0/24389 {
			return math.Cbrt(v)
		}
		return (24389.0/27*v + 16) / 116
	}
	x := curve(weighted([3]float64{0.4124564, 0.3575761, 0.1804375}, c) / 0.95047)
	y := curve(weighted([3]float64{0.2126729, 0.7151522, 0.0721750}, c))
	z := curve(weighted([3]float64{0.0193339, 0.1191920, 0.9503041}, c) / 1.08883)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

func weighted(w, c [3]float64) float64 { return w[0]*c[0] + w[1]*c[1] + w[2]*c[2] }

// distance is CIEDE2000.
func distance(p, q [3]float64) float64 {
	const turn = 2 * math.Pi
	seventh := func(c float64) float64 { return math.Sqrt(math.Pow(c, 7) / (math.Pow(c, 7) + math.Pow(25, 7))) }
	g := (1 - seventh((math.Hypot(p[1], p[2])+math.Hypot(q[1], q[2]))/2)) / 2
	a1, a2 := p[1]*(1+g), q[1]*(1+g)
	c1, c2 := math.Hypot(a1, p[2]), math.Hypot(a2, q[2])
	h1, h2 := math.Mod(math.Atan2(p[2], a1)+turn, turn), math.Mod(math.Atan2(q[2], a2)+turn, turn)
	dh, mean := h2-h1, (h1+h2)/2
	switch {
	case c1*c2 == 0:
		dh, mean = 0, h1+h2
	case dh > math.Pi:
		dh, mean = dh-turn, mean+math.Pi
	case dh < -math.Pi:
		dh, mean = dh+turn, mean+math.Pi
	}
	l, c := (p[0]+q[0])/2, (c1+c2)/2
	degrees := func(d float64) float64 { return d * math.Pi / 180 }
	weight := 1 - 0.17*math.Cos(mean-degrees(30)) + 0.24*math.Cos(2*mean) + 0.32*math.Cos(3*mean+degrees(6)) - 0.2*math.Cos(4*mean-degrees(63))
	light := (q[0] - p[0]) / (1 + 0.015*(l-50)*(l-50)/math.Sqrt(20+(l-50)*(l-50)))
	chroma := (c2 - c1) / (1 + 0.045*c)
	hue := 2 * math.Sqrt(c1*c2) * math.Sin(dh/2) / (1 + 0.015*c*weight)
	bend := (mean*180/math.Pi - 275) / 25
	rotation := -2 * seventh(c) * math.Sin(2*degrees(30*math.Exp(-bend*bend)))
	return math.Sqrt(light*light + chroma*chroma + hue*hue + rotation*chroma*hue)
}
