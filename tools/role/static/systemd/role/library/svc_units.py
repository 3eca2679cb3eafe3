#!/usr/bin/python
"""Sets units as they were on the source, and starts, once, what the role configured.

A service is started again where a file of its package, or its unit, was written
after it started: so a run that ended midway is made good by the next, and one that
changes nothing starts nothing. The machine's own units come last. What does not
run is said and fails nothing: it may wait for data that are not here yet.
"""

import glob
import os
import re
import shutil
import time

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = """
module: svc_units
short_description: Sets units, and starts what was configured
description: Enables, disables and masks units, and starts services whose configuration is newer than they are.
options:
  units:
    description: Units with name, was (their name on the source), state (enabled, disabled, masked) and own (written on the machine).
    type: list
    elements: dict
    required: true
  paths:
    description: What the role writes.
    type: list
    elements: str
    required: true
  at_boot:
    description: Patterns of units that are never started here.
    type: list
    elements: str
    required: true
  reloaded:
    description: Units that read their configuration again without a stop.
    type: list
    elements: str
    required: true
author: svc
"""

RETURN = """
units:
  description: What was set or started.
  type: list
  returned: always
notes:
  description: What a person should know.
  type: list
  returned: always
"""

FOLDERS = ["/etc/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"]
SHOWN = "Id,LoadState,ActiveState,SubState,Result,UnitFileState,Type,RemainAfterExit,ConditionResult,TriggeredBy,ActiveEnterTimestampMonotonic,StateChangeTimestampMonotonic"
SETTLE, PATIENCE = 2, 60  # seconds


class Machine:
    """What systemd and the package manager know."""

    def __init__(self, module):
        self.module = module
        self.runs = os.path.isdir("/run/systemd/system")
        self.aliases = aliases()

    def systemctl(self, *arguments):
        code, out, err = self.module.run_command(["systemctl", "--no-ask-password"] + list(arguments))
        return code, out.strip(), err.strip()

    def state(self, unit):
        """The state of a unit's file, or nothing where there is none."""
        out = self.systemctl("is-enabled", "--", unit)[1].split("\n")[-1]
        return "" if out == "not-found" else out

    def find(self, names):
        """The first unit of several names that is there, with its state."""
        for unit in [u for name in names for u in (name, self.aliases.get(name)) if u]:
            state = self.state(unit)
            if state == "alias":
                unit = real(unit)
                state = self.state(unit)
            if state:
                return unit, state
        return None, ""

    def show(self, units):
        """What systemd says of units, by the names that were asked for."""
        if not units:
            return {}
        blocks = self.systemctl("show", "--property=" + SHOWN, "--", *units)[1].split("\n\n")
        return {unit: dict(line.split("=", 1) for line in block.split("\n") if "=" in line) for unit, block in zip(units, blocks)}

    def settled(self, units):
        """Wait until units have come to rest, and say how they are."""
        end = time.monotonic() + PATIENCE
        time.sleep(SETTLE)
        while True:
            shown = self.show(units)
            now = time.monotonic()
            if now > end or not any(moves(state, now) for state in shown.values()):
                return shown
            time.sleep(0.25)


def moves(state, now):
    """Whether a unit is on its way to another state: one that is started again and again runs for moments."""
    if state.get("ActiveState") == "active":
        return now - float(state.get("ActiveEnterTimestampMonotonic") or 0) / 1e6 < SETTLE
    return state.get("SubState") != "auto-restart" and state.get("ActiveState") in ("activating", "deactivating", "reloading")


def real(unit):
    """The unit that another name of it leads to."""
    for folder in FOLDERS:
        path = os.path.join(folder, unit)
        if os.path.islink(path):
            return os.path.basename(os.path.realpath(path))
    return unit


def aliases():
    """Other names of units: they are no files until the unit is enabled."""
    names = {}
    for path in (p for folder in reversed(FOLDERS) for p in glob.glob(folder + "/*.*")):
        if os.path.islink(path) or not os.path.isfile(path):
            continue
        with open(path, "rb") as unit:
            for line in unit.read(1 << 20).decode("utf-8", "replace").split("\n"):
                if line.startswith("Alias="):
                    names.update((alias, os.path.basename(path)) for alias in line[6:].split())
    return names


