"""docs/exact-totals.md against real servers: its configurations and queries, and what other servers and flags give."""
import contextlib
import dataclasses
import re
import time

from doc_pages import code_blocks
from harness import wait_until
from powercap import ONE_PACKAGE, PowercapTree, metered_agent
from prometheus import NEWER, Prometheus, replace_once
from scenarios import Outcome
from workloads import Churn

ACTIVE = 'sum(increase(kepler_node_cpu_active_joules_total{zone="package"}[15m] anchored))'
ACTIVE_OF_TWO_SCRAPES = ('sum(kepler_node_cpu_active_joules_total{zone="package"}) '
                         '- sum(kepler_node_cpu_active_joules_total{zone="package"} offset 15m)')
OLD, PLAIN, FLAGS, OPENMETRICS = "2.42", "3.16", "3.16, page's flags", "3.16, page's flags, OpenMetrics"
CREATED_LINES = "exporter: {prometheus: {exactTotals: true, createdLines: true}}\n"
TOLERANCE = 0.001
ROUNDING = 1e-9  # of sums of doubles


def page(language):
    return code_blocks("exact-totals.md", language)


def page_flags():
    command, = page("sh")
    return [word for word in command.split() if word.startswith("--enable-feature=")]


@dataclasses.dataclass
class Figure:
    """How far the sum of all is from the node's active energy."""
    server: str
    form: str  # of the agent's series
    query: str
    off: float
    bound: float = None

    def __str__(self):
        return f"{self.server}, {self.form}, {self.query}: {100 * self.off:+.4f} %"


class Window:
    """Queries over a time that begins and ends in the middle of everything."""

    def __init__(self, begin, end):
        self.begin, self.end = begin, end

    def value(self, server, agent, query):
        query = re.sub(r"\b15m\b", f"{round(1000 * (self.end - self.begin))}ms", query)
        query = query.replace('{zone="package"', f'{{instance="127.0.0.1:{agent.port}",zone="package"')
        return sum(float(sample["value"][1]) for sample in server.ask(query=query, time=f"{self.end:.3f}"))

    def figures(self, name, server, form, agent):
        by_name, balance, difference, _by_user = page("promql")
        def off(query, reference):
            return self.value(server, agent, query) / self.value(server, agent, reference) - 1
        yield Figure(name, form, "difference", off(difference, ACTIVE_OF_TWO_SCRAPES), ROUNDING)
        yield Figure(name, form, "increase", off(balance.replace(" anchored", ""), ACTIVE_OF_TWO_SCRAPES))
        if name == OLD:
            return
        exact = name != PLAIN and form != "default"
        yield Figure(name, form, "anchored", off(balance, ACTIVE), TOLERANCE if exact else None)
        if exact:
            rest = balance[balance.index("+") + 1:]
            whole = self.value(server, agent, by_name) + self.value(server, agent, rest)
            yield Figure(name, form, "by program", whole / self.value(server, agent, balance) - 1, ROUNDING)


def exact_totals(seconds, interval, source=None, newer=True):
    """Σ listed + unlisted (≠ departed) + unattributed against the node's active energy, over `seconds` of short processes.
    newer: with Prometheus 3.16 too."""
    config = replace_once(page("yaml")[1], "scrape_interval: 15s", f"scrape_interval: {interval}s")
    in_openmetrics = replace_once(config, "scrape_configs:", "  scrape_protocols: [OpenMetricsText1.0.0]\nscrape_configs:")
    with contextlib.ExitStack() as stack:
        tree = stack.enter_context(PowercapTree(ONE_PACKAGE))
        forms = {"exact": page("yaml")[0], "default": "{}", **({"exact, createdLines": CREATED_LINES} if newer else {})}
        agents = {form: stack.enter_context(metered_agent(tree, interval=f"{min(interval, 5)}s", source=source, config=text))
                  for form, text in forms.items()}
        pages = [agents["exact"].port, agents["default"].port]
        servers = {OLD: Prometheus(*pages, config=config)}
        if newer:
            servers[PLAIN] = Prometheus(*pages, config=config, program=NEWER)
            servers[FLAGS] = Prometheus(*pages, config=config, program=NEWER, flags=page_flags())
            servers[OPENMETRICS] = Prometheus(agents["exact, createdLines"].port, config=in_openmetrics, program=NEWER,
                                              flags=page_flags())
        for server in servers.values():
            stack.enter_context(server)
        tree.start()
        with Churn() as churn:
            wait_until(lambda: all(server.scrapes() >= 4 for server in servers.values()), "two scrapes of each agent",
                       4 * interval + 60, period=0.2)
            begin = time.time()
            time.sleep(seconds)
            window = Window(begin, time.time())
            figures = [figure for name, server in servers.items() for form, agent in agents.items()
                       if agent.port in server.agents for figure in window.figures(name, server, form, agent)]
            failed = sum(server.failed_scrapes() for server in servers.values())
    problems = [f"{figure}, allowed ±{100 * figure.bound:g} %" for figure in figures
                if figure.bound is not None and not abs(figure.off) <= figure.bound]
    problems += [f"{failed} scrapes failed"] if failed else []
    if newer and sum(figure.bound == TOLERANCE for figure in figures) != 2:
        problems.append("no figure of the page's three steps, in protobuf and in OpenMetrics")
    return Outcome(f"exact totals: {churn.made} short processes, {seconds} s, scraped every {interval} s. "
                   + "; ".join(map(str, figures)), problems)
