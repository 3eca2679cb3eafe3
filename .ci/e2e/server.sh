#!/usr/bin/env bash
# Run inside a fresh bullseye root: makes of it the server of a small company,
# with the things people do to a machine in four years.
set -euo pipefail

packages() {
	apt-get update -qq
	apt-get install -y -qq --no-install-recommends \
		apache2 php-fpm php-mysql mariadb-server postgresql openssh-server \
		cron rsyslog logrotate nftables sudo chrony unattended-upgrades \
		vim-tiny curl less rsync locales fail2ban
	# Removed, its configuration left behind.
	apt-get install -y -qq --no-install-recommends ntpdate
	apt-get remove -y -qq ntpdate
	apt-mark hold curl >/dev/null
}

system() {
	echo 0123456789abcdef0123456789abcdef >/etc/machine-id
	echo web1 >/etc/hostname
	printf '127.0.0.1 localhost\n10.0.3.7 web1.internal.example web1\n10.0.3.9 db.internal.example\n' >/etc/hosts
	ln -sf /usr/share/zoneinfo/Europe/Vienna /etc/localtime
	echo Europe/Vienna >/etc/timezone
	echo 'LANG=de_AT.UTF-8' >/etc/default/locale
	cat >/etc/fstab <<-'FSTAB'
		UUID=6d2b2c5e-5a5f-4a39-9a8e-0c1c6f9b8a11 / ext4 errors=remount-ro 0 1
		UUID=b14f0c0e-8f2e-4a12-8c8e-52c6a7c0e0aa none swap sw 0 0
		nas.internal.example:/export/backup /srv/backup nfs defaults,_netdev 0 0
	FSTAB
	cat >/etc/network/interfaces <<-'NET'
		auto lo
		iface lo inet loopback
		auto ens3
		iface ens3 inet static
		  address 10.0.3.7/24
		  gateway 10.0.3.1
		  dns-nameservers 10.0.3.2
	NET
	printf 'net.ipv4.ip_forward = 1\nvm.swappiness=10\n' >/etc/sysctl.d/60-local.conf
}

accounts() {
	groupadd -g 1600 webteam
	useradd -u 1500 -m -s /bin/bash -c 'Deployment' -G webteam,www-data deploy
	groupadd -g 901 printers
	useradd -r -u 902 upload
	useradd -u 1501 -m -s /bin/bash -c 'Anna Example' -G printers anna
	install -d -m 700 -o deploy -g deploy /home/deploy/.ssh
	echo 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJqk0Qd4b8nLZ0oR8T0nWb5yS2hRj4m3X1vE8cYw7uKp deploy@ci' >/home/deploy/.ssh/authorized_keys
	chown deploy:deploy /home/deploy/.ssh/authorized_keys
	chmod 600 /home/deploy/.ssh/authorized_keys
	echo 'deploy ALL=(root) NOPASSWD: /usr/bin/systemctl reload apache2' >/etc/sudoers.d/deploy
	chmod 440 /etc/sudoers.d/deploy
}

web() {
	cat >/etc/apache2/sites-available/shop.conf <<-'SITE'
		<VirtualHost *:80>
		    ServerName shop.example.org
		    ServerAlias www.shop.example.org
		    DocumentRoot /srv/www/shop
		    <Directory /srv/www/shop>
		        AllowOverride All
		        Require all granted
		    </Directory>
		    <FilesMatch \.php$>
		        SetHandler "proxy:unix:/run/php/php-fpm.sock|fcgi://localhost"
		    </FilesMatch>
		</VirtualHost>
	SITE
	mkdir -p /srv/www/shop
	echo '<?php phpinfo();' >/srv/www/shop/index.php
	a2ensite -q shop
	a2dissite -q 000-default
	a2enmod -q rewrite headers ssl proxy_fcgi setenvif
	sed -i 's/^ServerTokens .*/ServerTokens Prod/' /etc/apache2/conf-available/security.conf
	sed -i 's/^memory_limit = .*/memory_limit = 256M/' /etc/php/7.4/fpm/php.ini
	openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj /CN=shop.example.org \
		-keyout /etc/ssl/private/shop.key -out /etc/ssl/certs/shop.pem
	chmod 600 /etc/ssl/private/shop.key
}

