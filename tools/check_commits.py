#!/usr/bin/env python3
"""Checks the subject and the size of each commit of a branch, and prints the command that builds and tests each of them.

    tools/check_commits.py [BASE..HEAD]      default: origin/main..HEAD

Subject: "room[, room]: verb ...", imperative, at most 72 characters, without a path that exists on one machine only.
Size: at most 300 added and deleted lines. Moved lines, generated files and data do not count.
Prints "COMMIT SUBJECT: reason" for each violation. Exits with 1 if there is any, with 2 if the range cannot be read.
"""
import re
import subprocess
import sys
from collections import Counter

MAX_SUBJECT = 72
MAX_LINES = 300

# Generated files and data: a person reviews their source instead.
NOT_COUNTED = re.compile(
    r"^docs/(metrics|configuration)\.md$|^deploy/(kepler\.8|kepler-model\.1)$|^deploy/manifests/|^data/"
    r"|^deploy/helm/kepler/files/dashboards/|(^|/)(testdata|corpus|schemas)/")

# Rooms that have no folder of that name.
OTHER_ROOMS = {"ci", "README", "CONTRIBUTING"}

MACHINE_PATH = re.compile(r"(?<![\w.])(?:/(?:home|root|tmp|mnt|work|workspace|Users)\b/?|[A-Z]:\\)")

SUBJECT = re.compile(r"^(?P<rooms>[\w./-]+(?:, [\w./-]+)*): (?P<verb>[a-z][a-z-]*) \S")
NOT_VERBS = set(
    "a an the this that these those all any both each every few many more most much no none one two three several some "
    "another other own new old only also not now then how what when where which who why whose in on at by of off out "
    "from for to into with without after before between under over as if it its their there".split())
# The endings of other forms of a verb, and of plural nouns; and the verbs that have such an ending themselves.
OTHER_FORM = re.compile(r"(?<!s)s$|ed$|ing$")
IMPERATIVES = set("alias bias focus bring ping string embed exceed feed need proceed seed shed shred speed succeed".split())

BUILD_AND_TEST = "tools/test.sh"


class RangeError(Exception):
    pass


def git(*arguments):
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        raise RangeError(done.stderr.strip().split("\n")[0])
    return done.stdout


def rooms_of(commit):
    """Names and paths of all folders of the commit; src/http/client can be called client and http/client."""
    names = set(OTHER_ROOMS)
    for folder in git("ls-tree", "-r", "-d", "--name-only", commit).splitlines():
        parts = folder.split("/")
        names.update("/".join(parts[start:]) for start in range(len(parts)))
    return names


def subject_faults(subject, rooms):
    if len(subject) > MAX_SUBJECT:
        yield f"subject has {len(subject)} characters (at most {MAX_SUBJECT})"
    match = SUBJECT.match(subject)
    if not match:
        yield 'subject is not "room[, room]: verb ..." in lower case'
        return
    for room in match["rooms"].split(", "):
        if room not in rooms:
            yield f"'{room}' is not a room: use the name of a folder"
    verb = match["verb"]
    if verb not in IMPERATIVES and (verb in NOT_VERBS or OTHER_FORM.search(verb)):
        yield f"'{verb}' is not an imperative: begin with a verb, for example \"add\" or \"count\""


def message_faults(message, rooms):
    yield from subject_faults(message.split("\n")[0], rooms)
    path = MACHINE_PATH.search(message)
    if path:
        yield f"message has a path of one machine: {path.group(0)}"


def changed_lines(commit):
    """Added and deleted lines of the commit. A line that is deleted in one place and added in another one was moved."""
    added, deleted = Counter(), Counter()
    counted = header = True
    diff = git("show", "--format=", "-M", "-U0", "--no-color", "--no-ext-diff", "--no-prefix", commit)
    for line in diff.split("\n"):
        if line.startswith("diff --git "):
            counted = header = True
        elif line.startswith("@@ "):
            header = False
        elif header and line.startswith(("+++ ", "--- ")):
            counted = counted and not NOT_COUNTED.search(line[4:].strip('"'))
        elif counted and line[:1] in "+-" and line[1:].strip():
            (added if line[0] == "+" else deleted)[line[1:].strip()] += 1
    return sum((added - deleted).values()) + sum((deleted - added).values())


def check(commits):
    """Returns the number of violations."""
    violations = 0
    for commit in commits:
        message = git("show", "--no-patch", "--format=%B", commit)
        faults = list(message_faults(message, rooms_of(commit)))
        lines = changed_lines(commit)
        if lines > MAX_LINES:
            faults.append(f"{lines} changed lines (at most {MAX_LINES}): one idea per commit")
        for fault in faults:
            print(f"{commit[:10]} {message.splitlines()[0] if message.strip() else '(no message)'}: {fault}")
        violations += len(faults)
    return violations


def main(arguments):
    if len(arguments) > 1 or arguments[:1] in (["-h"], ["--help"]):
        print(__doc__.strip())
        return 0 if len(arguments) == 1 else 2
    wanted = arguments[0] if arguments else "origin/main..HEAD"
    base, dots, head = wanted.partition("..")
    try:
        if not dots or not base:
            raise RangeError("the base is missing")
        commits = git("rev-list", "--reverse", "--no-merges", wanted, "--").split()
        violations = check(commits)
    except RangeError as error:
        print(f"check_commits: cannot read the commits {wanted}: {error}; give BASE..HEAD", file=sys.stderr)
        return 2
    print(f"check_commits: {len(commits)} commits, {violations} violations")
    if commits:
        head = f" {head}" if head not in ("", "HEAD") else ""
        print(f"build and test each: git rebase -x {BUILD_AND_TEST} {base}{head}")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
