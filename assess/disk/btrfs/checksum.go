package btrfs

import (
	"bytes"
	"crypto/sha256"
	"hash/crc32"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/crypto/blake2b"

	"svc/assess/disk/block"
)

// checksum is an algorithm: what a block's first 32 bytes have of the rest,
// padded with zeros, and the tree of checksums of each sector, in size bytes.
type checksum struct {
	size int
	of   func([]byte) [32]byte
}

// checksums are the algorithms by their number.
var checksums = []checksum{
	{4, func(b []byte) (sum [32]byte) {
		le.PutUint32(sum[:], crc32.Checksum(b, block.Castagnoli))
		return sum
	}},
	{8, func(b []byte) (sum [32]byte) {
		le.PutUint64(sum[:], xxhash.Sum64(b))
		return sum
	}},
	{32, sha256.Sum256},
	{32, blake2b.Sum256},
}

func checksumOf(number uint16) (checksum, error) {
	if int(number) >= len(checksums) {
		return checksum{}, block.Unsupported("checksums of kind %d", number)
	}
	return checksums[number], nil
}

// matches verifies a block.
func (c checksum) matches(b []byte) bool {
	sum := c.of(b[32:])
	return bytes.Equal(sum[:], b[:32])
}
