package convert

import "svc/backend/lazyregexp"

// Rewording is what a line of another family's says on the target.
type Rewording struct {
	Line     *lazyregexp.Regexp
	Now, Why string
}

// LogPlaces are where the families keep the logs of services.
var LogPlaces = Places{
	{"/var/log/httpd", "/var/log/apache2"},
	{"/var/log/mariadb", "/var/log/mysql"},
	{"/var/log/messages", "/var/log/syslog"},
	{"/var/log/secure", "/var/log/auth.log"},
	{"/var/log/maillog", "/var/log/mail.log"},
	{"/var/log/cron", "/var/log/cron.log"},
	{"/var/run/httpd", "/run/apache2"},
	{"/var/log/php-fpm", "/var/log"},
}
