"""Builds what a guest of the lab boots: kernel, modules, tables and the initramfs. Everything is kept in build/lab."""
import functools
import py_compile
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PLACE = ROOT / "build" / "lab"
sys.path[:0] = [str(ROOT / "tests" / "kernels"), str(ROOT / "tests" / "e2e")]

# pylint: disable=wrong-import-position
import debian
import machine
from kubernetes import make_certificates

PYTHON = "/usr/bin/python3"  # Debian's: its libraries are the agent's
PYTHON_TAG = subprocess.run([PYTHON, "-c", "import sys; print('%d%d' % sys.version_info[:2])"], check=True,
                            capture_output=True, text=True).stdout.strip()
# What the checks in the guest import.
SHARED = (ROOT / "tests/e2e/harness.py", ROOT / "tests/e2e/exposition.py", HERE / "redfish_server.py",
          HERE / "redfish_shapes.py")
CERTIFICATES = ("ca.crt", "server.crt", "server.key")


def _run(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, words))}\n{done.stdout}")


def module(release):
    """rapl_msr_lab.ko for this kernel."""
    room = PLACE / f"rapl-{release}"
    room.mkdir(parents=True, exist_ok=True)
    stale = False
    for source in (HERE / "rapl").iterdir():
        copy = room / source.name
        if not copy.exists() or copy.read_bytes() != source.read_bytes():
            shutil.copy(source, copy)
            stale = True
    built = room / "rapl_msr_lab.ko"
    if stale or not built.exists():
        _run("make", "-C", debian.headers(release), f"M={room}", "modules")
    return built


def _is_newer(source, built):
    return not built.exists() or built.stat().st_mtime < source.stat().st_mtime


def table(name):
    """acpi/NAME.asl, compiled."""
    source, built = HERE / "acpi" / f"{name}.asl", PLACE / f"{name}.aml"
    if _is_newer(source, built):
        _run("iasl", "-p", built.with_suffix(""), "-ve", source)
    return built


def power_supply():
    source, built = HERE / "psu" / "corsair_psu.c", PLACE / "corsair_psu"
    if _is_newer(source, built):
        _run("gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", built, source)
    return built


def fuse_powercap():
    source, built = HERE / "powercap" / "fuse_powercap.c", PLACE / "fuse_powercap"
    if _is_newer(source, built):
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "fuse3"], check=True, capture_output=True, text=True).stdout
        _run("gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", built, source, *flags.split())
    return built


def node_exporter():
    return debian.unpacked("prometheus-node-exporter", parts=("./usr/bin/*",)) / "usr/bin/prometheus-node-exporter"


@functools.cache
def checks():
    """The folder with what the checks import, and the certificates of a Redfish server."""
    folder = PLACE / "checks"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(HERE / "guest", folder)
    for source in SHARED:
        shutil.copy(source, folder)
    make_certificates(folder)
    return folder


@functools.cache
def python_modules():
    """Files of all modules that the checks need."""
    code = ("import sys, encodings.ascii, encodings.idna, encodings.latin_1; sys.path.insert(0, sys.argv[1]); import main, harness; "
            "[__import__(name) for name in sys.argv[2:]]; "
            "print(*{m.__file__ for m in list(sys.modules.values()) if getattr(m, '__file__', None)}, sep='\\n')")
    scenarios = [path.stem for path in (HERE / "guest").glob("*.py")]
    listed = subprocess.run([PYTHON, "-S", "-E", "-B", "-c", code, checks(), *scenarios], check=True, capture_output=True,
                            text=True).stdout
    return [Path(name) for name in listed.split()]


def add_python(image):
    """Python with the modules that the checks need, compiled, and their shared libraries."""
    image.program(PYTHON, "/usr/bin/python3")
    for path in python_modules():
        if path.is_relative_to(checks()):
            image.put(path, f"/lab/{path.name}")
        elif path.suffix == ".py":
            compiled = image.root / str(path.with_suffix(".pyc")).lstrip("/")
            compiled.parent.mkdir(parents=True, exist_ok=True)
            installed = path.parent / "__pycache__" / f"{path.stem}.cpython-{PYTHON_TAG}.pyc"
            if installed.exists():
                shutil.copy(installed, compiled)
            else:
                py_compile.compile(str(path), str(compiled), doraise=True)
        else:
            image.program(path, path)


def initramfs(guest, agent, path):
    room, vmlinuz = debian.kernel(guest.package)
    release = debian.release_of(vmlinuz)
    with machine.Image() as image:
        image.modules(room, release, guest.modules)
        add_python(image)
        image.program(agent, "/lab/bin/kepler")
        image.put(HERE / "guest" / "init", "/init")
        if guest.rapl:
            image.put(module(release), "/lab/rapl_msr_lab.ko")
        for program in guest.programs:
            image.install(program, "lab")
        if guest.redfish:
            for name in CERTIFICATES:
                image.put(checks() / name, f"/lab/{name}")
        if guest.psu:
            image.program(power_supply(), "/lab/bin/corsair_psu")
        if guest.fuse:
            image.program(fuse_powercap(), "/lab/bin/fuse_powercap")
        if guest.node_exporter:
            image.program(node_exporter(), "/lab/bin/node_exporter")
        image.write(path)
    return debian.fast_kernel(vmlinuz)