databases() {
	printf '[mysqld]\nmax_connections = 200\ninnodb_buffer_pool_size = 256M\n' >/etc/mysql/mariadb.conf.d/60-local.cnf
	sed -i "s/^max_connections = .*/max_connections = 150/" /etc/postgresql/13/main/postgresql.conf
}

services() {
	sed -i 's/^#\?PermitRootLogin .*/PermitRootLogin no/; s/^#\?X11Forwarding .*/X11Forwarding no/' /etc/ssh/sshd_config
	printf 'PasswordAuthentication no\n' >/etc/ssh/sshd_config.d/10-local.conf
	cat >/etc/systemd/system/shop-worker.service <<-'UNIT'
		[Unit]
		Description=Shop queue worker
		After=network.target
		[Service]
		User=deploy
		ExecStart=/usr/local/bin/shop-worker
		Restart=on-failure
		[Install]
		WantedBy=multi-user.target
	UNIT
	printf '#!/bin/sh\nexec sleep infinity\n' >/usr/local/bin/shop-worker
	chmod 755 /usr/local/bin/shop-worker
	printf '[Unit]\nDescription=Nightly report\n[Service]\nType=oneshot\nExecStart=/bin/true\n' >/etc/systemd/system/report.service
	printf '[Unit]\nDescription=Nightly report\n[Timer]\nOnCalendar=*-*-* 03:30:00\n[Install]\nWantedBy=timers.target\n' >/etc/systemd/system/report.timer
	systemctl enable shop-worker.service report.timer nftables.service
	systemctl mask apt-daily.timer
	systemctl disable fail2ban.service
	mkdir -p /etc/systemd/system/apache2.service.d
	printf '[Service]\nLimitNOFILE=65536\n' >/etc/systemd/system/apache2.service.d/limits.conf
	cat >/etc/nftables.conf <<-'NFT'
		#!/usr/sbin/nft -f
		flush ruleset
		table inet filter {
			chain input {
				type filter hook input priority 0; policy drop;
				ct state established,related accept
				iif lo accept
				tcp dport { 22, 80, 443 } accept
			}
		}
	NFT
}

jobs_and_files() {
	printf '# shop\n*/5 * * * * www-data /usr/bin/php /srv/www/shop/cron.php\n' >/etc/cron.d/shop
	printf '#!/bin/sh\nfind /var/tmp -mtime +30 -delete\n' >/etc/cron.daily/tidy-tmp
	chmod 755 /etc/cron.daily/tidy-tmp
	printf '15 2 * * * /home/deploy/backup.sh\n' >/var/spool/cron/crontabs/deploy
	chown deploy:crontab /var/spool/cron/crontabs/deploy
	chmod 600 /var/spool/cron/crontabs/deploy
	printf '/var/log/shop/*.log {\n  weekly\n  rotate 8\n  missingok\n}\n' >/etc/logrotate.d/shop
	mkdir -p '/etc/shop app'
	printf 'title = {{ not a template }}\n' >'/etc/shop app/settings {{ old }}.ini'
	printf 'secret = hunter2\n' >'/etc/shop app/database.ini'
	chmod 640 '/etc/shop app/database.ini'
	chgrp www-data '/etc/shop app/database.ini'
	printf 'colour = green\n' >'/etc/shop app/theme.ini'
	chown upload '/etc/shop app/theme.ini'
	mkdir -p /opt/legacy-agent && touch /opt/legacy-agent/agent
}

export DEBIAN_FRONTEND=noninteractive
packages
system
accounts
web
databases
services
jobs_and_files
