#!/usr/bin/env perl
# From what PostgreSQL logged of one request, statement by statement, to the same SQL for pgbench or for EXPLAIN.
#
#   statements.pl pgbench ARGS_FILE [TABLE.COLUMN=EXPRESSION…] < server.log > script.sql
#       each value becomes a variable, which pgbench binds as the server did; ARGS_FILE gets the -D options that
#       set them, ended by NULs. An EXPRESSION takes the place of every value of a column, for what has to differ
#       from run to run. The columns of a row that is locked are set as variables as well.
#   statements.pl explain < server.log > script.sql
#       EXPLAIN (ANALYZE, BUFFERS) of each SELECT, with its values.
use strict;
use warnings;

my ($mode, $args_file, @rules) = @ARGV;
my %rule = map { split /=/, $_, 2 } @rules;
my (%variable, @statements);

# [text, value…] of each statement; undef is NULL.
while (<STDIN>) {
    chomp;
    if (/^LOG:  (?:execute [^:]+|statement): (.*)/) {
        push @statements, [$1];
    } elsif (/^DETAIL:  parameters: (.*)/i && @statements) {
        my $list = $1;
        while ($list =~ /\G(?:, )?\$\d+ = (?:NULL|'((?:[^']|'')*)')/g) {
            my $value = $1;
            $value =~ s/''/'/g if defined $value;
            push @{ $statements[-1] }, $value;
        }
    } elsif (s/^\t// && @statements && @{ $statements[-1] } == 1) {
        $statements[-1][0] .= "\n$_";
    }
}
@statements or die "statements.pl: the log has no statement\n";

# Which column the values of a statement belong to, as far as its text says.
sub columns {
    my ($text) = @_;
    my ($table) = $text =~ /(?:INTO|UPDATE|FROM) "(\w+)"/;
    my %column;
    if ($text =~ /^INSERT INTO "\w+" \(([^)]*)\) VALUES (.*)/s) {
        my @names = $1 =~ /"(\w+)"/g;
        my $index = 0;
        $column{$1} = $names[ $index++ % @names ] while $2 =~ /\$(\d+)/g;
    } else {
        $column{$2} = $1 while $text =~ /"(\w+)" = \$(\d+)/g;
    }
    return map { $_ => "$table.$column{$_}" } keys %column;
}

sub literal { my ($value) = @_; return 'NULL' unless defined $value; $value =~ s/'/''/g; return "'$value'" }

sub for_pgbench {
    my ($text, @values) = @_;
    my %column = columns($text);
    $text =~ s{\$(\d+)(?= AS )}{literal($values[$1 - 1]) . '::int'}ge;
    $text =~ s{\$(\d+)}{
        my ($value, $expression) = ($values[$1 - 1], $rule{ $column{$1} // '' });
        defined $expression ? $expression
            : defined $value ? ':' . ($variable{$value} //= 'p' . keys %variable)
            : 'NULL'
    }ge;
    print $text, ($text =~ /FOR UPDATE$/ ? " \\gset\n" : ";\n");
}

sub for_explain {
    my ($text, @values) = @_;
    return unless $text =~ /^SELECT|^\(SELECT/ && @values;
    $text =~ s{\$(\d+)(?= AS )}{literal($values[$1 - 1]) . '::int'}ge;
    my @used;
    $text =~ s{\$(\d+)}{push @used, literal($values[$1 - 1]); '$' . @used}ge;
    my ($name, $used) = ('s' . ++$variable{count}, join ', ', @used);
    print "PREPARE $name AS $text;\nEXPLAIN (ANALYZE, BUFFERS, TIMING OFF, SUMMARY OFF) EXECUTE $name ($used);\n";
}

for (@statements) { $mode eq 'explain' ? for_explain(@$_) : for_pgbench(@$_) }

if ($mode eq 'pgbench') {
    open my $args, '>', $args_file or die "statements.pl: $args_file: $!\n";
    print $args "-D\0$variable{$_}=$_\0" for sort keys %variable;
}
