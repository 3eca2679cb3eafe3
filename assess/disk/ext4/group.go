package ext4

import "fmt"

// groups is how many block groups there are.
func (s *superblock) groups() uint64 {
	per := uint64(s.blocksPerGroup)
	return (s.blocks - uint64(s.firstData) + per - 1) / per
}

// descriptorBlock is the block that holds a group's descriptor, at the index of
// it among all blocks of descriptors.
func (s *superblock) descriptorBlock(index uint64) uint64 {
	if s.incompatible&hasMetaBG == 0 || index < uint64(s.firstMetaGroup) {
		return superblockAt/s.blockSize + index + 1
	}
	group := index * (s.blockSize / uint64(s.descSize))
	block := uint64(s.firstData) + group*uint64(s.blocksPerGroup)
	if s.hasBackup(group) {
		block++
	}
	if s.blockSize == 1024 && index == 0 && s.firstData == 0 {
		block++ // the boot block stands before the superblock
	}
	return block
}

// hasBackup reports whether a group starts with a superblock.
func (s *superblock) hasBackup(group uint64) bool {
	switch {
	case group == 0:
		return true
	case s.compatible&hasSparseSuper2 != 0:
		return group == uint64(s.backups[0]) || group == uint64(s.backups[1])
	case group == 1 || s.readOnly&hasSparseSuper == 0:
		return true
	}
	return isPower(group, 3) || isPower(group, 5) || isPower(group, 7)
}

func isPower(n, base uint64) bool {
	for n%base == 0 {
		n /= base
	}
	return n == 1
}

// inodeTable is the first block of a group's inodes.
func (v *volume) inodeTable(group uint32) (uint64, error) {
	perBlock := v.blockSize / uint64(v.descSize)
	b, err := v.metadata(v.descriptorBlock(uint64(group) / perBlock))
	if err != nil {
		return 0, fmt.Errorf("descriptor of group %d: %w", group, err)
	}
	desc := b[uint64(group)%perBlock*uint64(v.descSize):][:v.descSize]
	if !v.descriptorOK(group, desc) {
		return 0, damaged("the checksum of the descriptor of group %d is wrong", group)
	}
	table := uint64(le.Uint32(desc[8:]))
	if len(desc) >= 64 {
		table |= uint64(le.Uint32(desc[0x28:])) << 32
	}
	return table, v.device.check(table, (uint64(v.inodesPerGroup)*uint64(v.inodeSize)+v.blockSize-1)/v.blockSize)
}

// descriptorOK checks a group descriptor's checksum, of either kind.
func (v *volume) descriptorOK(group uint32, desc []byte) bool {
	const at = 0x1E
	var sum uint16
	switch {
	case v.readOnly&hasMetaCsum != 0:
		sum = uint16(crc32cBut(crc32cOf(v.seed, group), desc, at, 2))
	case v.readOnly&hasGroupCsum != 0:
		number := le.AppendUint32(nil, group)
		sum = crc16(crc16(crc16(crc16(^uint16(0), v.uuid[:]), number), desc[:at]), desc[at+2:])
	default:
		return true
	}
	return sum == le.Uint16(desc[at:])
}
