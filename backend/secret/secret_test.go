package secret

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	"pgregory.net/rapid"

	"svc/backend/secret/secrettest"
	"svc/backend/tsv"
)

// TestMaskLeavesNoPlantedSecret counts what is found by the text alone: the files
// whose secrets have no names are known by their places.
func TestMaskLeavesNoPlantedSecret(t *testing.T) {
	byPlace := []string{
		"sasl_passwd", "keytab", "chap-secrets", "ipsec.secrets", "exim", "dovecot-users", "zabbix-psk", "rsync", "davfs2", "cluster-key", "pgpass", "userlist",
	}
	all := 0
	for _, f := range secrettest.Files() {
		masked := Mask(f.Text)
		for _, v := range f.Values {
			all++
			if strings.Contains(masked, v) && !slices.Contains(byPlace, f.Kind) {
				t.Errorf("%s (%s) still has %s", f.Path, f.Kind, v)
			}
		}
	}
	if all < 150 {
		t.Errorf("%d secrets were planted", all)
	}
}

// TestWhatIsNoSecretStays has what names and values look like that are none.
func TestWhatIsNoSecretStays(t *testing.T) {
	for _, text := range []string{
		"passwd:         files systemd",
		"password\trequisite\tpam_pwquality.so retry=3",
		"password [success=1 default=ignore] pam_unix.so obscure yescrypt",
		"PASS_MAX_DAYS 99999", "    stats uri /haproxy:x", "    stats realm Statistics:all", "PASS_MIN_LEN=5",
		"kpasswd\t\t464/tcp",
		"proxy_pass http://127.0.0.1:8080;", "fastcgi_pass unix:/run/php/php-fpm.sock;",
		"password=$DB_PASSWORD", `password="${PASS:-}"`, "password = {{ vault_password }}", "PASSWORD=$(cat /root/pw)",
		"password_file = /etc/x/password", "password = /etc/shop/password", "ssl_key = </etc/dovecot/private/dovecot.pem",
		"#ssl_cipher_list = ALL:!kRSA:!3DES:!MD5:!PSK:!RC4:!ADH:!LOW@STRENGTH", "ssl_ciphers HIGH:!PSK:!SRP;",
		"Pin: release a=bookworm-backports", "Pin-Priority: 100",
		"deploy ALL=(root) NOPASSWD: /usr/bin/systemctl restart shop",
		"PublicKey = xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg=",
		"HostKey /etc/ssh/ssh_host_rsa_key",
		"PasswordAuthentication no", "PermitEmptyPasswords no",
		"password = none", "password: (none)", "Access denied (using password: NO)", "token: null", "secret: \"\"",
		"http://deb.example.org:8080/debian", "https://user@example.org/x",
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHbkq9tYx2sLr0PpGjV3nUuEoT1fKzXyWcBaaaaaaa anna@example.org",
		"docker run -p 8080:80 nginx", "mysqldump -u root -p shop", "mkdir -p /srv/x",
		"if grep -q -- '-----BEGIN PRIVATE KEY-----' \"$f\"; then",
		"if password == other:", "password = get_password()",
		"challengePassword = A challenge password",
		"the password must have eight characters",
		Masked, "password=" + Masked, "Authorization: Bearer " + Masked,
	} {
		if got := Mask(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestMaskKeepsWhatStandsBeside(t *testing.T) {
	is := is.New(t)
	is.Equal(Mask("15 3 * * * root PGPASSWORD=hunter2 pg_dump shop"), "15 3 * * * root PGPASSWORD=[secret] pg_dump shop")
	is.Equal(Mask("PGPASSWORD=hunter2 pg_dump shop"), "PGPASSWORD=[secret] pg_dump shop")
	is.Equal(Mask("mysqldump -u root -phunter2 shop | gzip"), "mysqldump -u root -p[secret] shop | gzip")
	is.Equal(Mask("curl -H 'Authorization: Bearer abc' https://x"), "curl -H 'Authorization: Bearer [secret]' https://x")
	is.Equal(Mask("deb https://anna:hunter2@repo.example.org/debian bookworm main"), "deb https://anna:[secret]@repo.example.org/debian bookworm main")
	is.Equal(Mask(`su - shop -c "mysqldump -phunter2 shop"`), `su - shop -c "mysqldump -p[secret] shop"`)
	is.Equal(Mask("password=\"hun ter2\" # mine"), "password=\"[secret]\" # mine")
	is.Equal(Mask("password = hunter2 # mine"), "password = [secret] # mine")
}

func TestRemarksAreTold(t *testing.T) {
	is := is.New(t)
	spans := Find([]byte("# requirepass foobared\n# password = example\npassword = real\n"))
	is.Equal(len(spans), 2)
	is.True(spans[0].Remark)
	is.True(!spans[1].Remark)
}

// TestLinearOnHostileInput has texts on which a careless search takes time that
// grows with the square of their length: here hours.
func TestLinearOnHostileInput(t *testing.T) {
	is := is.New(t)
	start := time.Now()
	for _, part := range []string{
		"password=", "password", "-----BEGIN PRIVATE KEY-----", "://", "a:b@", "x://a:", "\"", "'", "\\\"password\\\":", "mysql -p", "-p", " -", "@tcp(", "$6$", "eyJ", "AKIA", "user password ", "by ", "{PLAIN}", "Private-Lines: 9\n", "bearer ",
		"password \"", "token token ", "identified by '", "chpasswd -a:b ", "$", "a-", "set password ", "<password>", "password:\n",
	} {
		Mask(strings.Repeat(part, (1<<18)/len(part)))
	}
	is.True(time.Since(start) < 2*time.Minute)
}

func TestMaskTwiceIsMaskOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkMask(t.Fatalf, hostile().Draw(t, "text")) })
}

