#!/usr/bin/env python3
"""Counts which archives of Kepler 0.7's model database `kepler-model serve` gives to clients, and states why not the others.
  tools/served_archives.py DIRECTORY   a copy of the database (kepler-model-db/models), or archives with the flat names
                                       PIPELINE[_SOURCE]_OUTPUT_GROUP_MODEL.zip
  KEPLER_MODEL_BIN=PATH                the program (default: the one that is built)
For each archive: whether old clients get it byte for byte, whether they get weights, and whether `kepler-model import`, which the
agent and the estimator need, can read it. Exit code 1 if an archive is not served."""
import collections
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILT = ("release", "release-tests", "dev")
FLAT = re.compile(r"(?P<pipeline>.+?)(?:_(?P<source>acpi|rapl-sysfs))?_(?P<output>AbsPower|DynPower)_(?P<group>\w+?)"
                  r"_(?P<model>[A-Za-z]+_\d+)(?P<kind>\.zip|\.json)$")


def program():
    """Path of kepler-model."""
    built = [ROOT / "build" / preset / "src/apps/kepler-model/kepler-model" for preset in BUILT]
    found = [path for path in [os.environ.get("KEPLER_MODEL_BIN"), *built] if path and os.path.exists(path)]
    if not found:
        sys.exit("no kepler-model: build it, or set KEPLER_MODEL_BIN")
    return str(found[0])


def place(name):
    """Path of a flat name in the database; None if the name has another form."""
    match = FLAT.fullmatch(name)
    if match is None:
        return None
    part = match.groupdict()
    return os.path.join(part["pipeline"], part["source"] or "rapl-sysfs", part["output"], part["group"],
                        part["model"] + part["kind"])


def make_store(directory, store):
    """Links the files of `directory` into `store`; returns the archives, relative to `store`."""
    archives = []
    for path in sorted(pathlib.Path(directory).resolve().rglob("*")):
        if not path.is_file():
            continue
        relative = place(path.name) or str(path.relative_to(pathlib.Path(directory).resolve()))
        target = pathlib.Path(store) / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
        # The zip of a whole pipeline is next to the pipeline's directory, not in a feature group.
        if path.suffix == ".zip" and target.parts[-3] in ("AbsPower", "DynPower"):
            archives.append(relative)
    return archives


def served(store):
    """What GET /models says of the store."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen([program(), "serve", f"--store={store}", f"--listen-address=127.0.0.1:{port}",
                                    "--config-dir=/nowhere"], stdout=log, stderr=log)
        try:
            for _ in range(600):
                try:
                    with urllib.request.urlopen(f"http://127.0.0.1:{port}/models", timeout=60) as answer:
                        return json.load(answer)
                except OSError:
                    if process.poll() is not None:
                        break
                    time.sleep(0.1)
            log.seek(0)
            sys.exit(f"the server did not answer:\n{log.read().decode()}")
        finally:
            process.terminate()
            process.wait()


def why_not_imported(archive, output):
    """Why `kepler-model import` cannot read the archive; empty if it can."""
    ended = subprocess.run([program(), "import", f"--archive={archive}", f"--output={output}"], capture_output=True, text=True,
                           timeout=600, check=False)
    return "" if ended.returncode == 0 else ended.stderr.strip().rsplit("\n", 1)[-1]


def judge(archives, models, skipped, imports):
    """Lines of the report, and the archives that are not served. `imports`: reason by archive, empty if read."""
    by_id = {model["id"]: model for model in models}
    reasons = {entry["file"]: entry["reason"] for entry in skipped}
    names = {archive: archive.removesuffix(".zip") for archive in archives}
    missing = [archive for archive in archives if names[archive] not in by_id]
    weights = [archive for archive in archives if by_id.get(names[archive], {}).get("weights")]
    read = [archive for archive in archives if not imports[archive]]
    lines = [f"{len(archives)} archives", f"{len(archives) - len(missing)} served byte for byte",
             f"{len(weights)} served as weights, too", f"{len(read)} read by kepler-model import"]
    lines += [f"not served: {archive}: {reasons.get(names[archive], 'not in the index')}" for archive in missing]
    refusals = collections.Counter(imports[archive] for archive in archives if imports[archive])
    lines += [f"not imported: {count} x {reason}" for reason, count in refusals.most_common()]
    return lines, missing


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as scratch:
        store = os.path.join(scratch, "store")
        os.mkdir(store)
        archives = make_store(sys.argv[1], store)
        if not archives:
            sys.exit(f"{sys.argv[1]} has no archives of models")
        index = served(store)
        imports = {archive: why_not_imported(os.path.join(store, archive), os.path.join(scratch, "imported", str(number)))
                   for number, archive in enumerate(archives)}
        lines, missing = judge(archives, index["models"], index["skipped"], imports)
        print("\n".join(lines))
        sys.exit(1 if missing else 0)


if __name__ == "__main__":
    main()
