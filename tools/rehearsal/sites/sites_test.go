package sites

import (
	"testing"

	"github.com/matryer/is"

	"svc/assess"
)

func TestWhatAConfigurationNames(t *testing.T) {
	is := is.New(t)
	a := &assess.Assessment{WebServers: []assess.WebServer{{Sites: []assess.Site{
		{Name: "one.example", Listen: []string{"80"}, Evidence: assess.Evidence{Path: "/etc/apache2/a.conf", Line: 1}},
		{Name: "two.example", Listen: []string{"*:443"}, TLS: true, Evidence: assess.Evidence{Path: "/etc/apache2/a.conf", Line: 8}},
		{Name: "three.example", Listen: []string{"8080"}, Evidence: assess.Evidence{Path: "/etc/nginx/b", Line: 1}},
	}}}}
	texts := map[string]string{
		"/etc/apache2/a.conf": "<VirtualHost *:80>\nAlias /docs \"/srv/docs\"\n#Alias /old /srv/old\n  <Location /status>\n  </Location>\n RedirectMatch ^/x$ /y\n</VirtualHost>\n<VirtualHost *:443>\nProxyPass /api http://127.0.0.1:8080/\nProxyPass / http://127.0.0.1/\nRedirect permanent /from /to\n</VirtualHost>\n",
		"/etc/nginx/b":        "server {\n location / {\n }\n location ^~ /down { }\n location = /one { }\n location ~ \\.php$ { }\n location @named { }\n location /logout { }\n}\n",
	}
	var said []string
	for _, r := range Configured(a, func(file string) string { return texts[file] }) {
		said = append(said, r.String())
	}
	is.Equal(said, []string{"http://one.example:80/docs", "http://one.example:80/status", "https://two.example:443/api", "https://two.example:443/from", "http://three.example:8080/down", "http://three.example:8080/one"})
}

func TestWhatAPageLinksTo(t *testing.T) {
	is := is.New(t)
	page := `<a href="docs/a.html">A</a> <A class=x HREF='/b#c'>B</a> <a href="http://other.example/c">C</a> <a href="https://www.example/d">D</a>
		<a href="mailto:x@y">E</a> <a href="/list?delete=1">F</a> <a href="/logout">G</a> <a href="javascript:x()">H</a> <a href="../..">I</a> <link href="/style.css"> <a href="docs/a.html">A</a>`
	is.Equal(Links(Request{Name: "www.example", Port: 80}, page), []string{"/docs/a.html", "/b", "/d"})
	many := ""
	for _, c := range "abcdefghijklmnopqrstuvwxyz" {
		many += `<a href="/` + string(c) + `">`
	}
	is.Equal(len(Links(Request{}, many)), maxPages)
	first := Request{Name: "x", Port: 80}
	is.Equal(Linked(map[Request]Page{first: {Status: 200, Links: []string{"/a"}}, {Name: "x", Port: 80, Path: "/a"}: {Links: []string{"/b"}}}), []Request{{Name: "x", Port: 80, Path: "/a"}})
}
