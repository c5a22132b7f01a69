//go:build wordpress

package wordpress

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// imageSize is what the browser uploads.
const imageSize = 20 << 20

// writeLargeImage writes a valid photograph-like image of imageSize: a small
// picture and comments, so that PHP scales it in no time.
func writeLargeImage(path string) error {
	picture := image.NewRGBA(image.Rect(0, 0, 800, 600))
	for x := range 800 {
		for y := range 600 {
			picture.Set(x, y, color.RGBA{uint8(x * 255 / 800), uint8(y * 255 / 600), uint8((x ^ y) & 255), 255})
		}
	}
	var encoded bytes.Buffer
	if err := jpeg.Encode(&encoded, picture, nil); err != nil {
		return err
	}
	const comment = 0xffff // the longest segment, its two bytes of length included
	segment := append([]byte{0xff, 0xfe, 0xff, 0xff}, bytes.Repeat([]byte("RestWarden "), comment/11+1)[:comment-2]...)
	file := bytes.NewBuffer(encoded.Bytes()[:2:2]) // start of image
	for file.Len() < imageSize {
		file.Write(segment)
	}
	file.Write(encoded.Bytes()[2:])
	return os.WriteFile(path, file.Bytes(), 0o644)
}

// wouldRefuse returns how many calls the observing gateway would have refused.
func (s *stack) wouldRefuse(ctx context.Context) (float64, error) {
	text, err := s.metrics(ctx)
	if err != nil {
		return 0, err
	}
	if !strings.Contains(text, "caddy_restwarden_decisions_total") {
		return 0, errors.New("there is no caddy_restwarden_decisions_total")
	}
	var sum float64
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "caddy_restwarden_decisions_total{") || !strings.Contains(line, `outcome="would_refuse"`) {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(line[strings.LastIndexByte(line, ' '):]), 64)
		if err != nil {
			return 0, fmt.Errorf("metric %q: %w", line, err)
		}
		sum += n
	}
	return sum, nil
}

// wouldRefuseLog returns the last lines that the observing gateway wrote about it.
func (s *stack) wouldRefuseLog() string {
	text, _ := os.ReadFile(filepath.Join(s.dir, "caddy.log"))
	var lines []string
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, `"would_refuse"`) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-10):], "")
}

// errorsOf is the first of errs that is not nil: the later ones follow from it.
func errorsOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
