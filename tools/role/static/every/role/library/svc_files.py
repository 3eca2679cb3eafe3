#!/usr/bin/python
"""Puts folders, files and links in place, out of the archive that the action of the same name sends.

Their names and contents are data: no shell and no template sees them. A file is
complete, with its owner and mode, before it has its name; so nobody can read what
is closed to them, and a run that ends midway leaves whole files.
"""

import grp
import gzip
import json
import os
import pwd
import stat
import tarfile
import tempfile

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = """
module: svc_files
short_description: Puts folders, files and links in place
description: Makes what is not there, changes what differs, and leaves the rest; what fails is said when all else is done.
options:
  archive:
    description: The archive, on the machine.
    type: path
    required: true
author: svc
"""

RETURN = """
paths:
  description: What was changed.
  type: list
  returned: always
notes:
  description: What a person should know.
  type: list
  returned: always
errors:
  description: What could not be done.
  type: list
  returned: always
"""

class Files:
    """The entries of an archive, on this machine."""

    def __init__(self, module, archive):
        self.module, self.archive = module, archive
        self.members = {m.name: m for m in archive.getmembers()}
        self.manifest = json.loads(self.content("manifest").read().decode())
        self.users = {u.pw_name: u.pw_uid for u in pwd.getpwall()}
        self.groups = {g.gr_name: g.gr_gid for g in grp.getgrall()}
        self.paths, self.notes, self.errors = [], [], []

    def apply(self):
        for kind in ("directories", "logs", "files", "links", "disabled", "removed"):
            for number, entry in enumerate(self.manifest[kind]):
                entry = {"path": entry} if isinstance(entry, str) else entry
                place = entry.get("dest") or entry.get("path")
                try:
                    if getattr(self, kind)(place.encode(), entry, number):
                        self.paths.append(place)
                except (OSError, ValueError) as fault:
                    self.errors.append("%s: %s" % (place, fault))

    def content(self, name):
        return self.archive.extractfile(self.members[str(name)])

    def access(self, entry):
        """The ids and mode of an entry; whom the machine does not know is root."""
        owner, group = entry["owner"], entry["group"]
        return self.users.get(owner, 0), self.groups.get(group, 0), int(entry["mode"], 8)

    def strangers(self, entry):
        """Say whose an entry is, where the machine does not know them."""
        if not self.module.check_mode and (entry["owner"] not in self.users or entry["group"] not in self.groups):
            place = entry.get("dest") or entry.get("path")
            self.notes.append("%s belongs to %s:%s on the source, whom this machine does not know: it is root's" % (place, entry["owner"], entry["group"]))

    def directories(self, path, entry, _):
        uid, gid, mode = self.access(entry)
        try:
            now = os.stat(path)
        except FileNotFoundError:
            self.strangers(entry)
            return self.make(path, uid, gid, mode)
        if not stat.S_ISDIR(now.st_mode):
            raise ValueError("it is there, and no folder")
        if not entry["own"]:
            return False
        self.strangers(entry)
        if same(now, uid, gid, mode):
            return False
        return self.module.check_mode or give(path, uid, gid, mode)

    def logs(self, path, entry, _):
        """Make an empty log, where there is none: what watches it does not start without."""
        if os.path.lexists(path) or not os.path.isdir(os.path.dirname(path)):
            return False
        if self.module.check_mode:
            return True
        uid, gid, mode = self.access(entry)
        log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        try:
            os.fchown(log, uid, gid)
            os.fchmod(log, mode & 0o777)
        finally:
            os.close(log)
        return True

    def make(self, path, uid, gid, mode):
        """Make a folder, and those above it that are not there."""
        if self.module.check_mode:
            return True
        above = os.path.dirname(path)
        if not os.path.isdir(above):
            self.make(above, 0, 0, 0o755)
        os.mkdir(path, 0o700)
        return give(path, uid, gid, mode)

    def files(self, path, entry, number):
        if entry.get("spare") and os.path.lexists(path):
            return False
        uid, gid, mode = self.access(entry)
        self.strangers(entry)
        if is_file(path, uid, gid, mode, self.content(number)):
            return False
        if os.path.isdir(path) and not os.path.islink(path):
            raise ValueError("it is a folder here")
        if self.module.check_mode:
            return True
        handle, beside = tempfile.mkstemp(prefix=b".svc-", dir=os.path.dirname(path))
        try:
            with os.fdopen(handle, "wb") as out:
                copy(self.content(number), out)
                os.fchown(out.fileno(), uid, gid)
                os.fchmod(out.fileno(), mode)
            self.validate(path, beside)
            os.rename(beside, path)
        except BaseException:
            os.unlink(beside)
            raise
        return True

    def validate(self, path, beside):
        """Have a file looked at by its program, before it takes its place."""
        for rule in self.manifest["validate"]:
            if rule["path"].encode() in (path, os.path.dirname(path)):
                code, out, err = self.module.run_command(rule["command"] + [beside.decode()])
                if code != 0:
                    raise ValueError("%s does not take it, so it was not put in place: %s" % (rule["command"][0], (err or out).strip()))

    def links(self, path, entry, _):
        target = entry["target"].encode()
        if not entry["awaits"] and not os.path.exists(os.path.join(os.path.dirname(path), target)):
            if not self.module.check_mode:
                self.notes.append("%s is not made: it would lead to %s, which is not here" % (entry["path"], entry["target"]))
            return False
        if os.path.islink(path) and os.readlink(path) == target:
            return False
        if os.path.isdir(path) and not os.path.islink(path):
            raise ValueError("it is a folder here, and a link on the source")
        if self.module.check_mode:
            return True
        folder = tempfile.mkdtemp(prefix=b".svc-", dir=os.path.dirname(path))
        try:
            os.symlink(target, os.path.join(folder, b"link"))
            os.rename(os.path.join(folder, b"link"), path)
        finally:
            os.rmdir(folder)
        return True

    def disabled(self, path, entry, _):
        return os.path.islink(path) and self.removed(path, entry, _)

    def removed(self, path, _, __):
        if not os.path.lexists(path):
            return False
        if os.path.isdir(path) and not os.path.islink(path):
            raise ValueError("it is a folder here, and was a file on the source")
        if not self.module.check_mode:
            os.unlink(path)
        return True


