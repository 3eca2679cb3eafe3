package redact

import (
	"strings"

	"svc/backend/lazyregexp"
)

// releaseLike are the slugs of releases, such as debian-12.
var releaseLike = lazyregexp.New(`^(?i:debian|ubuntu|centos|rocky|almalinux|fedora|rhel|ol|sles|opensuse|opensuse-leap|amzn|el|x86|i|php|python|java|node|postgresql|nodejs|libc)-?[0-9][0-9.]*$`)

var (
	// advisory: RHSA-2024 and SUSE-SU-2024, before its colon.
	advisory = lazyregexp.New(`^[A-Z]+(?:-[A-Z]+)*-(?:19|20)[0-9]{2}$`)
	// packageLike are names with what only those of packages begin or end with, and architectures.
	packageLike = lazyregexp.New(`^(?:lib|python|perl|php|ruby|golang|node-|r-|fonts-|linux-|kernel|systemd-|texlive|gir1).+|.+(?:-dev|-devel|-common|-utils|-tools|-doc|-server|-client|-libs?|-data|-bin|-perl|-python|-base|-core|-plugins?|-agent|-daemon|ctl|fs)$|^(?:aarch64|noarch|riscv64|mips|ppc64le|bookworm|bullseye|buster|trixie|stretch|jammy|focal|noble|bionic|xenial)$`)
)

// deviceLike are names of devices, formats and programs that have numbers.
var deviceLike = lazyregexp.New(`^(?i:eth|en|awdl|wl|utun|en[ops]|ens|wlan|bond|br|virbr|docker|veth|wg|tun|tap|sd[a-z]|vd[a-z]|hd[a-z]?|gpt|msdos|xvd[a-z]|md|vg|drbd|mpath|event|input|virtio|usb|pci|irq|queue|slot|port|lun|phy|wwan|ppp|lo|team|vnet|macvtap|bridge|vlan|vmbr|fwbr|cni|lxcbr|lxdbr|dm-[0-9]+-?|nvme|loop|sr|tty[a-z]*|vty|pts|ata|scsi|sas|mmc|mmcblk|xhci|ehci|ohci|ahci|igb|ixgbe|i40e|mlx|bnx|tg|qla|lpfc|mpt|hpsa|rtc|tpm|eno|enx|sit|tunl|vti|dummy|ifb|vxlan|zram|nbd|rbd|hidraw|hwmon|gpiochip|ether|sfp|sfpplus|(?:fast|gigabit|tengigabit)ethernet|port-channel|cpu|utf-?|iso-?|sha|md|ed|rsa|aes|ipv|ext|base|tls|http|arm|armv|amd|s390|ppc|log|lib[a-z]+-?|mod|php|python|ruby|openjdk-?|jdk|tomcat|apache|sles|leap|rhel|debian-?|ubuntu-?|php-?|gcc-?|kb|cp|windows|win|(?:ba|z|da|a)?sh-)[0-9][0-9a-z.]*$|^mpath[a-z]{1,3}$|^[A-Z]{2,}v[0-9]$`)

var (
	// sentenceWord: a word with a capital, as after a colon.
	sentenceWord = lazyregexp.New(`^\p{Lu}\p{Ll}+$`)
	acronym      = lazyregexp.New(`^[\p{Lu}_.]+[0-9]?[\p{Lu}_.]?$`) // FS01 is none
)

// cipherSuite: ECDHE-ECDSA-CHACHA20-POLY1305.
var cipherSuite = lazyregexp.New(`^(?:TLS|EC?DHE?|EDH|RSA|DSS|PSK|SRP|ADH|AES[0-9]*|CHACHA20|CAMELLIA[0-9]*|DES)-[A-Z0-9]+(?:-[A-Z0-9]+)*$`)

// camelCase: AllowZoneDrifting, a setting or a class.
var camelCase = lazyregexp.New(`^[A-Za-z]*[a-z][A-Z][a-z]\w*$|^[A-Z]{2,}[a-z]{3,}[A-Z]\w*$`)

// typeNumber: Type1, a word with a capital and a number.
var typeNumber = lazyregexp.New(`^\p{Lu}\p{Ll}+[0-9]+$`)

// javaClass: org.postgresql.util.PSQLException.
var javaClass = lazyregexp.New(`^[a-z]\w*(?:\.\w+)*\.[A-Z]\w*[a-z]\w*$`)

// fqdn: a name of three parts or more, also where no such domain is registered.
var fqdn = lazyregexp.New(`^[\w-]+(?:\.[\w-]+)+\.[A-Za-z]+$`)

// versionBehind: Magento 2.3 is software, and "Tue 24 Nov" a date.
var versionBehind = lazyregexp.New(`^ \(?v?[0-9]+(?:[.:+-][0-9]|[ ,.]|$)`)

// contracted: couldn't is one word.
var contracted = lazyregexp.New(`^'t\b`)

var acted = lazyregexp.New(`^\p{Ll}{3,}t$`)

// versioned: 1.2, and foo-1.2.
var versioned = lazyregexp.New(`(?:^|-)v?[0-9]+[.:][0-9]`)

var startsDigit = lazyregexp.New(`^v?[0-9]`)

var hexNumber = lazyregexp.New(`^[0-9a-f]*[0-9][0-9a-f]*$`)

// numberedTicket: bpo-42316.
var numberedTicket = lazyregexp.New(`^[a-z]+-[0-9]{4,}$`)

var numbered = lazyregexp.New(`^([A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*-)[0-9]{1,3}$`)

// plainLower: a word in small letters.
var plainLower = lazyregexp.New(`^\p{Ll}{3,}$`)

// candidate: a word as names of machines are written.
var candidate = lazyregexp.New(`^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$`)

// capitals: SAPQ21.
var capitals = lazyregexp.New(`^[A-Z]{3,8}[0-9]{1,3}$`)

// compound: with a number, or of several parts.
var compound = lazyregexp.New(`[a-z](?:-?[0-9]|-[a-z])`)

// settled: words of settings that stand where a secret does, in two parts or with a number.
var settled = lazyregexp.New(`^(?:hmac|md5|sha|aes|3?des|rsa|dsa|ecdsa|ed25519|[a-z]+-(?:chain|string|mode|key|type|server|list|order|method))|[()$<>{}%=]|^-`)

// isPlain is a short cut for words of the trade and numbers, which are most.
func isPlain(t string) bool {
	t = strings.TrimRight(t, ".:")
	letters := !strings.ContainsFunc(t, func(r rune) bool { return r < 'A' || r > 'z' || r > 'Z' && r < 'a' })
	return letters && isListed(strings.ToLower(t)) || strings.Trim(t, "0123456789") == ""
}

var (

	// ofSetting: root-login, key-mode.
	ofSetting   = lazyregexp.New(`^[a-z]{3,}-(?:login|key|keys|mode|version|auth|policy|timeout|type|name|id|list|file|limit|size)$`)
	doneOrBeing = lazyregexp.New(`(?:ed|ing|[st]ion|ment|able|ible|ity|ness|ful|ly|ous)s?$`)
)

// standard: PKCS#12, SOCKSv5, and %08lX, which a program fills in.
var standard = lazyregexp.New(`^[A-Z]{2,}[#v]?[0-9]+$|^%[0-9.]*[a-z]{1,2}`)
