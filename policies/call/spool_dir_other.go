//go:build !linux

package call

func diskOf(string) (d disk, known bool) { return disk{}, false }
