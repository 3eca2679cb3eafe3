#!/usr/bin/python
"""Sets services of OpenRC as they were on the source, and starts, once, what the role configured.

A service is started again where a file of its package, or the service itself, was
written after it started; so a run that ended midway is made good by the next, and one
that changes nothing starts nothing. What does not run is said and fails nothing: it may
wait for data that are not here yet.
"""

import glob
import os

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = """
module: svc_services
short_description: Sets services of OpenRC, and starts what was configured
description: Adds services to the runlevel default, deletes them from all, and starts those whose configuration is newer than they are.
options:
  services:
    description: Services with name, was (their name on the source), state (enabled, disabled, masked) and own (written on the machine).
    type: list
    elements: dict
    required: true
  paths:
    description: What the role writes.
    type: list
    elements: str
    required: true
  at_boot:
    description: Services that are never started here.
    type: list
    elements: str
    required: true
  reloaded:
    description: Services that read their configuration again without a stop.
    type: list
    elements: str
    required: true
author: svc
"""

RETURN = """
services:
  description: What was set or started.
  type: list
  returned: always
notes:
  description: What a person should know.
  type: list
  returned: always
"""

SCRIPTS, RUNLEVELS, STARTED = "/etc/init.d", "/etc/runlevels", "/run/openrc/started"
DATABASE = "/lib/apk/db/installed"
SHARED = 8  # a folder of more packages than this is nobody's


def packages(database=DATABASE):
    """The packages of each path of /etc, and the services of each package: those of
    NAME-openrc are those of NAME."""
    owners, services = {}, {}
    if not os.path.exists(database):
        return owners, services
    package, folder = "", ""
    with open(database, "rb") as book:
        for line in book.read().decode("utf-8", "replace").split("\n"):
            key, _, value = line.partition(":")
            if key == "P":
                package = value[:-7] if value.endswith("-openrc") else value
            elif key == "F":
                folder = "/" + value
                if folder.startswith("/etc/"):
                    owners.setdefault(folder, set()).add(package)
            elif key == "R" and folder == SCRIPTS:
                services.setdefault(package, set()).add(value)
            elif key == "R" and (folder + "/").startswith("/etc/"):
                owners.setdefault(folder + "/" + value, set()).add(package)
    return owners, services


def concerned(path, owners, services):
    """The services that a path of the role is about."""
    folder, name = os.path.split(path)
    if folder in (SCRIPTS, "/etc/conf.d"):
        return {name}
    while path.count("/") > 1:
        by = owners.get(path, set())
        if by:
            return set().union(*[services.get(p, set()) for p in by]) if len(by) <= SHARED else set()
        path = os.path.dirname(path)
    return set()


def written(path):
    """When a path, or the folder that it is gone from, was last written."""
    while not os.path.lexists(path):
        path = os.path.dirname(path)
    return os.lstat(path).st_ctime


class Services:
    """The role's services on this machine."""

    def __init__(self, module):
        self.module = module
        self.runs = os.path.isdir(STARTED)
        self.changed, self.notes, self.wanted = [], [], []

    def levels(self, name):
        """The runlevels that a service is in."""
        return [os.path.basename(os.path.dirname(p)) for p in glob.glob("%s/*/%s" % (RUNLEVELS, glob.escape(name)))]

    def call(self, *command):
        code, out, err = self.module.run_command(list(command))
        return code, (err or out).strip()

    def set_all(self):
        for service in self.module.params["services"]:
            name = next((n for n in (service["name"], service["was"]) if os.path.exists(os.path.join(SCRIPTS, n))), None)
            if name is not None:
                self.set(name, service["state"])
            elif service["state"] == "enabled":
                self.notes.append("%s is not here, so it could not be enabled" % service["name"])

    def set(self, name, state):
        """Bring a service to a state; what is not to run is stopped. There is no mask: what is masked is in no runlevel."""
        levels = self.levels(name)
        if state == "enabled":
            self.wanted.append(name)
        if (state == "enabled") == bool(levels):
            return
        if not self.module.check_mode:
            command = ["rc-update", "add", name, "default"] if state == "enabled" else ["rc-update", "-a", "del", name]
            code, said = self.call(*command)
            if code != 0:
                self.notes.append("%s could not be %s: %s" % (name, state, said))
                return
            if state != "enabled" and self.runs:
                self.call("rc-service", name, "stop")
        self.changed.append("%s: %s" % (name, state))

    def start(self):
        """Start what should run, and again what is older than its configuration."""
        owners, services = packages()
        newest = {}
        for path in self.module.params["paths"]:
            for name in concerned(path, owners, services):
                newest[name] = max(newest.get(name, 0), written(path))
        for name in sorted(set(newest).union(self.wanted) - set(self.module.params["at_boot"])):
            command = self.command(name, newest.get(name, 0))
            if command:
                code, said = self.call("rc-service", name, command)
                if code == 0:
                    self.changed.append("%s: %s" % (name, command))
                else:
                    self.notes.append("%s does not run yet: %s" % (name, said.split("\n")[-1] or "rc-service %s %s" % (name, command)))

    def command(self, name, newest):
        """What a service needs so that it runs with its configuration, or nothing."""
        since = os.path.join(STARTED, name)
        if os.path.lexists(since):
            again = "reload" if name in self.module.params["reloaded"] else "restart"
            return again if newest > os.lstat(since).st_ctime else None
        return "start" if name in self.wanted and os.path.exists(os.path.join(SCRIPTS, name)) else None


def main():
    module = AnsibleModule(argument_spec={
        "services": {"type": "list", "elements": "dict", "required": True},
        "paths": {"type": "list", "elements": "str", "required": True},
        "at_boot": {"type": "list", "elements": "str", "required": True},
        "reloaded": {"type": "list", "elements": "str", "required": True},
    }, supports_check_mode=True)
    services = Services(module)
    services.set_all()
    if services.runs and not module.check_mode:
        services.start()
    elif not services.runs:
        services.notes.append("OpenRC does not run here, so nothing was started")
    module.exit_json(changed=bool(services.changed), services=services.changed, notes=services.notes)


if __name__ == "__main__":
    main()
