package budget

import "syscall"

// inMemoryKinds are the file systems that are memory, by the number that statfs gives.
var inMemoryKinds = map[uint32]string{0x01021994: "tmpfs", 0x858458f6: "ramfs"}

func diskOf(dir string) (d disk, known bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return disk{}, false
	}
	return disk{inMemoryKinds[uint32(s.Type)], s.Bavail * uint64(s.Bsize)}, true
}