def same(now, uid, gid, mode):
    return (now.st_uid, now.st_gid, stat.S_IMODE(now.st_mode)) == (uid, gid, mode)


def give(path, uid, gid, mode):
    """Give a folder its owner and mode, and nobody more than that on the way."""
    os.chmod(path, mode & stat.S_IMODE(os.stat(path).st_mode) & 0o777)
    os.chown(path, uid, gid)
    os.chmod(path, mode)
    return True


def is_file(path, uid, gid, mode, content):
    try:
        now = os.lstat(path)
    except FileNotFoundError:
        return False
    if not stat.S_ISREG(now.st_mode) or not same(now, uid, gid, mode):
        return False
    with open(path, "rb") as there:
        while True:
            a, b = content.read(1 << 16), there.read(1 << 16)
            if a != b:
                return False
            if not a:
                return True


def copy(content, out):
    for part in iter(lambda: content.read(1 << 16), b""):
        out.write(part)


def main():
    module = AnsibleModule(argument_spec={"archive": {"type": "path", "required": True}}, supports_check_mode=True)
    os.umask(0o077)
    with gzip.open(module.params["archive"]) as packed, tempfile.TemporaryFile(dir=module.tmpdir) as plain:
        copy(packed, plain)
        plain.seek(0)
        with tarfile.open(fileobj=plain) as archive:
            files = Files(module, archive)
            files.apply()
    module.exit_json(changed=bool(files.paths), paths=files.paths, notes=files.notes, errors=files.errors,
                     diff={"prepared": "".join("%s\n" % path for path in files.paths)})


if __name__ == "__main__":
    main()
