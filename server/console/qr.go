package console

import (
	"fmt"
	"image/color"
	"strings"

	"github.com/boombuler/barcode/qr"
)

// qrCode is a QR code as the path of an SVG. Each square of the code is one unit wide.
type qrCode struct {
	path string
	size int // length of a side, with the margins
}

// quietZone is the width of the empty margin that QR code readers need, in squares.
const quietZone = 4

// newQRCode returns the QR code of a text. It returns an error if the text is too long.
func newQRCode(text string) (qrCode, error) {
	drawn, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return qrCode{}, fmt.Errorf("drawing a QR code: %w", err)
	}
	var path strings.Builder
	side := drawn.Bounds().Dx()
	for y := range side {
		for x := range side {
			if drawn.At(x, y) == color.Black {
				fmt.Fprintf(&path, "M%d %dh1v1h-1z", x+quietZone, y+quietZone)
			}
		}
	}
	return qrCode{path.String(), side + 2*quietZone}, nil
}
