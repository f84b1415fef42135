/**
 * Lists words of questions that say little about code, and words that programmers use for one another. These lists are
 * used only when a question is answered, so a change needs no new index.
 */

import { stemOf } from "./stems.ts";

/** Words that say nothing about the code that is searched for. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    "a about all an and any are as at be been before being between but by can could did do does doing " +
    "done during each either etc every find for from get gets given has have having here how i if in " +
    "instead into is it its itself let like locate look make makes many me more most my no not of off " +
    "on once one only onto or other our out over own per please same shall she should show so some " +
    "such take takes than that the their them then there these they this those through to too under " +
    "until up upon us use used uses using various very via was way we were what when where whether " +
    "which while who whose why will with within without would you your"
  ).split(" "),
);

/** Words that are in so many questions about code that they say little. */
export const WEAK_WORDS: ReadonlySet<string> = new Set(
  (
    "actual api base based behavior behaviour class classes code component core custom defined " +
    "defines definition different entire functionality function functions general handle handled " +
    "handles handling helper helpers implement implementation implementations implemented implements " +
    "implementing internal internally library logic main manage managed management manages mechanism " +
    "method methods module object objects operation operations perform performed performs process " +
    "processing project provide provided provides related responsible specific representation struct " +
    "interface trait type types pattern structure support supported supports system utilities utility " +
    "util utils work working works"
  ).split(" "),
);

/** Groups of words. Programmers may write any word of a group for any other. */
const GROUPS = `
abort cancel
acl permission authorization
add append insert push
address addr
allocate alloc malloc
alternative fallback
application app
argument arg args
array list vector slice
assert expect
async asynchronous
attribute attr
authenticate auth login
authorize auth
average avg mean
background bg
back-end backend
batch bulk
begin start
boolean bool
buffer buf
build compile
cache memo memoize
calculate compute calc
callback hook handler listener
certificate cert
change update modify edit mutate
character char
check validate verify
clean cleanup purge
clear reset flush
client consumer
close shutdown dispose
collection list set
color colour
column col
command cmd
comment remark
communication comm
compare diff equal
concurrent parallel
condition predicate
config configuration conf cfg setting option preference
connection conn
constant const
construct constructor create build make new
container box
context ctx
control ctrl
convert transform coerce cast
coordinate coord
copy clone duplicate
count counter number num
create new make init
current cur curr
data payload
database db
date time datetime
debug dbg
decimal numeric number
declaration decl
default fallback
delay sleep wait timeout
delete remove del destroy drop erase unlink
dependency dep dependencies deps
deserialize unmarshal decode parse unpickle
destination dst dest target
device dev
dictionary dict map hash
difference diff
directory dir folder
dispatch emit fire trigger
display show render print
distribute shard
document doc docs
duration interval period
element elem item entry
encrypt crypto cipher
enumerate enum iterate
environment env
error err exception failure fail panic
escape quote sanitize
evaluate eval
event signal
example sample demo
execute exec run invoke
expire ttl expiration
explicit manual
expression expr
extension ext plugin addon
extract pull
fetch download retrieve load
field property column attribute
file path
filesystem fs
filter select where
find search lookup locate
flag option switch
format fmt stringify
frequency freq
function func fn
garbage gc
generate gen
global shared
graph dag
group cluster bucket
hash digest checksum
header hdr
height depth
hierarchy tree
hostname host domain
identifier id ident
ignore skip exclude
image img picture
implement impl
import require include
index idx
information info
inherit extend derive
initialize init setup bootstrap
inject injection di
insert add
instance inst
integer int
interface contract protocol
interpolate template
iterate iterator loop traverse walk each
join merge concat combine
json javascript
kill terminate
language lang locale
large big
last tail
length len size
level lvl
library lib
limit max maximum cap throttle
link href url
listen bind serve
load read
lock mutex semaphore
log logger logging trace
maximum max
measure metric stat
memory mem
merge join combine
message msg
metadata meta
middleware interceptor filter pipeline
migrate migration upgrade
minimum min
modify mutate patch
monitor watch observe
multiple multi
multiply mul
mutual mutex
name label
navigate route
network net
normalize canonical
notify broadcast publish emit
number num numeric
object obj
observe watch subscribe
offset position pos
operator op
optimize optimise
option opt
order sort
organization org
original orig
output out
package pkg
page paginate pagination cursor
parallel concurrent
parameter param params
parent ancestor
parse parser decode read
password passwd pwd
path route
pattern regex regexp glob
permission perm acl
persist save store
pointer ptr
pool worker
position pos offset
predicate condition matcher
prefix namespace
previous prev
priority rank
private internal
process proc
production prod
property prop
protocol proto
proxy delegate forward
queue fifo backlog
random rand
receive recv
record row
recover rescue
recursive recurse
redirect forward location
reference ref
register registry subscribe
regular regex
release free
relative rel
remove delete
rename move
repeat retry
repository repo
request req
require need
resolve lookup
resource res
response resp res reply
result res ret
retrieve get fetch
retry backoff attempt
return ret yield
reverse invert
rotate rollover
round truncate
route router endpoint path url
routine procedure
sanitize escape
schedule cron timer
schema model
search query find
secret credential token
section segment
select choose pick
send write emit transmit
separator delimiter sep
sequence seq
serialize marshal encode dump stringify
server daemon
service svc
session sess
shell bash sh
signature sign
simple basic
size length
source src
spawn fork
specification spec
split tokenize partition
standard std
start launch boot
state status
statement stmt
static const
statistic stat stats
store storage repository persist
stream pipe
string str text
structure struct
subtract sub
suffix ending
symbol sym
synchronize sync
synchronous sync
system sys
table tbl
temporary temp tmp
terminal tty console
terminate exit
test spec
text string
thread worker
throttle debounce ratelimit
throw raise
timeout deadline
timestamp time
token lexer
toggle switch
tokenize lex scanner
transaction tx txn
transform convert map
transport connection
traverse walk visit
tree node
truncate trim
type kind
unicode utf
unique distinct
unit test
unsubscribe detach
update upsert
upload multipart
uri url
user account
utility util
value val
variable var
vector vec
verify validate check
version ver semver
view template
virtual vm
visitor traverse
wait await sleep
warning warn
watch observe
weight priority
wildcard glob
window win
wrap wrapper decorate
write output
`;

/** The stems that programmers use in place of each stem. */
export const SYNONYMS: ReadonlyMap<string, ReadonlySet<string>> = synonyms();

function synonyms(): Map<string, Set<string>> {
  const all = new Map<string, Set<string>>();
  for (const group of GROUPS.trim().split("\n")) {
    const stems = new Set(group.split(" ").map(stemOf));
    for (const stem of stems) {
      const others = all.get(stem) ?? new Set<string>();
      for (const other of stems) if (other !== stem) others.add(other);
      all.set(stem, others);
    }
  }
  return all;
}
