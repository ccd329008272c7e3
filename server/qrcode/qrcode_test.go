package qrcode_test

import (
	"bytes"
	"errors"
	"image/png"
	"strings"
	"testing"

	"github.com/makiuchi-d/gozxing"
	reader "github.com/makiuchi-d/gozxing/qrcode"

	"github.com/cauri-dev/cauri/server/qrcode"
)

// Another library reads what this one draws, in each size.
func TestPictures(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"a", "https://cauri.example/sandboxes/team/shop/operators/mpesa/c/" + strings.Repeat("8f2b", 8), strings.Repeat("x", 400)} {
		for _, side := range []int{64, 65, 100, 300, 777, 1000} {
			picture, err := qrcode.PNG(text, side)
			if small := (qrcode.ErrTooSmall{}); errors.As(err, &small) && small.Least > side {
				if picture, err = qrcode.PNG(text, small.Least); err != nil {
					t.Errorf("%d bytes in %d pixels: %v", len(text), small.Least, err)
					continue
				}
				side = small.Least
			}
			if err != nil {
				t.Errorf("%d bytes in %d pixels: %v", len(text), side, err)
				continue
			}
			if got := read(t, picture, side); got != text {
				t.Errorf("%d bytes in %d pixels are read as %q", len(text), side, got)
			}
		}
	}
}

func read(t *testing.T, picture []byte, side int) string {
	t.Helper()
	decoded, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	if at := decoded.Bounds(); at.Dx() != side || at.Dy() != side {
		t.Errorf("a picture of %d pixels has %v", side, at)
	}
	bitmap, err := gozxing.NewBinaryBitmapFromImage(decoded)
	if err != nil {
		t.Fatal(err)
	}
	found, err := reader.NewQRCodeReader().Decode(bitmap, map[gozxing.DecodeHintType]any{gozxing.DecodeHintType_PURE_BARCODE: true})
	if err != nil {
		return err.Error()
	}
	return found.GetText()
}

// A text that fits in no QR code is no picture.
func TestTooLong(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3000)
	if _, err := qrcode.Draw(long); err == nil {
		t.Error("it is drawn")
	}
	if _, err := qrcode.PNG(long, 1000); err == nil {
		t.Error("it is a picture")
	}
}
