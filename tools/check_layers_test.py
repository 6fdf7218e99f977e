#!/usr/bin/env python3
"""Tests of tools/check_layers.py. Run: python3 tools/check_layers_test.py"""
import unittest

from checked_tree import CheckedTree


class CheckLayers(CheckedTree):
    TOOL, FOLDER = "check_layers.py", "src"

    def setUp(self):
        super().setUp()
        self.write("base/result.h", "#pragma once\n#include <string>\n")
        self.write("os/file.h", '#include "base/result.h"\n')

    def test_allowed_edges_pass(self):
        self.write("energy/meter.h", '#include "base/result.h"\n')
        self.write("energy/rapl/source.cc", '#include "energy/meter.h"\n#include "base/result.h"\n')
        self.write("energy/rapl/CMakeLists.txt", "kepler_library(energy_rapl SOURCES source.cc DEPS kepler::energy)\n")
        self.assert_clean()

    def test_edge_to_the_right_is_found_with_file_and_line(self):
        self.write("pipeline/tick.h", "")
        self.write("base/clock.cc", '\n#include "pipeline/tick.h"\n')
        self.assert_finding("src/base/clock.cc:2", "base must not see pipeline")

    def test_the_kernel_side_is_seen_by_its_room_only(self):
        self.write("../bpf/abi.h", "")
        self.write("activity/bpf/records.h", '#include "bpf/abi.h"\n')
        self.write("activity/bpf/CMakeLists.txt", "kepler_library(activity_bpf SOURCES x.cc DEPS kepler::bpf)\n")
        self.assert_clean()
        self.write("pipeline/tick.cc", '#include "bpf/abi.h"\n')
        self.assert_finding("src/pipeline/tick.cc:1", "pipeline must not see bpf/")

    def test_siblings_do_not_see_each_other(self):
        self.write("energy/rapl/source.h", "")
        self.write("energy/hwmon/source.cc", '#include "energy/rapl/source.h"\n')
        self.assert_finding("energy/hwmon must not see energy/rapl")

    def test_pipeline_sees_interfaces_but_no_implementations(self):
        self.write("activity/activity_source.h", "")
        self.write("activity/procfs/source.h", "")
        self.write("pipeline/tick.cc", '#include "activity/activity_source.h"\n#include "activity/procfs/source.h"\n')
        code, output = self.check()
        self.assertEqual(code, 1)
        self.assertIn("pipeline must not see activity/procfs", output)
        self.assertIn("1 violations", output)

    def test_export_sees_no_attribution(self):
        self.write("attribution/ledger.h", "")
        self.write("export/stdout/table.cc", '#include "attribution/ledger.h"\n')
        self.assert_finding("export/stdout must not see attribution")

    def test_server_sees_the_status_but_no_snapshot(self):
        self.write("status/http_status.h", '#include "base/result.h"\n')
        self.write("http/server/server.h", '#include "status/http_status.h"\n')
        self.write("snapshot/snapshot.h", '#include "status/http_status.h"\n')
        self.assert_clean()
        self.write("http/server/server.cc", '#include "snapshot/snapshot.h"\n')
        self.assert_finding("http/server must not see snapshot", "1 violations")

    def test_only_programs_see_the_daemon_and_their_configuration(self):
        self.write("apps/kepler/config.h", "")
        self.write("daemon/run.h", "")
        self.write("http/server/server.cc", '#include "apps/kepler/config.h"\n#include "daemon/run.h"\n')
        self.write("apps/kepler/main.cc", '#include "daemon/run.h"\n')
        self.assert_finding("http/server must not see apps/kepler", "http/server must not see daemon", "2 violations")

    def test_settings_know_no_program(self):
        self.write("apps/kepler/config.h", "")
        self.write("settings/draft.cc", '#include "apps/kepler/config.h"\n')
        self.assert_finding("settings must not see apps/kepler", "1 violations")

    def test_testing_is_for_tests_only(self):
        self.write("testing/fake_clock.h", '#include "base/result.h"\n')
        self.write("os/file_test.cc", '#include "testing/fake_clock.h"\n')
        self.assert_clean()
        self.write("os/file.cc", '#include "testing/fake_clock.h"\n')
        self.assert_finding("os sees testing")

    def test_header_with_a_fake_is_for_tests_only(self):
        self.write("testing/fake_clock.h", "")
        self.write("os/fake_machine.h", '#include "testing/fake_clock.h"\n')
        self.write("os/other_helper.h", '#include "os/fake_machine.h"\n')
        self.write("os/file_test.cc", '#include "os/other_helper.h"\n')
        self.assert_clean()
        self.write("os/file.cc", '#include "os/other_helper.h"\n')
        self.assert_finding("src/os/file.cc:1", '"os/other_helper.h" is for tests only', "1 violations")

    def test_tests_obey_the_edges_of_their_room(self):
        self.write("daemon/run.h", "")
        self.write("os/file_test.cc", '#include "daemon/run.h"\n')
        self.assert_finding("os must not see daemon")

    def test_suite_of_an_interface_sees_its_implementations(self):
        self.write("energy/rapl/source.h", "")
        self.write("energy/source_behaviour_test.cc", '#include "energy/rapl/source.h"\n')
        self.write("energy/CMakeLists.txt", "kepler_test(energy_test SOURCES a_test.cc DEPS kepler::energy_rapl)\n")
        self.assert_clean()
        self.write("energy/meter.cc", '#include "energy/rapl/source.h"\n')
        self.assert_finding("src/energy/meter.cc:1", "1 violations")

    def test_linked_target_counts_as_an_edge(self):
        self.write("os/CMakeLists.txt", "kepler_library(os SOURCES a.cc\n  # kepler::daemon\n  DEPS kepler::base kepler::settings)\n")
        self.assert_finding("src/os/CMakeLists.txt:1", "os must not see settings", "1 violations")

    def test_link_command_counts_as_an_edge(self):
        self.write("os/CMakeLists.txt", "target_link_libraries(kepler_os PUBLIC kepler::base kepler_snapshot)\n")
        self.assert_finding("os must not see snapshot")

    def test_unknown_target_is_found(self):
        self.write("os/CMakeLists.txt", "kepler_library(os SOURCES a.cc DEPS kepler::bass)\n")
        self.assert_finding("kepler::bass is the target of no room")

    def test_flags_target_is_no_edge(self):
        self.write("os/CMakeLists.txt", "add_executable(tool a.cc)\ntarget_link_libraries(tool PRIVATE kepler_flags)\n")
        self.assert_clean()

    def test_cycle_between_rooms_that_may_see_each_other(self):
        self.write("workload/owner.h", '#include "workload/hypervisor/vm.h"\n')
        self.write("workload/hypervisor/vm.h", "")
        self.assert_clean()
        self.write("workload/hypervisor/vm.cc", '#include "workload/owner.h"\n')
        self.assert_finding("cycle: ")

    def test_unknown_folder_is_found(self):
        self.write("helpers/x.cc", "")
        self.assert_finding("src/helpers is no room")

    def test_pure_rooms_do_no_io(self):
        for header in ("fstream", "unistd.h", "sys/stat.h"):
            with self.subTest(header=header):
                self.write("attribution/split.cc", f"#include <{header}>\n")
                self.assert_finding("attribution is pure", header)
        self.write("attribution/split.cc", "#include <vector>\n")
        self.write("attribution/split_test.cc", "#include <fstream>\n")
        self.assert_clean()

    def test_pure_files_do_no_io_in_a_room_that_does(self):
        self.write("lab/files/read_file.cc", "#include <fcntl.h>\n")
        self.write("lab/files/archive_test.cc", "#include <fstream>\n")
        self.assert_clean()
        for name in ("archive.h", "read_archive.cc", "server_archive.cc"):
            with self.subTest(name=name):
                self.write(f"lab/files/{name}", "#include <sys/stat.h>\n")
                self.assert_finding(f"src/lab/files/{name}:1: lab/files/{name} is pure", "1 violations")
                self.write(f"lab/files/{name}", "")

    def test_pure_rooms_do_not_see_os(self):
        self.write("model/table.cc", '#include "os/file.h"\n')
        self.assert_finding("model must not see os")

    def test_heavy_header_in_a_header_is_found(self):
        self.write("base/log.h", "#include <yaml-cpp/yaml.h>\n")
        self.assert_finding("src/base/log.h:1", "yaml-cpp in a header")

    def test_heavy_header_in_more_than_five_files_is_found(self):
        for number in range(5):
            self.write(f"settings/load{number}.cc", "#include <yaml-cpp/yaml.h>\n")
        self.assert_clean()
        self.write("settings/load5.cc", "#include <yaml-cpp/yaml.h>\n")
        self.assert_finding("yaml-cpp is included by 6 .cc files")

    def test_include_that_is_not_from_src_is_found(self):
        self.write("os/procfs.h", "")
        self.write("os/procfs.cc", '#include "procfs.h"\n')
        self.assert_finding("write the path from src/")
        self.write("os/procfs.cc", '#include "gone/away.h"\n')
        self.assert_finding('"gone/away.h" is not in src/')

    def test_headers_of_two_rooms_with_one_name_are_found(self):
        self.write("base/file.h", "")
        self.assert_finding("src/os/file.h:1", "src/base/file.h has the same name")

    def test_namespaces_follow_folders(self):
        self.write("base/log.h", "namespace kepler::log {\n}\n")
        self.write("snapshot/identity.h", "namespace kepler::snapshot {\n}\n")
        self.write("energy/rapl/source.h", "namespace boost::asio {\n}\nnamespace kepler::energy::rapl {\nnamespace {\n}\n}\n")
        self.write("export/stdout/table.h", "namespace kepler::console {\n}\n")
        self.assert_clean()
        self.write("energy/hwmon/source.cc", "\nnamespace kepler::energy {\n}\n")
        self.write("http/client/client.h", "namespace kepler::http {\n}\n")
        self.assert_finding("src/energy/hwmon/source.cc:2: kepler::energy: the namespace of src/energy/hwmon is kepler::energy::hwmon",
                              "src/http/client/client.h:1", "2 violations")

    def test_tests_may_open_the_namespace_of_an_interface(self):
        self.write("energy/rapl/live_test.cc", "namespace kepler::energy {\n}\n")
        self.assert_clean()
        self.write("energy/rapl/live_test.cc", "namespace kepler::os {\n}\n")
        self.assert_finding("src/energy/rapl/live_test.cc:1")

    def test_sources_of_two_rooms_may_have_one_name(self):
        self.write("base/file.cc", "")
        self.write("os/file.cc", "")
        self.assert_clean()

    def test_long_file_is_a_warning_only(self):
        self.write("os/long.cc", "\n" * 401)
        code, output = self.check()
        self.assertEqual(code, 0)
        self.assertIn("warning: src/os/long.cc: 401 lines", output)

    def test_missing_source_tree_is_an_error(self):
        code, output = self.check(self.tree / "src")
        self.assertEqual(code, 1)
        self.assertIn("no such directory", output)


if __name__ == "__main__":
    unittest.main()
