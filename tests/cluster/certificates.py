"""The cluster's authority and who it vouches for."""
import os
import subprocess


class Authority:
    """ca.crt and ca.key in a directory, and NAME.crt and NAME.key of whomever it issues to."""

    def __init__(self, directory):
        self.directory = directory
        os.makedirs(directory, mode=0o700, exist_ok=True)
        self._openssl("req", "-x509", *self.NEW_KEY, "-days", "2", "-subj", "/CN=cluster", "-keyout", "ca.key",
                      "-out", "ca.crt")

    NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")

    def _openssl(self, *arguments):
        done = subprocess.run(["openssl", *arguments], cwd=self.directory, check=False, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"openssl {arguments[0]}: {done.stderr[-500:]}")

    def path(self, name):
        return os.path.join(self.directory, name)

    def issue(self, name, subject, addresses=(), names=()):
        """For a server and a client alike, as kubelets' are."""
        self._openssl("req", *self.NEW_KEY, "-subj", subject, "-keyout", f"{name}.key", "-out", f"{name}.csr")
        alternatives = [f"IP:{address}" for address in addresses] + [f"DNS:{other}" for other in names]
        with open(self.path(f"{name}.ext"), "w", encoding="ascii") as file:
            file.write("extendedKeyUsage=serverAuth,clientAuth\n")
            if alternatives:
                file.write(f"subjectAltName={','.join(alternatives)}\n")
        self._openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial",
                      "-days", "2", "-extfile", f"{name}.ext", "-out", f"{name}.crt")

    def service_account_key(self):
        self._openssl("genrsa", "-out", "service-accounts.key", "2048")
        return self.path("service-accounts.key")
