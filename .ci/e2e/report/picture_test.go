package report_test

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
)

// A reference is a screenshot at an eighth of its width and height: a cell is the mean of
// 8 × 8 pixels. So it is small, and what differs between builds of a browser, the edges of
// letters, is hardly in it. Two cells differ if one of their colours does by more than
// apart of 255, and two pictures if more than allowed of their cells do. The page of a
// fleet, drawn at twice the size and shrunk, differs by 0.03 % from itself; with red in
// the place of green by 0.26 %, with columns of numbers on the left by 0.6 %, and with
// another margin or a heading less by 4 % and more, as all below moves.
const (
	side    = 8      // pixels of a cell
	apart   = 32     // of 255
	allowed = 0.0015 // of all cells
)

// keep makes a reference of a screenshot.
func keep(reference, screenshot string) error {
	shot, err := read(screenshot)
	if err != nil {
		return err
	}
	return write(reference, shrink(shot))
}

// differ is an error where a screenshot does not show what a reference does.
func differ(reference, screenshot string) error {
	want, err := read(reference)
	if err != nil {
		return err
	}
	shot, err := read(screenshot)
	if err != nil {
		return err
	}
	share, where, err := compare(want, shrink(shot))
	if err == nil && share > allowed {
		err = fmt.Errorf("%.2f %% of its cells differ, and %.2f may; the first that does begins at pixel %d of its %d lines", 100*share, 100*allowed, where*side, shot.Bounds().Dy())
	}
	return err
}

func read(name string) (image.Image, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return png.Decode(f)
}

func write(name string, m image.Image) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	return errors.Join(encoder.Encode(f, m), f.Close())
}

// shrink is a picture of its cells.
func shrink(m image.Image) *image.RGBA {
	b := m.Bounds()
	small := image.NewRGBA(image.Rect(0, 0, (b.Dx()+side-1)/side, (b.Dy()+side-1)/side))
	for y := range small.Bounds().Dy() {
		for x := range small.Bounds().Dx() {
			cell := image.Rect(x*side, y*side, (x+1)*side, (y+1)*side).Add(b.Min).Intersect(b)
			small.SetRGBA(x, y, mean(m, cell))
		}
	}
	return small
}

func mean(m image.Image, cell image.Rectangle) color.RGBA {
	var red, green, blue, n uint32
	for y := cell.Min.Y; y < cell.Max.Y; y++ {
		for x := cell.Min.X; x < cell.Max.X; x++ {
			r, g, b, _ := m.At(x, y).RGBA()
			red, green, blue, n = red+r>>8, green+g>>8, blue+b>>8, n+1
		}
	}
	return color.RGBA{uint8(red / n), uint8(green / n), uint8(blue / n), 255}
}

// compare is the share of cells that differ, and the line of the first.
func compare(a, b image.Image) (share float64, first int, err error) {
	size := a.Bounds().Size()
	if size != b.Bounds().Size() {
		return 0, 0, fmt.Errorf("the reference has %s cells, and the screenshot %s", size, b.Bounds().Size())
	}
	n := 0
	for y := range size.Y {
		for x := range size.X {
			if !alike(a.At(x, y), b.At(x, y)) {
				if n == 0 {
					first = y
				}
				n++
			}
		}
	}
	return float64(n) / float64(size.X*size.Y), first, nil
}

func alike(a, b color.Color) bool {
	ar, ag, ab, _ := a.RGBA()
	br, bg, bb, _ := b.RGBA()
	near := func(v, w uint32) bool { return max(v, w)>>8-min(v, w)>>8 <= apart }
	return near(ar, br) && near(ag, bg) && near(ab, bb)
}