def packages(module):
    """The packages of each path of /etc and the units of each package."""
    owners, units = {}, {}

    def add(package, path):
        if path.startswith("/etc/"):
            owners.setdefault(path, set()).add(package)
        script = re.match(r"/etc/(?:rc\.d/)?init\.d/([^/]+)$", path)
        if re.search(r"/systemd/system/[^/]+\.service$", path) and not os.path.islink(path):
            units.setdefault(package, set()).add(os.path.basename(path))
        elif script:
            units.setdefault(package, set()).add(script.group(1) + ".service")

    lists = glob.glob("/var/lib/dpkg/info/*.list")
    for path in lists:
        with open(path, "rb") as names:
            for name in names.read().decode("utf-8", "replace").split("\n"):
                add(os.path.basename(path)[:-5].split(":")[0], name)
    if not lists:
        out = module.run_command(["rpm", "-qa", "--qf", "[%{=NAME}\t%{FILENAMES}\n]"])[1]
        for line in out.split("\n"):
            package, _, name = line.partition("\t")
            add(package, name)
    return owners, units


SHARED = 8  # a folder of more packages than this is nobody's


def concerned(path, owners, units):
    """The units that a path of the role is about."""
    unit = re.match(r"/etc/systemd/system(?:\.control)?/([^/]+?)(?:\.d/.*)?$", path)
    part = re.match(r"/etc/systemd/([a-z0-9-]+)\.conf(?:\.d/.*)?$", path)
    script = re.match(r"/etc/(?:rc\.d/)?init\.d/([^/]+)$", path)
    if unit:
        return {unit.group(1)}
    if part:
        return {"systemd-%s.service" % part.group(1)}
    found = {script.group(1) + ".service"} if script else set()
    while path.count("/") > 1:
        by = owners.get(path, set())
        if by:
            return found.union(*[units.get(p, set()) for p in by if p != "systemd"]) if len(by) <= SHARED else found
        path = os.path.dirname(path)
    return found


def written(path):
    """When a path, or the folder that it is gone from, was last written: seconds of the clock that systemd uses."""
    while not os.path.lexists(path):
        path = os.path.dirname(path)
    return os.lstat(path).st_ctime - time.time() + time.monotonic()


def instances(machine, unit):
    """The instances of a template that run."""
    if "@." not in unit:
        return [unit]
    out = machine.systemctl("list-units", "--plain", "--no-legend", "--full", unit.replace("@.", "@*."))[1]
    return [line.split()[0] for line in out.split("\n") if line]


