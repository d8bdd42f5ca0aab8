package main

import (
	"errors"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// blank returns why a screenshot shows no match, or nil: it needs several colours, and not nearly all of one.
func blank(img image.Image) error {
	colors, most := map[color.Color]int{}, 0
	r := img.Bounds()
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			colors[img.At(x, y)]++
			most = max(most, colors[img.At(x, y)])
		}
	}
	switch {
	case len(colors) < 6:
		return errors.New("it has fewer than 6 colours")
	case most > r.Dx()*r.Dy()*19/20:
		return errors.New("more than 95 % of it is one colour")
	}
	return nil
}

// The program draws a match into a window. Without a display it cannot: run it with xvfb-run.
func TestScreenshot(t *testing.T) {
	if os.Getenv("DISPLAY") == "" {
		if os.Getenv("SAMESTEP_REQUIRE") != "" {
			t.Fatal("no DISPLAY: run the test with xvfb-run -a")
		}
		t.Skip("no DISPLAY")
	}
	dir := t.TempDir()
	program, shot := filepath.Join(dir, "window"), filepath.Join(dir, "shot.png")
	for _, command := range []*exec.Cmd{exec.Command("go", "build", "-o", program, "."), exec.Command(program, "--screenshot", shot)} {
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", command, err, out)
		}
	}
	file, err := os.Open(shot)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	img, err := png.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := blank(img); err != nil {
		t.Error("the screenshot is blank:", err)
	}
}

// Control: images without a match are blank.
func TestBlank(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 200, 100))
	if blank(img) == nil {
		t.Error("an empty image is not blank")
	}
	for x := range 200 { // a line of many colours in nothing
		img.Set(x, 50, color.RGBA{uint8(x), uint8(2 * x), 9, 255})
	}
	if blank(img) == nil {
		t.Error("an image with one line is not blank")
	}
	for i := range img.Pix {
		img.Pix[i] = uint8(i / 40)
	}
	if err := blank(img); err != nil {
		t.Errorf("a colourful image is blank: %v", err)
	}
}
