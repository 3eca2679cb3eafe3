// Package selinux knows what the policy of the rpm families keeps services from doing that
// their configuration asks for; pure.
package selinux

import (
	"fmt"
	"strings"

	"svc/backend/lazyregexp"
	"svc/backend/sliced"
)

// confinement is how SELinux of the rpm families bounds a service, by the folder
// of its configuration.
type confinement struct {
	under    string
	portType string
	ports    string // those that the policy lets it take
	content  string // the type of what it serves
	connects string // the boolean by which it may connect to others
}

const webPorts = " 80 81 443 488 8008 8009 8443 9000 "

var confined = []confinement{
	{"/etc/httpd/", "http_port_t", webPorts, "httpd_sys_content_t", "httpd_can_network_connect"},
	{"/etc/nginx/", "http_port_t", webPorts, "httpd_sys_content_t", "httpd_can_network_connect"},
	{"/etc/ssh/", "ssh_port_t", " 22 ", "", ""},
}

var (
	listens  = lazyregexp.New(`(?im)^\s*(?:listen|port)\s+(?:\S*:)?([0-9]{1,5})\b`)
	serves   = lazyregexp.New(`(?im)^\s*(?:DocumentRoot|root)\s+"?(/[A-Za-z0-9._/-]+)"?(?:\s|;|$)`)
	connects = lazyregexp.New(`(?im)^\s*(?:ProxyPass(?:Match)?|BalancerMember|proxy_pass|fastcgi_pass|uwsgi_pass|SetHandler)\s.*?(?:https?|wss?|ajp|fcgi|balancer)?(?:://[^/|]|[0-9]:[0-9])`)
	labelled = lazyregexp.New(`^/(var/www|srv/www|usr/share|etc)(/|$)`)
)

// Commands are those that allow what a service's file of configuration, which is called name,
// asks for.
func Commands(name, text string) []string {
	return sliced.FlatMap(confined, func(s confinement) []string {
		if !strings.HasPrefix(name, s.under) {
			return nil
		}
		return s.allow(text)
	})
}

// allow are the commands that a service needs for a text of its configuration.
func (s confinement) allow(text string) (commands []string) {
	for _, m := range listens.FindAllStringSubmatch(text, -1) {
		if !strings.Contains(s.ports, " "+m[1]+" ") {
			commands = append(commands, "semanage port -a -t "+s.portType+" -p tcp "+m[1])
		}
	}
	if s.content == "" {
		return commands
	}
	for _, m := range serves.FindAllStringSubmatch(text, -1) {
		if dir := strings.TrimSuffix(m[1], "/"); !labelled.MatchString(dir) && dir != "" {
			commands = append(commands, fmt.Sprintf("semanage fcontext -a -t %s '%s(/.*)?' && restorecon -R %s", s.content, strings.ReplaceAll(dir, ".", `\.`), dir))
		}
	}
	if connects.MatchString(text) {
		commands = append(commands, "setsebool -P "+s.connects+" on")
	}
	return commands
}
