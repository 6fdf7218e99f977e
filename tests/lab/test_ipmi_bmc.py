"""Checks the BMC of the hardware lab with ipmitool: an independent program reads the programmed values."""
import re
import shutil
import tempfile
import time
import unittest

import ipmi_bmc

UNMET = ipmi_bmc.missing() or ("" if shutil.which("ipmitool") else "ipmitool")


@unittest.skipIf(UNMET, f"the package {UNMET} is not installed")
class IpmiBmcTest(unittest.TestCase):
    def bmc(self, **options):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        bmc = ipmi_bmc.Bmc(folder.name, **options).start()
        self.addCleanup(bmc.stop)
        return bmc

    @staticmethod
    def power(bmc):
        text = bmc.ipmitool("dcmi", "power", "reading")
        return int(re.search(r"Instantaneous power reading: *(\d+) Watts", text)[1]), text

    def test_power_reading_is_the_programmed_one(self):
        bmc = self.bmc()
        for watts in (217, 431):
            bmc.set_watts(watts)
            read, text = self.power(bmc)
            self.assertEqual(read, watts)
            self.assertIn("activated", text)
        self.assertRegex(text, r"Minimum during sampling period: *217 Watts")
        self.assertRegex(text, r"Average power reading over sample period: *324 Watts")

    def test_sensor_is_in_steps_of_four_watts(self):
        bmc = self.bmc(dcmi=False)
        bmc.set_watts(431)
        deadline = time.monotonic() + 20
        while "432 Watts" not in (text := bmc.ipmitool("sdr", "list", "full")) and time.monotonic() < deadline:
            pass
        self.assertRegex(text, r"System Power +\| 432 Watts")
        with self.assertRaises(AssertionError):
            bmc.ipmitool("dcmi", "power", "reading")

    def test_faults_reach_the_reader(self):
        bmc = self.bmc()
        bmc.set_fault("inactive")
        self.assertIn("deactivated", self.power(bmc)[1])
        bmc.set_fault("code-d5")
        with self.assertRaisesRegex(AssertionError, "(?i)d5|present state"):
            self.power(bmc)
        bmc.set_fault("")
        self.assertEqual(self.power(bmc)[0], 200)

    def test_restart_answers_again(self):
        bmc = self.bmc()
        bmc.stop()
        bmc.start()
        self.assertEqual(self.power(bmc)[0], 200)


if __name__ == "__main__":
    unittest.main()