class Units:
    """The role's units on this machine."""

    def __init__(self, module):
        self.module, self.machine = module, Machine(module)
        self.changed, self.notes, self.own, self.wanted = [], [], [], []
        self.stale = False  # systemd has not read yet what was set

    def set_all(self):
        for unit in self.module.params["units"]:
            name, state = self.machine.find([unit["name"], unit["was"]])
            if name is None and unit["state"] == "masked":
                name = unit["name"]  # what brings it later finds it masked
            elif name is None:
                if unit["state"] == "enabled":
                    self.notes.append("%s is not here, so it could not be enabled" % unit["name"])
                continue
            self.set(name, state, unit["state"])
            if unit["state"] == "enabled":
                (self.own if unit["own"] else self.wanted).append(name)

    def set(self, unit, now, state):
        """Bring a unit to a state; what is not to run is stopped."""
        commands = {
            "enabled": ["unmask", "enable"] if now.startswith("masked") else ["enable"] if now in ("disabled", "linked", "indirect", "enabled-runtime", "bad") else [],
            "disabled": [] if now in ("disabled", "static", "masked", "indirect", "generated", "alias", "transient") else ["disable"],
            "masked": [] if now == "masked" else ["mask"],
        }[state]
        if self.module.check_mode:
            self.changed.extend("%s: %s" % (unit, c) for c in commands if now != "indirect")
            return
        for command in commands:
            code, _, err = self.machine.systemctl("--no-reload", command, "--", unit)
            self.stale = True
            if code != 0:
                self.notes.append("%s could not be %s: %s" % (unit, state, err))
        if commands and self.machine.state(unit) != now:
            self.changed.append("%s: %s" % (unit, state))
        if state != "enabled" and commands and self.machine.runs:
            self.machine.systemctl("stop", "--", unit)

    def start(self):
        """Start what the role configured, or what should run: packages' units first."""
        owners, units = packages(self.module)
        of, newest = {}, {}
        for path in self.module.params["paths"]:
            for template in concerned(path, owners, units):
                of[template] = max(of.get(template, 0), written(path))
        for template, when in of.items():
            for unit in instances(self.machine, template):
                newest[unit] = max(newest.get(unit, 0), when)
        aside = re.compile("|".join(self.module.params["at_boot"]) + "$")
        packaged = sorted(u for u in set(newest).union(self.wanted) - set(self.own) if not aside.match(u))
        self.begin(packaged, newest)
        self.begin(sorted(u for u in self.own if not aside.match(u)), newest)

    def begin(self, units, newest):
        """Start and restart units in one go, wait for them, and say what does not run."""
        before = self.machine.show(units)
        for unit in units:
            command = self.command(unit, before.get(unit, {}), newest.get(unit, 0))
            if command:
                self.machine.systemctl(command, "--no-block", "--", unit)
                before[unit]["command"] = command
        begun = [u for u in units if "command" in before.get(u, {})]
        if not begun:
            return
        for unit, now in self.machine.settled(begun).items():
            if now.get("ActiveState") in ("active", "reloading"):
                self.changed.append("%s: %s" % (unit, before[unit]["command"]))
            elif now.get("ActiveState") != "inactive" or now.get("Result") not in ("success", None):
                self.notes.append("%s does not run yet: %s" % (unit, self.why(unit, now)))
            elif now.get("ConditionResult") == "no" and unit in self.own + self.wanted:
                self.notes.append("%s does not run yet: its conditions are not met" % unit)

    def command(self, unit, now, newest):
        """What a unit needs so that it runs with its configuration, or nothing."""
        if now.get("LoadState") != "loaded":
            return None
        if now.get("ActiveState") in ("active", "reloading"):
            reload = unit in self.module.params["reloaded"]
            since = float(now.get("StateChangeTimestampMonotonic" if reload else "ActiveEnterTimestampMonotonic") or 0) / 1e6
            return None if newest <= since else "reload" if reload else "restart"
        once = now.get("Type") == "oneshot" and now.get("RemainAfterExit") == "no"
        if now.get("UnitFileState") not in ("enabled", "enabled-runtime", "generated") or once or now.get("TriggeredBy"):
            return None
        return "restart" if now.get("ActiveState") == "activating" else "start"

    def why(self, unit, now):
        """How a unit ended, and the last that it said."""
        code, out, _ = self.module.run_command(["journalctl", "--unit", unit, "--lines", "1", "--output", "cat", "--no-pager", "--quiet"])
        return "%s (%s)%s" % (now.get("ActiveState"), now.get("Result"), ": " + out.strip()[:300] if code == 0 and out.strip() else "")


def main():
    module = AnsibleModule(supports_check_mode=True, argument_spec={
        "units": {"type": "list", "elements": "dict", "required": True},
        "paths": {"type": "list", "elements": "str", "required": True},
        "at_boot": {"type": "list", "elements": "str", "required": True},
        "reloaded": {"type": "list", "elements": "str", "required": True},
    })
    module.run_command_environ_update = {"LC_ALL": "C", "SYSTEMD_COLORS": "0"}
    if not shutil.which("systemctl"):
        module.exit_json(changed=False, units=[], notes=["systemd is not here: no unit was set"])
    units = Units(module)
    if units.machine.runs and not module.check_mode:
        units.machine.systemctl("daemon-reload")
    units.set_all()
    if units.machine.runs and not module.check_mode:
        if units.stale:
            units.machine.systemctl("daemon-reload")  # once for all
        units.start()
    module.exit_json(changed=bool(units.changed), units=units.changed, notes=units.notes)


if __name__ == "__main__":
    main()
