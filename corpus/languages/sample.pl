#!/usr/bin/perl
use v5.38;
use warnings;
use constant LIMIT => 10;
use constant { WIDTH => 80, HEIGHT => 25 };
use experimental 'class';

package Shop::Order;

our $VERSION = '1.02';
our @EXPORT_OK = qw(total);
our %defaults = (currency => 'EUR');
my $count = 0;

sub new {
    my ($class, %args) = @_;
    my $self = { %args };
    return bless $self, $class;
}

sub total($self, $rate = 1) {
    my $sum = 0;
    $sum += $_->{price} for @{ $self->{items} };
    my $closure = sub { return $sum * $rate };
    return $closure->();
}

sub _private { $count++ }

sub declared;

# sub in_a_comment { }
my $text = <<"TEXT";
sub in_a_text { }
TEXT

=pod

sub in_documentation { }

=cut

package Shop::Stock {
    our $size = 3;

    sub add {
        my ($self, $item) = @_;
        push @{ $self->{items} }, $item;
        return $self;
    }
}

package main;

my sub lexical ($x) { return $x + 1 }

BEGIN { my $early = 1; $count = $early }

if ($count) {
    my $conditional = 1;
    for my $each (1 .. $conditional) { my $inner = $each }
}

my $match = 'abc' =~ m{^a(?<rest>\w+)$}x ? 1 : 0;
my @sorted = sort { $a cmp $b } keys %defaults;
print Shop::Order::total(1), "\n";

1;
