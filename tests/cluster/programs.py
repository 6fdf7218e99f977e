"""The cluster's programs, built from their Go modules into build/cluster/bin; what is there is left alone.

    programs.py [NAME]...   builds what is missing of these (default: all that the tests need); prints their paths

Every version is here, and part of the file's name: another version is another file. A module that replaces others cannot
be installed by `go install`; a module of our own that requires it, with the same replacements, builds everything.
"""
import dataclasses
import json
import os
import re
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PLACE = os.path.join(ROOT, "build", "cluster")
MINIMUM_GO = (1, 26)  # etcd's module wants it; `go` would download a newer self where that is allowed
KUBERNETES = "1.34.4"
CONTAINERD = "2.2.9"


@dataclasses.dataclass(frozen=True)
class Program:
    """`package` is relative to the module, "" the module itself. `tags`: build tags. `source`: a folder here with a module of
    our own that is the program; its go.mod has the versions."""
    module: str
    version: str
    package: str
    needed: bool = True
    tags: str = ""
    source: str = ""


PROGRAMS = {
    "kube-apiserver": Program("k8s.io/kubernetes", KUBERNETES, "/cmd/kube-apiserver"),
    "kube-controller-manager": Program("k8s.io/kubernetes", KUBERNETES, "/cmd/kube-controller-manager"),
    "kube-scheduler": Program("k8s.io/kubernetes", KUBERNETES, "/cmd/kube-scheduler"),
    "kubelet": Program("k8s.io/kubernetes", KUBERNETES, "/cmd/kubelet"),
    "kubectl": Program("k8s.io/kubernetes", KUBERNETES, "/cmd/kubectl"),
    "etcd": Program("go.etcd.io/etcd/server/v3", "3.7.3", ""),
    "helm": Program("helm.sh/helm/v3", "3.22.0", "/cmd/helm"),
    "kwok": Program("sigs.k8s.io/kwok", "0.8.0", "/cmd/kwok"),
    # For the guest only (guest.py): Debian 12 has 1.6.
    "containerd": Program("github.com/containerd/containerd/v2", CONTAINERD, "/cmd/containerd", needed=False),
    "containerd-shim-runc-v2": Program("github.com/containerd/containerd/v2", CONTAINERD, "/cmd/containerd-shim-runc-v2",
                                       needed=False),
    "ctr": Program("github.com/containerd/containerd/v2", CONTAINERD, "/cmd/ctr", needed=False),
    "kubeconform": Program("github.com/yannh/kubeconform", "0.8.0", "/cmd/kubeconform", needed=False),
    # Prometheus 3.16 is module version 0.316. Without service discovery it compiles in a third of the time.
    "prometheus": Program("github.com/prometheus/prometheus", "0.316.0", "/cmd/prometheus", needed=False,
                          tags="remove_all_sd"),
    # 1.154 needs Go 1.27.
    "victoria-metrics": Program("github.com/VictoriaMetrics/VictoriaMetrics", "1.148.9", "/app/victoria-metrics", needed=False),
    # 0.42.5 needs Go 1.26.10. Thanos casts Prometheus's labels to slices, and says by the tag that they are.
    "thanos": Program("github.com/thanos-io/thanos", "0.42.4", "/cmd/thanos", needed=False, tags="slicelabels"),
    # OTLP in and OTLP out: the distributions have a hundred components more.
    "otelcol": Program("kepler.test/collector", "0.165.0", "", needed=False, source="collector"),
    "prom-label-proxy": Program("github.com/prometheus-community/prom-label-proxy", "0.11.1", "", needed=False),
}
# kwok does nothing by itself: what nodes and pods become is said by stages, which its module has.
KWOK_STAGES = ("node/fast/node-initialize", "node/heartbeat-with-lease/node-heartbeat-with-lease",
               "pod/fast/pod-ready", "pod/fast/pod-delete")


def path(name):
    """Where a program is, once it is built."""
    return os.path.join(PLACE, "bin", f"{name}-{PROGRAMS[name].version}")


def kwok_stages():
    return os.path.join(PLACE, f"kwok-stages-{PROGRAMS['kwok'].version}.yaml")


class Failed(Exception):
    """What went wrong, for people."""


def go(*arguments, directory):
    """What `go` prints. It is wanted here only: who has the programs needs no Go."""
    program = shutil.which("go") or (os.access("/usr/local/go/bin/go", os.X_OK) and "/usr/local/go/bin/go")
    if not program:
        raise Failed(f"the cluster's programs are built with Go {'.'.join(map(str, MINIMUM_GO))} or newer; there is no "
                     "`go` in PATH or /usr/local/go/bin. Debian 12's is too old: install Go's own, or put the programs "
                     f"into {PLACE}/bin, named NAME-VERSION")
    said = subprocess.run([program, "env", "GOVERSION"], check=True, capture_output=True, text=True).stdout
    found = re.search(r"go(\d+)\.(\d+)", said)
    if not found or tuple(map(int, found.groups())) < MINIMUM_GO:
        raise Failed(f"{program} is {said.strip()}, and Go {'.'.join(map(str, MINIMUM_GO))} or newer is wanted")
    done = subprocess.run([program, *arguments], cwd=directory, check=False, capture_output=True, text=True,
                          env={**os.environ, "CGO_ENABLED": "0", "GOWORK": "off"})
    if done.returncode != 0:
        raise Failed(f"go {' '.join(arguments[:3])}… failed:\n{done.stderr[-3000:]}")
    return done.stdout


