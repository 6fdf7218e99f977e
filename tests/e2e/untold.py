"""Ends of tasks that nobody is told of. Kernels of some virtual machines run no tracing program while their process 1
runs, and dead tasks are cleaned up in whose context it happens to be: a few of thousands, several at a time. What is
measured meanwhile says nothing about the agent, so it is measured again. What the agent loses by itself, it loses each
time."""

ATTEMPTS = 6
LOOKS = 5
UNTOLD = ("untold",)
UNTOLD_OR_DROPPED = ("untold", "task")


def without_record(scrape, kinds=UNTOLD):
    """Ends that the agent knows of by their number alone; 0 where it reads /proc."""
    return sum(float(scrape.sum("kepler_activity_dropped_total", kind=kind)) for kind in kinds)


def without_record_since(agent, before, kinds=UNTOLD):
    """How many more than in the scrape `before`. The agent says so a look late, and later where tasks go on ending."""
    more = 0
    for _ in range(LOOKS):
        more = without_record(agent.scrape_after(), kinds) - without_record(before, kinds)
        if more:
            break
    return more


def until_told(attempt):
    """attempt() gives an Outcome and the number of ends that were kept from the agent meanwhile. The first Outcome that
    is sound, or that is not though everything was told; the last one after so many attempts."""
    again = ""
    for left in reversed(range(ATTEMPTS)):
        outcome, kept = attempt()
        if not outcome.problems or kept < 0.5 or not left:
            break
        again += f"; before that, {kept:.0f} ends untold: {outcome.line}"
    outcome.line += again
    return outcome
