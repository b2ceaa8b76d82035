# src/cowrie/output/portreeve.py: reports the addresses that sign in to a Cowrie honeypot. In cowrie.cfg:
#   [output_portreeve]
#   enabled = true
#   url = https://reports.example.com
#   token = REPORT_TOKEN
# An address is reported once in ten minutes. User names, passwords and commands are not sent.
from __future__ import annotations

import json
import time

import treq
from twisted.python import log

import cowrie.core.output
from cowrie.core.config import CowrieConfig

PAUSE = 600  # seconds between two reports of an address
MOST = 10_000  # addresses that are remembered


class Output(cowrie.core.output.Output):
    def start(self):
        self.url = CowrieConfig.get("output_portreeve", "url").rstrip("/") + "/api/v1/abuse/report"
        self.token = CowrieConfig.get("output_portreeve", "token", fallback="")
        self.seen = {}

    def stop(self):
        pass

    def write(self, event):
        if not event["eventid"].startswith("cowrie.login."):
            return
        ip, now = event["src_ip"], time.monotonic()
        if now - self.seen.get(ip, -PAUSE) < PAUSE:
            return
        if len(self.seen) >= MOST:
            self.seen.clear()
        self.seen[ip] = now
        service = "telnet" if event.get("protocol") == "telnet" else "ssh"
        headers = {"Content-Type": ["application/json"], "User-Agent": ["portreeve-cowrie/1"]}
        if self.token:
            headers["X-Report-Token"] = [self.token]
        body = json.dumps({"ip": ip, "service": service}).encode()
        done = treq.post(self.url, data=body, headers=headers, timeout=8)
        done.addCallback(self.check, ip)
        done.addErrback(lambda failure: log.msg("portreeve: " + failure.getErrorMessage()))

    def check(self, response, ip):
        if response.code >= 400:
            log.msg("portreeve: the report on %s was answered %d" % (ip, response.code))
        return response.content()
