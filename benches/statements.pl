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
        my ($names, $values, $index) = ($1, $2, 0);
        my @names = $names =~ /"(\w+)"/g;
        $column{$1} = $names[ $index++ % @names ] while $values =~ /\$(\d+)/g;
    } else {
        $column{$2} = $1 while $text =~ /"(\w+)" = \$(\d+)/g;
    }
    return map { $_ => "$table.$column{$_}" } keys %column;
}

sub literal { my ($value) = @_; return 'NULL' unless defined $value; $value =~ s/'/''/g; return "'$value'" }

# Where nothing but the value tells its type: numbers and truth values as they are (pgbench binds 255 values at the
# most), ids with a cast.
sub typed {
    my ($value, $place) = @_;
    return $value =~ /^\d+$/ ? $value : $value =~ /^[tf]$/ ? "'$value'::boolean" : "$place\::uuid";
}

sub for_pgbench {
    my ($text, @values) = @_;
    my %column = columns($text);
    my $has_list = $text =~ /FROM \(VALUES /;
    $text =~ s{\$(\d+)}{
        my ($value, $expression) = ($values[$1 - 1], $rule{ $column{$1} // '' });
        my $place = defined $value ? ':' . ($variable{$value} //= 'p' . keys %variable) : 'NULL';
        defined $expression ? $expression : $has_list && defined $value ? typed($value, $place) : $place
    }ge;
    print $text, ($text =~ /FOR UPDATE$/ ? " \\gset\n" : ";\n");
}

sub for_explain {
    my ($text, @values) = @_;
    return unless $text =~ /^SELECT/ && @values;
    my ($name, $used) = ('s' . ++$variable{count}, join ', ', map { literal($_) } @values);
    print "PREPARE $name AS $text;\nEXPLAIN (ANALYZE, BUFFERS, TIMING OFF, SUMMARY OFF) EXECUTE $name ($used);\n";
}

for (@statements) { $mode eq 'explain' ? for_explain(@$_) : for_pgbench(@$_) }

if ($mode eq 'pgbench') {
    open my $args, '>', $args_file or die "statements.pl: $args_file: $!\n";
    print $args "-D\0$variable{$_}=$_\0" for sort keys %variable;
}
