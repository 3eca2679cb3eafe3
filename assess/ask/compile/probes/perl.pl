# Has this perl compile programs, each by itself (perl -c), and looks for the modules that they
# load as they run. PROBE_RUNS is empty where nothing of them may run: then it looks for all.
use strict;
use warnings;
my $runs = shift @ARGV;
sub say_ { my @c = @_; s/[\t\r\n]+/ /g for @c; print join("\t", map { substr $_, 0, 400 } @c), "\n" }
$| = 1;
sub text { my ($name) = @_; open my $f, '<', $name or return (); my @l = <$f>; return @l }
sub found { my ($module, @more) = @_; (my $rel = $module) =~ s{::}{/}g; for my $d (@more, grep { !ref } @INC) { return "$d/$rel.pm" if -f "$d/$rel.pm" } return '' }

sub compile_ {
	my ($n, $name, @lines) = @_;
	my ($folder) = $name =~ m{^(.*)/};
	my @flags = @lines && $lines[0] =~ /^#!.*perl\S*\s+(?:-\w*\s+)*-\w*?([tT])/ ? ("-$1") : ();
	if ($name =~ /\.pm$/) {
		my ($package) = map { /^\s*package\s+([\w:]+)/ ? $1 : () } @lines;
		(my $rel = ($package || '') . '.pm') =~ s{::}{/}g;
		push @flags, '-I', substr($name, 0, -length($rel) - 1) if $name =~ m{/\Q$rel\E$};
	}
	my $pid = open my $said, '-|';
	return unless defined $pid;
	if (!$pid) {
		open STDERR, '>&', \*STDOUT;
		open STDIN, '<', '/dev/null';
		chdir $folder;
		alarm 10;
		exec $^X, @flags, '-c', $name or exit 1;
	}
	my @said = <$said>;
	close $said;
	return if $? == 0;
	my ($first) = grep { /\S/ && !/^(?:BEGIN failed|Compilation failed|\S+ had )/ } @said;
	$first = "ended with status $?" unless defined $first;
	for (@said) { $first = $_, last if /^Can't locate / }
	my $line = $first =~ /\bat \Q$name\E line (\d+)/ ? $1 : 0;
	if (!$line) { for (@said) { $line = $1, last if /\bat \Q$name\E line (\d+)/ } }
	if ($first =~ m{^Can't locate (\S+)\.pm in }) {
		(my $module = $1) =~ s{/}{::}g;
		$first =~ s/ \(you may need.*//s;
		say_($n, $line, 'module', $module, $first);
	} else {
		say_($n, $line, 'syntax', '', $first);
	}
}

for my $n (0 .. $#ARGV) {
	my $name = $ARGV[$n];
	my @lines = text($name);
	my ($folder) = $name =~ m{^(.*)/};
	my @more;
	my ($line, $pod) = (0, 0);
	my %seen;
	compile_($n, $name, @lines) if $runs eq 'yes';
	for (@lines) {
		$line++;
		last if /^__(?:END|DATA)__/;
		$pod = 1 if /^=[a-z]/;
		$pod = 0, next if /^=cut/;
		next if $pod;
		push @more, $1 if /^\s*use\s+lib\s+(?:q[qw]?\s*)?['"(]+([^'")]+)/;
		next unless /^\s*(use|require)\s+([A-Za-z]\w*(?:::\w+)*)\s*([;\s(]|$)/ && $2 ne 'lib' && $2 ne 'v5';
		my ($how, $module) = ($1, $2);
		next if $seen{$module}++ || $how eq 'require' && $module !~ /^[A-Z]/;
		my $at = found($module, @more);
		if ($at) { say_($n, $line, 'has', $module, $at) }
		elsif ($how eq 'require' || $runs ne 'yes') { say_($n, $line, 'module', $module, "Can't locate $module") }
	}
	say_($n, 0, 'asked', '', '');
}
