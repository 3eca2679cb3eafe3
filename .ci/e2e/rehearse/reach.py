# What a hostile machine does then: it connects to what listens on the host, and holds on to
# programs of the host that come in to ask.
import ctypes, os, socket, time, urllib.request
out = open('/var/lib/escape', 'a', buffering=1)
def reached(name, way):
    try:
        way()
        print('OUT', name, file=out)
    except OSError:
        pass
for name in ('\0svc-e2e-host', '/tmp/svc-e2e-host', '/run/dbus/../../tmp/svc-e2e-host'):
    reached('socket ' + name[1:], lambda: socket.socket(socket.AF_UNIX).connect(name))
reached('port', lambda: socket.create_connection(('127.0.0.1', 34567), 2))
for address in ('http://127.0.0.1:34567/', 'http://localhost:34567/', 'https://127.0.0.1:34567/'):
    proxy = urllib.request.build_opener(urllib.request.ProxyHandler({'http': 'http://127.0.0.1:3142', 'https': 'http://127.0.0.1:3142'}))
    reached('proxy to ' + address, lambda: proxy.open(address, timeout=3))
for kind in (socket.AF_NETLINK, 40):  # 40: to the hypervisor
    reached('kernel socket', lambda: socket.socket(kind, socket.SOCK_DGRAM if kind == 16 else socket.SOCK_STREAM, 31 if kind == 16 else 0).connect((0, 0) if kind == 16 else (2, 1024)))
# Is a program of the host left that can be written to, or held?
libc, held, end = ctypes.CDLL(None), {}, time.time() + 60
while time.time() < end:
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            if pid not in held and os.stat(f'/proc/{pid}/exe').st_uid == 65534:
                held[pid] = os.open(f'/proc/{pid}/exe', os.O_PATH)
                libc.ptrace(16, int(pid), 0, 0)  # attach
            if pid in held and os.stat(f'/proc/{pid}/root/var/lib/svc-e2e-host'):
                print('OUT root of', pid, file=out)
        except OSError:
            pass
    for pid, fd in held.items():
        reached('program', lambda: os.open(f'/proc/self/fd/{fd}', os.O_WRONLY | os.O_NONBLOCK))
print('reached', file=out)