// hostile puts texts together of what the search looks at.
func hostile() *rapid.Generator[string] {
	parts := []string{
		"password", "DB_PASS", "token", "secret", "=", ":", " ", "\n", "\"", "'", "\\", "://", "@", "user", "hunter2", Masked, "[", "]", "-p", "mysql", "curl -u a:b", "Authorization: Bearer ", "-----BEGIN PRIVATE KEY-----\n",
		"-----END PRIVATE KEY-----", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcw", "$6$", "{PLAIN}", "eyJ", "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "#", ";", ",", "<", ">", "é", "\x00", "export ", "com2sec a b c", "| chpasswd", "echo a:b", "AA", "123456789:",
	}
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 24).Draw(t, "parts"), "")
	})
}

func checkMask(fail func(string, ...any), text string) {
	spans := Find([]byte(text))
	last := 0
	for _, s := range spans {
		if s.Start < last || s.End <= s.Start || s.End > len(text) {
			fail("%q: a span from %d to %d after %d", text, s.Start, s.End, last)
		}
		last = s.End
	}
	masked := Mask(text)
	if again := Find([]byte(masked)); len(again) != 0 {
		fail("%q became %q, in which %q is found", text, masked, masked[again[0].Start:again[0].End])
	}
	if Mask(masked) != masked {
		fail("%q changes when it is masked again", masked)
	}
	if len(spans) == 0 && masked != text {
		fail("%q has no secret and became %q", text, masked)
	}
}

func FuzzMask(f *testing.F) {
	for _, file := range secrettest.Files() {
		f.Add(file.Text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkMask(t.Fatalf, text) })
}

// TestTables reads what the tables say.
func TestTables(t *testing.T) {
	is := is.New(t)
	for r := range tsv.Rows(namesTSV, 3) {
		is.Equal(plainName(r[0]), r[0])
		is.True(slices.Contains([]string{"end", "word", "weak", "pin", "header", "next", "by", "not"}, r[1])) // how
	}
	for r := range tsv.Rows(formsTSV, 5) {
		_, known := alphabets[r[1]]
		is.True(known)
	}
	for _, all := range forms() {
		for _, f := range all {
			is.True(f.kind != "" && f.least > 0)
		}
	}
	for r := range tsv.Rows(commandsTSV, 5) {
		is.True(slices.Contains([]string{"joined", "next", "either", "pair"}, r[2]))
		is.Equal(r[2] == "pair", r[3] != "-")
	}
	is.True(len(directives()) > 0)
}

func BenchmarkMask(b *testing.B) {
	var text strings.Builder
	for _, f := range secrettest.Files() {
		text.WriteString(f.Text)
	}
	all := text.String()
	b.SetBytes(int64(len(all)))
	for b.Loop() {
		Mask(all)
	}
}