def module_directory(program):
    """A module of our own that requires the program's, at its version and with its replacements."""
    directory = os.path.join(PLACE, "go", f"{program.module}@{program.version}".replace("/", "_"))
    if os.path.exists(os.path.join(directory, "go.mod")):
        return directory
    temporary = f"{directory}.new"
    shutil.rmtree(temporary, ignore_errors=True)
    if program.source:
        shutil.copytree(os.path.join(os.path.dirname(os.path.abspath(__file__)), program.source), temporary)
        go("mod", "tidy", directory=temporary)
        os.rename(temporary, directory)
        return directory
    os.makedirs(temporary)
    go("mod", "init", "kepler.test/cluster", directory=temporary)
    wanted = f"{program.module}@v{program.version}"
    with open(json.loads(go("mod", "download", "-json", wanted, directory=temporary))["GoMod"], encoding="utf-8") as file:
        requirements = file.read()
    edits = [f"-require={wanted}"]
    if program.module == "k8s.io/kubernetes":
        # Its parts are at v0.0.0 there, replaced by directories; published they are 0.MINOR.PATCH.
        published = "v0." + program.version.partition(".")[2]
        parts = set(re.findall(r"^\s+(k8s\.io/\S+) v0\.0\.0(?: |$)", requirements, re.MULTILINE))
        edits += [f"-replace={part}={part}@{published}" for part in sorted(parts)]
    replacements = re.findall(r"^(?:replace)?\s+(\S+) => (\S+) (v\S+)$", requirements, re.MULTILINE)
    edits += [f"-replace={old}={new}@{version}" for old, new, version in replacements]
    go("mod", "edit", *edits, directory=temporary)
    os.rename(temporary, directory)
    return directory


def build(name):
    program = PROGRAMS[name]
    directory = module_directory(program)
    flags = "-s -w"
    if program.module == "k8s.io/kubernetes":
        major, minor, _ = program.version.split(".")
        for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version"):
            flags += (f" -X {package}.gitVersion=v{program.version} -X {package}.gitMajor={major}"
                      f" -X {package}.gitMinor={minor} -X {package}.gitTreeState=clean")
    os.makedirs(os.path.dirname(path(name)), exist_ok=True)
    # One package at a time: two of Kubernetes' at once take more memory than a small machine has.
    go("build", "-p", "1", "-mod=mod", "-trimpath", "-tags", program.tags, "-ldflags", flags, "-o", f"{path(name)}.new",
       program.module + program.package, directory=directory)
    if name == "kwok":
        write_kwok_stages(go("list", "-mod=mod", "-m", "-f", "{{.Dir}}", program.module, directory=directory).strip())
    os.rename(f"{path(name)}.new", path(name))


def write_kwok_stages(module):
    """The stock stages start containers without an id, by which the agent knows them: here they get one of 64 digits."""
    stages = []
    for stage in KWOK_STAGES:
        with open(os.path.join(module, "kustomize", "stage", f"{stage}.yaml"), encoding="utf-8") as file:
            stages.append(file.read())
    text = "\n---\n".join(stages)
    text, nows = re.subn(r"^(\s*)\{\{ \$now := Now \}\}$", r"\g<0>\n\1{{ $uid := .metadata.uid }}", text,
                         flags=re.MULTILINE)
    text, ids = re.subn(r"^(\s*)restartCount: 0$",
                        r'\g<0>\n\1containerID: {{ printf "containerd://%.32x" (print .name $uid) | Quote }}', text,
                        flags=re.MULTILINE)
    if not nows or not ids:
        raise Failed(f"kwok's stages have changed: {nows} times $now, {ids} times restartCount")
    with open(kwok_stages(), "w", encoding="utf-8") as file:
        file.write(text)


def provide(names):
    for name in names:
        if os.access(path(name), os.X_OK):
            continue
        begin = time.monotonic()
        print(f"{name} {PROGRAMS[name].version}: building", file=sys.stderr, flush=True)
        build(name)
        print(f"{name}: {time.monotonic() - begin:.0f} s, {os.path.getsize(path(name)) / 1e6:.0f} MB", file=sys.stderr,
              flush=True)


def main(names):
    unknown = [name for name in names if name not in PROGRAMS]
    if unknown:
        sys.exit(f"programs.py: unknown program {unknown[0]!r} ({', '.join(PROGRAMS)})")
    names = names or [name for name, program in PROGRAMS.items() if program.needed]
    try:
        provide(names)
    except Failed as failure:
        sys.exit(f"programs.py: {failure}")
    for name in names:
        print(path(name))


if __name__ == "__main__":
    main(sys.argv[1:])
