#!/bin/sh
# Copies what the package of MariaDB or MySQL made in /var/lib/mysql to where the settings
# have the data, where none are; prints that place.
set -eu
from=/var/lib/mysql
dir=$(my_print_defaults mysqld server mariadbd mariadb | sed -n 's/^--datadir=//p' | tail -n 1)
case $dir in
/*) ;;
*) exit 0 ;; # the package's own place
esac
[ ! -d "$dir/mysql" ] && [ "$(readlink -f "$dir")" != "$(readlink -f "$from")" ] || exit 0
[ -d "$from/mysql" ] || { echo "$dir has no data of the server, and $from none to begin with" >&2; exit 1; }
systemctl stop mariadb.service mysql.service >/dev/null 2>&1 || :
mkdir -p "$dir"
cp -a "$from/." "$dir/"
echo "$dir"
