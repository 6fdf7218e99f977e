#!/usr/bin/env python3
"""Checks the dependencies between rooms: docs/ARCHITECTURE.md in executable form.

    tools/check_layers.py [ROOT]

Each folder of src/ is a room and sees only the rooms listed for it in SEES. Checked are #include lines, the targets that
a room's CMakeLists.txt links, cycles between rooms, system headers in pure rooms and files, where heavy headers appear, headers
with the same name in two rooms, and the namespace of each file.
Prints one line per violation as FILE:LINE: reason. Exit 1 if there is any. Long files are only warned about.
"""
import re
import sys
from pathlib import Path

# The part of snapshot/ that the room of identities may use: a header that counts as a room.
IDENTITY = "snapshot/identity"

SOURCES = {"base", "os", "status", "energy"}
ACTIVITY = {"base", "os", "cgroup", "status", "activity"}
SEES = {
    "base": set(),
    "os": {"base"},
    "cgroup": {"base", "os"},
    "json": {"base"},
    "recording": {"base", "json"},
    "model": {"base", "json", "status"},
    "yaml": {"base"},
    "status": {"base"},
    IDENTITY: set(),
    "snapshot": {"base", "status", IDENTITY},
    "attribution": {"base", "model", "snapshot", "status"},
    "settings": {"base", "yaml"},
    "http/client": {"base"},
    "http/retrying": {"base", "json", "http/client"},
    "http/grpc": {"base", "http/client"},
    "http/server": {"base", "status", "http/webconfig"},
    "http/webconfig": {"base", "settings"},  # the web file is one more table
    "energy": {"base", "status"},
    "energy/rapl": SOURCES,
    "energy/hwmon": SOURCES,
    "energy/platform/ipmi": SOURCES,
    "energy/platform/redfish": SOURCES | {"http/client", "json", "settings"},
    "energy/platform/sysfs": SOURCES | {"energy/hwmon"},
    "energy/modeled": SOURCES | {"model"},
    "energy/simulated": SOURCES,
    "activity": {"base", "os", "cgroup", "status"},
    "activity/bpf": ACTIVITY,
    "activity/procfs": ACTIVITY,
    "workload": {"base", "os", "cgroup", IDENTITY, "status", "workload/hypervisor"},
    "workload/hypervisor": {"base", "os", "cgroup", IDENTITY},
    "workload/kubernetes": {"base", "http/client", "json", "workload", "yaml"},
    "export/series": {"base", "snapshot", "status"},
    "export/prometheus": {"base", "snapshot", "status", "export/series"},
    "export/stdout": {"base", "snapshot", "status"},
    "export/web": {"base", "snapshot", "status", "export/api", "export/series", "export/prometheus", "http/server"},
    "export/api": {"base", "json", "snapshot", "status", "export/series", "http/server"},
    "export/json_lines": {"base", "json", "snapshot", "status", "export/series"},
    "export/push": {"base", "status", "http/client"},
    "export/otlp": {"base", "snapshot", "status", "export/push", "export/series", "http/client", "http/grpc"},
    "export/remote_write": {"base", "snapshot", "status", "export/push", "export/series"},
    "top": {"base", "json", "export/stdout"},
    "top/terminal": {"base", "top"},
    "pipeline": {"base", "os", "cgroup", "energy", "activity", "workload", "workload/hypervisor", "attribution",
                 "model", "snapshot", "status"},
    "model_store": {"base", "os", "model", "http/client", "status"},
    "lab/pickle": {"base", "json", "model"},
    "lab/files": {"base", "json", "lab/pickle", "model"},
    "lab/dataset": {"base", "model", "recording"},
    "lab/training": {"base", "model"},
    "lab/plot": {"base"},
    "lab/judging": {"base", "json", "model", "lab/dataset", "lab/files", "lab/plot", "lab/training"},
    "lab/recorder": {"base", "daemon", "json", "http/retrying", "lab/dataset", "recording"},
    "modelserver": {"base", "json", "model", "lab/files", "lab/judging", "lab/plot", "http/server"},
    "modelserver/estimator": {"base", "json", "model", "modelserver"},
    "modelserver/jobs": {"base", "json", "lab/files", "http/server", "modelserver"},
    "report": {"base", "json", "recording", "export/json_lines", "export/series", "export/stdout"},
    "report/command": {"base", "http/client", "http/retrying", "json", "recording", "report", "settings"},
    "daemon": {"base", "os", "status"},
    "testing": {"base", "snapshot", "status"},
}
LAB = {room for room in SEES if room.startswith("lab/")}
SEES["apps/kepler"] = set(SEES) - LAB - {"modelserver", "modelserver/estimator", "modelserver/jobs", "testing"}
SEES["apps/kepler-model"] = LAB | {"base", "daemon", "http/retrying", "http/server", "json", "model", "model_store",
                                 "modelserver", "modelserver/estimator", "modelserver/jobs", "os", "recording", "settings"}

