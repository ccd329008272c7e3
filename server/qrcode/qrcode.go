// Package qrcode draws QR codes: as the path of an SVG for pages, and as pictures.
package qrcode

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"

	"github.com/boombuler/barcode/qr"
)

// Code is a QR code. A unit is the length of a side of one of its squares.
type Code struct {
	Path string // of an SVG
	Size int    // length of a side of the code, with its margins, in units
	dark func(x, y int) bool
}

// quietZone is the width of the empty margin that readers of QR codes need, in units.
const quietZone = 4

// Draw returns the QR code of a text. It returns an error if the text is too long.
func Draw(text string) (*Code, error) { return draw(text, qr.M) }

func draw(text string, level qr.ErrorCorrectionLevel) (*Code, error) {
	drawn, err := qr.Encode(text, level, qr.Auto)
	if err != nil {
		return nil, fmt.Errorf("drawing a QR code: %w", err)
	}
	var path strings.Builder
	side := drawn.Bounds().Dx()
	c := &Code{Size: side + 2*quietZone, dark: func(x, y int) bool {
		x, y = x-quietZone, y-quietZone
		return x >= 0 && y >= 0 && x < side && y < side && drawn.At(x, y) == color.Black
	}}
	for y := range c.Size {
		for x := range c.Size {
			if c.dark(x, y) {
				fmt.Fprintf(&path, "M%d %dh1v1h-1z", x, y)
			}
		}
	}
	c.Path = path.String()
	return c, nil
}

// ErrTooSmall is returned for a picture that is too small for its text.
type ErrTooSmall struct {
	Least int // smallest length of a side of a picture with this text, in pixels
}

// Error implements error.
func (e ErrTooSmall) Error() string {
	return fmt.Sprintf("the QR code needs a picture of at least %d pixels", e.Least)
}

// PNG returns a square picture with the QR code of a text, in the format PNG. The parameter side is the length of a side in
// pixels. Each square of the code has the same number of pixels, so the code is in the middle, with margins. The code has
// as much redundancy as fits.
func PNG(text string, side int) ([]byte, error) {
	var code *Code
	for _, level := range []qr.ErrorCorrectionLevel{qr.M, qr.L} {
		var err error
		if code, err = draw(text, level); err != nil {
			return nil, err
		}
		if code.Size <= side {
			break
		}
	}
	scale := side / code.Size
	if scale == 0 {
		return nil, ErrTooSmall{code.Size}
	}
	picture := image.NewPaletted(image.Rect(0, 0, side, side), color.Palette{color.White, color.Black})
	before := (side - scale*code.Size) / 2
	for y := range side - before {
		for x := range side - before {
			if code.dark(x/scale, y/scale) {
				picture.SetColorIndex(before+x, before+y, 1)
			}
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, picture); err != nil {
		return nil, errors.Join(errors.New("encoding a picture"), err)
	}
	return b.Bytes(), nil
}
