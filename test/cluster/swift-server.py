"""
An S3-compatible service for tests, on the loopback interface: OpenStack Swift with its s3api, all its
servers in this one process, from Debian's package python3-swift. Prints its port, and ends with its
standard input. Its one argument is a folder on a file system with extended attributes: an empty one, or the one
of a server that has ended, whose objects it serves again.
"""

import os
import sys

import eventlet

eventlet.monkey_patch()

from eventlet import wsgi  # noqa: E402: after the patch, as all that follows
from swift.common import utils  # noqa: E402

folder = sys.argv[1]
utils.HASH_PATH_SUFFIX = b"quern"
utils.SWIFT_CONF_FILE = os.path.join(folder, "swift.conf")

from swift.common.ring import RingBuilder  # noqa: E402
from swift.common.wsgi import loadapp  # noqa: E402

STORAGE = """
[DEFAULT]
devices = {folder}
mount_check = false
[pipeline:main]
pipeline = app
[app:app]
use = egg:swift#{kind}
"""

PROXY = """
[DEFAULT]
swift_dir = {folder}
[pipeline:main]
pipeline = catch_errors gatekeeper bulk s3api tempauth slo dlo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:bulk]
use = egg:swift#bulk
[filter:s3api]
use = egg:swift#s3api
s3_acl = false
location = us-east-1
max_bucket_listing = 50
[filter:tempauth]
use = egg:swift#tempauth
user_quern_test = secret .admin
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
"""


class Cache(dict):
    """The part of memcached that the servers use."""

    def __bool__(self):
        return True  # an empty cache counts, too

    def set(self, key, value, **_):
        self[key] = value

    def incr(self, key, delta=1, **_):
        self[key] = self.get(key, 0) + delta
        return self[key]

    def delete(self, key, **_):
        self.pop(key, None)


def load(name, text, **fields):
    path = os.path.join(folder, name + ".conf")
    with open(path, "w") as file:
        file.write(text.format(folder=folder, **fields))
    return loadapp(path)


def listen():
    return eventlet.listen(("127.0.0.1", 0))


def serve(socket, app):
    eventlet.spawn(wsgi.server, socket, app, log=open(os.devnull, "w"), log_output=False)


os.makedirs(os.path.join(folder, "disk"), exist_ok=True)
storage = {kind: listen() for kind in ("account", "container", "object")}
for kind, socket in storage.items():
    ring = RingBuilder(part_power=2, replicas=1, min_part_hours=0)
    place = {"ip": "127.0.0.1", "port": socket.getsockname()[1], "device": "disk"}
    ring.add_dev({"id": 0, "region": 1, "zone": 1, "weight": 1.0, **place})
    ring.rebalance()
    ring.get_ring().save(os.path.join(folder, kind + ".ring.gz"))
    serve(socket, load(kind, STORAGE, kind=kind))

proxy, cache = load("proxy", PROXY), Cache()


def front(environ, start_response):
    environ["swift.cache"] = cache
    return proxy(environ, start_response)


door = listen()
serve(door, front)
print(door.getsockname()[1], flush=True)
eventlet.tpool.execute(sys.stdin.read)