# The namespace of a room is its path: src/energy/rapl is kepler::energy::rapl. `export` is a keyword of C++, and `stdout` a macro.
NAMESPACES = {
    "base": "kepler",
    IDENTITY: "kepler::snapshot",
    "export/series": "kepler::series",
    "export/prometheus": "kepler::prometheus",
    "export/stdout": "kepler::console",
    "export/web": "kepler::web",
    "export/api": "kepler::api",
    "export/json_lines": "kepler::json_lines",
    "export/push": "kepler::push",
    "export/otlp": "kepler::otlp",
    "export/remote_write": "kepler::remote_write",
    "apps/kepler": "kepler::agent",
    "apps/kepler-model": "kepler::lab::tool",
}

# Folders outside src/ whose headers a room may include, and that room.
SHARED = {"bpf": "activity/bpf"}

# Rooms that compute and do no I/O, so that their tests need no mocks.
PURE = {"attribution", "export/prometheus", "export/series", "json", "lab/dataset", "lab/pickle", "model", "snapshot", "recording", "report", "status", "top", IDENTITY}
# Files that do no I/O in a room that does: they read the bytes of archives that nobody trusts.
PURE_FILES = re.compile(r"^lab/files/\w*archive\.(cc|h)$")
IO_HEADER = re.compile(r"^(fstream|filesystem|(sys|net|netinet|arpa)/.*|(unistd|fcntl|dirent|poll|pthread)\.h)$")

# Headers that take seconds to compile: only in these .cc files, in no header.
HEAVY = {
    "Boost.Asio": re.compile(r"^boost/asio"),
    "Boost.Beast": re.compile(r"^boost/beast"),
    "Boost.JSON": re.compile(r"^boost/json"),
    "yaml-cpp": re.compile(r"^yaml-cpp/"),
    "pugixml": re.compile(r"^pugixml"),
}
MAX_HEAVY = 5
LONG_FILE = 400

NAMESPACE = re.compile(r"^namespace (kepler(?:::\w+)*) \{")
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
COMMAND = re.compile(r"\b(kepler_library|kepler_test|target_link_libraries)\s*\(([^)]*)\)", re.S)
TARGET = re.compile(r"\bkepler(?:::|_)([a-z0-9_]+)")
NOT_A_ROOM = {"flags"}  # kepler_flags: compiler options only


def room_of(path):
    """The room of a path relative to src/: the longest known folder it lies in, else its own folder."""
    if path == IDENTITY + ".h":
        return IDENTITY
    folders = path.split("/")[:-1]
    for depth in range(len(folders), 0, -1):
        name = "/".join(folders[:depth])
        if name in SEES:
            return name
    return "/".join(folders)


def room_of_target(name):
    """kepler::energy_rapl is the room energy/rapl, kepler::apps_kepler_model apps/kepler-model."""
    by_target = {re.sub("[/-]", "_", room): room for room in SEES}
    return by_target.get(name)


