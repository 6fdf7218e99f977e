"""Tests of one agent, which is followed through each of them."""
import unittest

from agents import PodAgent
from follower import Follower
from running import cluster


class Followed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.agent = cls.enterClassContext(PodAgent(cluster()))

    def setUp(self):
        self.follower = self.enterContext(Follower(self.agent))
        self.follower.wait_ticks(2)

    def judge(self, least_ticks=4):
        self.follower.wait_ticks(2)
        self.follower.judge(self, least_ticks)
        print(f"{self.follower.ticks} ticks, {self.follower.gaps} not seen; unseen in pods "
              f"{dict(self.follower.unlisted_microjoules)} µJ of {sum(self.follower.given.values())} µJ")
