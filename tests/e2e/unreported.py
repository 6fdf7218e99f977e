"""Ends of tasks without a report. Kernels of some virtual machines run no tracing program while their process 1
runs, and dead tasks are cleaned up in whose context it happens to be: a few of thousands, several at a time. What is
measured meanwhile is measured again, but only if the agent itself has counted enough such ends to
explain the missing time. What the agent loses by itself it does not count, and is wrong at once."""
import math

ATTEMPTS = 6
LOOKS = 5
UNREPORTED = ("unreported",)
UNREPORTED_OR_DROPPED = ("unreported", "task")
EXPLAINED_BY_ONE = 2  # ends of mean size that one may stand for: they are not all of one size
UNEXPLAINED = math.inf  # a miss that no end explains


def without_record(scrape, kinds=UNREPORTED):
    """Ends that the agent knows of by their number alone; 0 where it reads /proc."""
    return sum(float(scrape.sum("kepler_activity_dropped_total", kind=kind)) for kind in kinds)


def charged_seconds(scrape):
    """CPU time that the audit of cgroups found without a record; 0 where /proc is read, which has no records."""
    if not scrape.series("kepler_activity_dropped_total"):
        return 0
    return float(scrape.value("kepler_activity_audit_charged_seconds_total"))


def explains(kept, missed):
    return kept >= 0.5 and missed <= EXPLAINED_BY_ONE * kept


def without_record_since(agent, before, missed, kinds=UNREPORTED):
    """How many more than in the scrape `before`, once they explain `missed` ends. The agent reports them a scan
    later, and later still while tasks go on ending."""
    more = 0
    for _ in range(LOOKS):
        more = without_record(agent.scrape_after(), kinds) - without_record(before, kinds)
        if explains(more, missed):
            break
    return more


def until_told(attempt):
    """attempt() gives an Outcome, the number of ends that were kept from the agent meanwhile by its own count, and how
    many it takes to explain what the Outcome misses. The first Outcome that is sound, or whose miss is not explained;
    the last one after ATTEMPTS attempts. Its line says how many there were."""
    earlier = ""
    for number in range(1, ATTEMPTS + 1):
        outcome, kept, missed = attempt()
        if not outcome.problems or not explains(kept, missed):
            break
        earlier += f"; attempt {number}, {kept:.0f} ends unreported, which explain {missed:.1f} missed: {outcome.line}"
    if number > 1:
        outcome.line += f" (attempt {number} of at most {ATTEMPTS}{earlier})"
    return outcome
