"""Whether the agent takes the configuration and the arguments that the chart gives it."""
import os
import subprocess
import tempfile

from harness import binary, require


def refusal(rendering):
    """What the agent has against a rendering, or None."""
    require(os.environ.get("KEPLER_BIN"), "KEPLER_BIN is not set")
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file, tempfile.NamedTemporaryFile("w") as cluster:
        file.write(rendering.config_text)
        file.flush()
        # What is mounted there is not here, nor is the cluster.
        cluster.write("current-context: a\ncontexts: [{name: a, context: {cluster: b}}]\n"
                      "clusters: [{name: b, cluster: {server: 'https://127.0.0.1:1'}}]\n")
        cluster.flush()
        here = ["--host.sysfs=/sys", "--host.procfs=/proc", "--web.config-file=", "--model.server-user=",
                "--model.server-password-file=", f"--kube.config={cluster.name}"]
        arguments = [argument.replace("$(NODE_NAME)", "node-a") for argument in rendering.agent["args"][1:]]
        result = subprocess.run([binary(), f"--config.file={file.name}", *arguments, *here, "--config.check"],
                                capture_output=True, text=True, timeout=60, check=False)
    return result.stdout + result.stderr if result.returncode else None
