package ext4

import (
	"hash/crc32"

	"svc/assess/disk/block"
)

// crc32c continues a checksum as Linux does: without the inversions before and
// after, which package crc32 always makes.
func crc32c(seed uint32, b []byte) uint32 {
	return ^crc32.Update(^seed, block.Castagnoli, b)
}

// crc32cOf continues a checksum with a number.
func crc32cOf(seed, n uint32) uint32 {
	return crc32c(seed, le.AppendUint32(nil, n))
}

// crc32cBut continues a checksum with zeros in the place of the n bytes at at,
// where the checksum itself stands.
func crc32cBut(seed uint32, b []byte, at, n int) uint32 {
	var zeros [4]byte
	return crc32c(crc32c(crc32c(seed, b[:at]), zeros[:n]), b[at+n:])
}

// crc16 continues the CRC-16 (polynomial 0x8005, reflected) of group
// descriptors before metadata_csum.
func crc16(sum uint16, b []byte) uint16 {
	for _, c := range b {
		sum = sum>>8 ^ crc16Table[byte(sum)^c]
	}
	return sum
}

var crc16Table = func() (table [256]uint16) {
	for i := range table {
		sum := uint16(i)
		for range 8 {
			sum = sum>>1 ^ 0xA001*(sum&1)
		}
		table[i] = sum
	}
	return table
}()