def namespace_of(room):
    return NAMESPACES.get(room) or "::".join(["kepler", *room.split("/")])


def room_of_namespace(name):
    """The room with this namespace or with one around it: kepler::log lies in that of base."""
    rooms = {namespace_of(room): room for room in SEES if room != IDENTITY}
    while name not in rooms:
        name = name.rpartition("::")[0]
    return rooms[name]


def is_test_name(path):
    """x_test.cc, and by their names what only tests include: x_test_util.h, x_suite.h."""
    return re.search(r"_(test|suite|test_\w+)\.(cc|h)$", path) is not None


class Checker:
    def __init__(self, root):
        self.src = Path(root) / "src"
        self.violations = []
        self.warnings = []
        self.edges = {}  # (from room, to room) -> where it was seen first
        self.heavy = {name: set() for name in HEAVY}
        self.support = set()  # headers for tests only, relative to src/

    def say(self, where, reason):
        self.violations.append(f"{where}: {reason}")

    def run(self):
        if not self.src.is_dir():
            self.say(self.src, "no such directory")
            return
        self.find_test_support()
        for path in sorted(self.src.rglob("*")):
            relative = path.relative_to(self.src).as_posix()
            if path.suffix in (".cc", ".h"):
                self.check_source(path, relative)
            elif path.name == "CMakeLists.txt" and relative != "CMakeLists.txt":
                self.check_cmake(path, relative)
        self.check_heavy()
        self.check_header_names()
        self.check_cycles()

    def find_test_support(self):
        """A header that includes one of testing/, or of another such header, is itself for tests only."""
        headers = {path.relative_to(self.src).as_posix(): path for path in self.src.rglob("*.h")}
        included = {name: set(re.findall(r'^\s*#\s*include\s*"([^"]+)"', path.read_text(errors="replace"), re.M))
                    for name, path in headers.items() if room_of(name) != "testing"}
        self.support = {name for name in included if is_test_name(name)}
        grown = True
        while grown:
            more = {name for name, targets in included.items()
                    if any(target in self.support or target.startswith("testing/") for target in targets)}
            grown = not more <= self.support
            self.support |= more

    def is_test(self, relative):
        return is_test_name(relative) or relative in self.support

    def check_edge(self, where, source, target, from_test):
        if source == target:
            return
        if target == "testing":
            if not from_test and source != "testing":
                self.say(where, f"{source} sees testing: only tests may")
            return
        if from_test and target.startswith(source + "/"):
            return  # one behavioural suite of an interface, run against all that implement it
        if target not in SEES[source] and not (target == IDENTITY and "snapshot" in SEES[source]):
            allowed = ", ".join(sorted(SEES[source])) or "nothing"
            self.say(where, f"{source} must not see {target} (it sees: {allowed})")
        if not from_test:
            self.edges.setdefault((source, target), where)

    def check_source(self, path, relative):
        room, test = room_of(relative), self.is_test(relative)
        if room not in SEES:
            self.say(f"src/{relative}:1", f"src/{room} is no room: add it to SEES in tools/check_layers.py and to docs/ARCHITECTURE.md")
            return
        lines = path.read_text(errors="replace").splitlines()
        if len(lines) > LONG_FILE:
            self.warnings.append(f"src/{relative}: {len(lines)} lines: would two files be clearer?")
        for number, line in enumerate(lines, 1):
            self.check_namespace(f"src/{relative}:{number}", room, test, line)
            match = INCLUDE.match(line)
            if not match:
                continue
            where, (quoted, system) = f"src/{relative}:{number}", match.groups()
            if quoted in self.support and not test:
                self.say(where, f'"{quoted}" is for tests only')
            elif quoted and (self.src / quoted).exists():
                self.check_edge(where, room, room_of(quoted), test)
            elif quoted and quoted.split("/")[0] in SHARED and (self.src.parent / quoted).exists():
                self.check_shared(where, room, quoted.split("/")[0])
            elif quoted and not (path.parent / quoted).exists():
                self.say(where, f'"{quoted}" is not in src/: includes are relative to src/, foreign headers take <>')
            elif quoted:
                self.say(where, f'"{quoted}": write the path from src/')
            if system:
                self.check_system_header(where, relative, room, test, system)

    def check_namespace(self, where, room, test, line):
        match = NAMESPACE.match(line)
        opened = room_of_namespace(match.group(1)) if match else room
        if namespace_of(opened) == namespace_of(room) or (test and room.startswith(opened + "/")):
            return  # a test may instantiate a suite of the room above
        self.say(where, f"{match.group(1)}: the namespace of src/{room} is {namespace_of(room)}")

    def check_shared(self, where, room, folder):
        if room != SHARED[folder]:
            self.say(where, f"{room} must not see {folder}/: only {SHARED[folder]} does")

    def check_system_header(self, where, relative, room, test, header):
        pure = room if room in PURE else relative if PURE_FILES.match(relative) else None
        if pure and not test and IO_HEADER.match(header):
            self.say(where, f"{pure} is pure and does no I/O: <{header}> does not belong here")
        for name, pattern in HEAVY.items():
            if not pattern.match(header):
                continue
            if relative.endswith(".h"):
                self.say(where, f"{name} in a header: every includer pays for it; keep it in one .cc")
            elif not test:
                self.heavy[name].add(relative)

    def check_cmake(self, path, relative):
        room = room_of(relative)
        text = re.sub(r"#[^\n]*", "", path.read_text(errors="replace"))
        for match in COMMAND.finditer(text):
            command, arguments = match.groups()
            words = arguments.split()
            where = f"src/{relative}:{text.count(chr(10), 0, match.start()) + 1}"
            if not words or room not in SEES:
                continue
            test = command == "kepler_test" or words[0].endswith(("_test", "_bench", "_fuzz"))
            for word in words[1:]:
                target = TARGET.match(word)
                if not target or target.group(1) in NOT_A_ROOM or not word.startswith(("kepler::", "kepler_")):
                    continue
                if target.group(1) in SHARED:
                    self.check_shared(where, room, target.group(1))
                    continue
                linked = room_of_target(target.group(1))
                if linked is None:
                    self.say(where, f"{word} is the target of no room")
                else:
                    self.check_edge(where, room, linked, test)

    def check_heavy(self):
        for name, files in self.heavy.items():
            if len(files) > MAX_HEAVY:
                self.say("src", f"{name} is included by {len(files)} .cc files (at most {MAX_HEAVY}): {', '.join(sorted(files))}")

    def check_header_names(self):
        by_name = {}
        for path in sorted(self.src.rglob("*.h")):
            relative = path.relative_to(self.src).as_posix()
            if by_name.setdefault(path.name, relative) != relative:
                self.say(f"src/{relative}:1", f"src/{by_name[path.name]} has the same name: name one of them by its content")

    def check_cycles(self):
        seen, path = set(), []

        def visit(room):
            if room in path:
                ring = path[path.index(room):] + [room]
                self.say(self.edges[(ring[-2], ring[-1])], "cycle: " + " -> ".join(ring))
                return
            if room in seen:
                return
            seen.add(room)
            path.append(room)
            for source, target in sorted(self.edges):
                if source == room:
                    visit(target)
            path.pop()

        for source, _ in sorted(self.edges):
            visit(source)


def main(arguments):
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    checker = Checker(root)
    checker.run()
    for line in checker.warnings:
        print(f"warning: {line}")
    for line in checker.violations:
        print(line)
    print(f"check_layers: {len(checker.violations)} violations, {len(checker.warnings)} warnings, {len(checker.edges)} edges")
    return 1 if checker.violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
