// Package help is the manual of svc: what commands are for, how they are called, and what
// was meant by a call that is none.
package help

import (
	"slices"

	"svc/cmd/svc/exit"
)

// page is what the manual says of a command beyond its flags.
type page struct {
	about    string   // what it is for, in a few sentences
	Examples []string // calls that parse as they stand, each with what it does after a "#"
	codes    []int    // exit codes beside 0, 1, 2 and 130, which every command has
	Left     string   // what an interruption leaves; leftNothing where it is empty
}

// What an interrupted command leaves.
const (
	LeftNothing = "Nothing was changed; the same call begins again."
	LeftFolder  = "The folder of --out is as it was; the same call begins again, and claims no second seat."
)

// codeMeanings are what the exit codes of the contract mean.
var codeMeanings = map[int]string{
	exit.Done:            "done",
	exit.Failed:          "failed; stderr says why",
	exit.Usage:           "the call was not understood, or --confirm was missing; nothing was done",
	exit.Refused:         "refused by the service: no seat, no licence, no permission",
	exit.NotFound:        "what was named is not known to the service",
	exit.Unauthenticated: "no token, or one that the service does not take",
	exit.Differ:          "inhibitors or differences were found",
	exit.NotCompared:     "nothing could be compared",
	exit.Interrupted:     "interrupted",
}

// everyCode are the exit codes that any command may have.
var everyCode = []int{exit.Done, exit.Failed, exit.Usage, exit.Interrupted}

// codesOf are the exit codes of a command, in order.
func codesOf(p page) []int {
	codes := slices.Concat(everyCode, p.codes)
	slices.Sort(codes)
	return codes
}

// Sections are the commands of the first page, in the order of work.
var Sections = []struct {
	title    string
	Commands []string
}{
	{"LOOK", []string{"releases", "assess", "readiness", "cve-scan", "advisories"}},
	{"MOVE", []string{"rehearse", "migrate", "data", "db"}},
	{"PROVE", []string{"verify", "drift", "attest"}},
	{"ACCOUNT", []string{"auth", "account", "enroll"}},
	{"AGENTS", []string{"mcp"}},
	{"HELP AND NEWS", []string{"ask", "report", "findings", "questions", "status", "whats-new", "updates", "version", "completion", "manual"}},
	{"SERVICE", []string{"serve", "admin"}},
}

