# shellcheck shell=bash disable=SC2034,SC2154 # work is the script's, port and sshd are for it
# A machine that is reached over ssh: sourced after checks.sh. To a folder that
# sshd shows as a machine (ChrootDirectory) it wants none on the way that others
# may write: it lies in the cache.

# serve_ssh LINE…: an sshd on loopback lets root in by a key of its own, with
# further lines of its configuration. Sets port and sshd, its process; from here
# on ssh knows it, by its address and as source. To stop it is the script's.
serve_ssh() {
	port=$((20000 + RANDOM % 10000))
	mkdir -p /run/sshd "$work/bin"
	ssh-keygen -q -t ed25519 -N '' -f "$work/host"
	ssh-keygen -q -t ed25519 -N '' -f "$work/key"
	printf '[127.0.0.1]:%s %s\n' "$port" "$(cut -d' ' -f1-2 "$work/host.pub")" >"$work/known"
	printf '%s\n' "Port $port" "ListenAddress 127.0.0.1" "HostKey $work/host" "AuthorizedKeysFile none" "AuthorizedKeysCommand /bin/cat $work/key.pub" "AuthorizedKeysCommandUser root" \
		"PermitRootLogin prohibit-password" "StrictModes no" "UsePAM no" "PidFile none" "$@" >"$work/sshd"
	"$(command -v sshd)" -D -f "$work/sshd" 2>"$work/sshd.log" &
	sshd=$!
	printf '%s\n' "Host source" " HostName 127.0.0.1" " Port $port" " User root" \
		"Host *" " IdentityFile $work/key" " IdentitiesOnly yes" " UserKnownHostsFile $work/known" " GlobalKnownHostsFile none" >"$work/ssh_config"
	printf '#!/bin/sh\nexec %s -F %s "$@"\n' "$(command -v ssh)" "$work/ssh_config" >"$work/bin/ssh"
	chmod 755 "$work/bin/ssh"
	PATH=$work/bin:$PATH
	until_true ssh -o BatchMode=yes source true
}