// Pages are those of the manual of the commands, by the words that are typed.
var Pages = map[string]page{
	"svc": {
		about: "svc reads a Linux VM from the outside, plans its move to another release or family, writes the Ansible role that makes the move, and proves the result. It runs nothing of the machine that it reads. Without a server it uses the service that is built in.",
		Examples: []string{
			"svc assess --root /mnt/web1                                             # read a mounted disk",
			"svc migrate --root /mnt/web1 --target debian-13 --preflight             # plan the move; writes nothing, free",
			"svc migrate --root /mnt/web1 --target debian-13 --out web1 --confirm    # write the role and the report",
			"svc verify --ssh root@web1.new --source web1 --out proof                # compare the new machine with the plan",
		},
	},
	"svc releases": {
		about:    "Lists the releases that can be named as a target. The index knows the whole package list of some; what it does not know of the others is a question in the plan, never a guess.",
		Examples: []string{"svc releases", "svc releases --json"},
	},
	"svc assess": {
		about: "Reads packages, services, accounts, configuration, storage, network and databases, and lists findings by severity. The machine is only read: a folder or an image may be mounted read-only, and over ssh only files are read.",
		Examples: []string{
			"svc assess --root /mnt/web1 --target debian-13    # findings for a move to Debian 13",
			"svc assess --image web1.qcow2 --json              # a powered-off disk, for a program",
			"svc assess --ssh root@web1                        # a running machine",
		},
		codes: []int{exit.Differ},
	},
	"svc readiness": {
		about: "Assesses and plans each machine of a fleet and says which are ready, which need work, which are blocked and why, what they cost, and in which order to begin. It is free and claims no seat. With --out it writes a page for people; the same call goes on where it was interrupted, and reads again only what changed.",
		Examples: []string{
			"svc readiness --images /srv/images --target debian-13 --out fleet",
			"svc readiness --hosts fleet.txt --target rocky-9 --target debian-13 --parallel 8    # compare two targets",
		},
		codes: []int{exit.NotFound, exit.Unauthenticated, exit.Differ},
		Left:  "What was assessed is kept in the folder of --out, if there is one, and the same call goes on from there.",
	},
	"svc rehearse": {
		about: "Tries the move: boots a fresh root of the target apart from everything, applies the role by Ansible, with --with-data moves the data from the disk, reboots, and says function by function what runs, compared with a booted copy of the source. The machine is only read. It takes Ansible, and root with Linux 5.19. Without root it goes as far as user namespaces do: where no control group is yours nothing is started (level chroot), and what that leaves untried is said. What it makes of the target's release is kept, so that the next rehearsal is quick. Exit code 6: something does not run.",
		Examples: []string{
			"svc rehearse --root /mnt/web1 --target debian-13 --out tried --with-data",
			"svc rehearse --root /mnt/web1 --target debian-13 --out tried --fixes fixes    # what a person mends, tried again",
		},
		codes: []int{exit.Refused, exit.NotFound, exit.Unauthenticated, exit.Differ},
		Left:  "The machines that were booted are gone, and the folder of --out is as it was. A base of the target that was made whole is kept.",
	},
	"svc migrate": {
		about: "Plans the move of one machine: every package, service, account and file of configuration gets a row with a reason. With --confirm it writes a folder with the Ansible role, plan.json, report.html and a signed attestation, and claims the machine's licence seat. A preflight is free and writes nothing.",
		Examples: []string{
			"svc migrate --root /mnt/web1 --target debian-13 --preflight",
			"svc migrate --image web1.qcow2 --target rocky-9 --out web1 --confirm",
			"svc migrate --ssh root@web1 --target debian-13 --out web1 --include-secrets --confirm    # keys go along",
			"svc migrate --root /mnt/web1 --target debian-13 --fixes fixes --rehearsal tried --out web1 --confirm",
		},
		codes: []int{exit.Refused, exit.NotFound, exit.Unauthenticated, exit.Differ},
		Left:  LeftFolder,
	},
	"svc verify": {
		about: "Compares a migrated machine with its source and its plan, both ways: what is missing, and what is there that nobody announced. With --out it writes the parity report and has it signed.",
		Examples: []string{
			"svc verify --ssh root@web1.new --source web1 --out proof",
			"svc verify --root /mnt/new --source web1 --accept accepted.txt",
			"svc verify --root /mnt/new --source web1 --key colleague.pem    # a colleague made web1",
			"svc verify --hosts new.txt --source moves --parallel 8    # many machines",
		},
		codes: []int{exit.Refused, exit.NotFound, exit.Unauthenticated, exit.Differ},
		Left:  LeftFolder,
	},
	"svc drift": {
		about:    "Says what changed on a machine since it was verified. The machine must have a licence seat.",
		Examples: []string{"svc drift --ssh root@web1 --source proof", "svc drift --hosts all.txt --source proofs --parallel 8 --json"},
		codes:    []int{exit.Refused, exit.NotFound, exit.Unauthenticated, exit.Differ},
	},
	"svc cve-scan": {
		about:    "Compares the packages with a feed of security advisories. Without a feed for the machine's release nothing is compared, no seat is claimed, and the exit code is 7.",
		Examples: []string{"svc cve-scan --root /mnt/web1", "svc cve-scan --ssh root@web1 --target debian-13 --fail-on high    # what a move fixes"},
		codes:    []int{exit.Refused, exit.NotFound, exit.Unauthenticated, exit.Differ, exit.NotCompared},
	},
	"svc advisories": {about: "A feed of security advisories is what cve-scan and migrate compare packages with. It is a file among your own data; a server has its own."},
	"svc advisories update": {
		about: "Gets OSV's public exports for the releases of the machines that were assessed here, checks them, and puts the feed in the place of the one before. An interrupted download goes on where it stopped; what did not change is not fetched again. The new feed holds the sources of this call alone.",
		Examples: []string{
			"svc advisories update",
			"svc advisories update --release debian-12 --release rocky-9    # for these releases, whether assessed or not",
			"svc advisories update --source /srv/osv                        # without a network",
		},
		Left: "The feed is as it was; the same call goes on with what was downloaded.",
	},
	"svc data": {about: "Packages come back from archives; data do not. These commands find the data and plan their move."},
	"svc data discover": {
		about:    "Lists the places where a machine holds data, with sizes and what they belong to.",
		Examples: []string{"svc data discover --root /mnt/web1", "svc data discover --image web1.qcow2 --json"},
	},
	"svc data plan": {
		about:    "Writes a folder of numbered scripts that move the data: what to stop, copy, load, compare and start. Nothing is executed.",
		Examples: []string{"svc data plan --root /mnt/web1 --target debian-13 --out web1-data --source-offline --confirm"},
		codes:    []int{exit.NotFound, exit.Unauthenticated, exit.Differ},
		Left:     LeftFolder,
	},
	"svc db": {about: "Databases: what becomes of each in a move, the ways between versions, and the upgrade of one on this host."},
	"svc db plan": {
		about:    "Reads the databases' own files and ranks the ways to the target's version.",
		Examples: []string{"svc db plan --root /mnt/db1 --target debian-13"},
		codes:    []int{exit.NotFound, exit.Unauthenticated},
	},
	"svc db upgrade-path": {
		about:    "Ranks the ways from one version of a database to another, for no machine in particular.",
		Examples: []string{"svc db upgrade-path --engine postgresql --from 13 --to 17", "svc db upgrade-path --engine mysql --from 5.7 --to mariadb/10.11"},
		codes:    []int{exit.NotFound, exit.Unauthenticated},
	},
	"svc db upgrade": {
		about: "Upgrades a database of this host. It backs up first, keeps a journal, and every step can be undone. It is the one command that changes the machine that it looks at. Without --confirm it prints the plan.",
		Examples: []string{
			"svc db upgrade --engine postgresql --to 17 --backup-dir /srv/backup              # the plan",
			"svc db upgrade --engine postgresql --to 17 --backup-dir /srv/backup --confirm",
			"svc db upgrade --backup-dir /srv/backup --roll-back --confirm",
		},
		Left: "The journal in --backup-dir has every step: --resume goes on, --roll-back undoes.",
	},
	"svc attest": {about: "Attestations are signed statements about a folder that svc wrote."},
	"svc attest keys": {
		about:    "Prints the public keys of the service that you use, as PEM. A colleague who has them in a file checks what you made with --key FILE (attest verify, verify, drift).",
		Examples: []string{"svc attest keys"},
		codes:    []int{exit.Unauthenticated},
	},
	"svc attest verify": {
		about:    "Checks a signature offline, and that the folder holds the files that were signed and no others.",
		Examples: []string{"svc attest verify web1", "svc attest verify web1/attestation.dsse.json --key colleague.pem"},
	},
	"svc auth": {
		about:    "Stores the API token of a service in the system's keyring, or in a file of your own (0600) where there is none. A new token replaces the old one only after the service has accepted it.",
		Examples: []string{"svc auth --server https://svc.example.com -    # reads the token from stdin", "svc auth status"},
		codes:    []int{exit.Unauthenticated},
	},
	"svc account": {
		about:    "Shows the plan, licences and price of your account.",
		Examples: []string{"svc account", "svc account vms --limit 100 --json"},
		codes:    []int{exit.Unauthenticated},
	},
	"svc enroll": {
		about:    "Licenses a machine without moving it: it claims the machine's seat, so that drift and cve-scan can be used.",
		Examples: []string{"svc enroll --ssh root@web1"},
		codes:    []int{exit.Refused, exit.Unauthenticated},
	},
	"svc mcp": {
		about:    "Serves the tools to a coding agent over stdin and stdout. Clients start it; --print-config prints the lines for their configuration.",
		Examples: []string{"svc mcp --print-config --client claude-code", "svc mcp --read-only"},
	},
	"svc ask": {
		about:    "Answers from the guide. What the guide does not know is filed for the team of the service; without a server it stays on this machine.",
		Examples: []string{"svc ask --confirm 'What claims a licence seat?'"},
		codes:    []int{exit.Unauthenticated},
	},
	"svc report": {
		about:    "Files a finding for the team of the service. Names of machines, addresses, paths and secrets are removed before it is stored.",
		Examples: []string{"svc report --kind bug --title 'httpd is not found' --body - --confirm"},
		codes:    []int{exit.Unauthenticated},
	},
	"svc version": {
		about:    "Prints the version of the program, the commit that it was built from, and which index of packages it has, of which day. It asks nobody whether there is a newer one.",
		Examples: []string{"svc version --json"},
	},
	"svc completion": {
		about:    "The script completes commands, flags, files, and the values that svc knows: releases, clients, database engines and their versions.",
		Examples: []string{"svc completion bash"},
	},
	"svc manual": {
		about:    "The pages say what -h says.",
		Examples: []string{"svc manual --out man1"},
	},
	"svc serve": {
		about: "Runs the service: accounts, licences, index, signatures. SQLite by default; PostgreSQL for several replicas.",
		Examples: []string{
			"svc serve --listen 127.0.0.1:8443",
			"svc serve --db postgres://svc@db/svc --tls-cert cert.pem --tls-key key.pem --metrics-listen 127.0.0.1:9090",
		},
	},
	"svc admin": {
		about: "Commands of the people who run the service. They open the store directly, so they need no token.",
		Examples: []string{
			"svc admin account create --name 'Example Ltd' --plan pro",
			"svc admin token create --account 1",
			"svc admin backup --out svc-backup.db",
		},
		codes: []int{exit.NotFound},
	},
}

// environment are the variables that svc reads beside those of its settings, and
// that people look for.
var environment = []struct{ name, what string }{
	{"CREDENTIALS_DIRECTORY", "of a service that systemd started: svc.db, svc.signing-key, svc.tls-cert and svc.tls-key in it are these settings"},
	{"SVC_API_KEY", "the API token, in place of the stored one"},
	{"SVC_…", "any setting: SVC_SERVER for --server, SVC_DB for --db, SVC_JSON=1 for --json; a flag wins, the configuration file loses"},
	{"XDG_CONFIG_HOME", "where settings are, in svc/; likewise XDG_DATA_HOME for the store and keys, XDG_STATE_HOME for counters, XDG_CACHE_HOME for copies of archives"},
}
