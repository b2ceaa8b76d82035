import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'

export type SpamFilter = { port: number; stop(): Promise<void> }

/** Debian’s rspamd with its own rules, without Redis, Bayes and the network. */
export async function startRspamd(): Promise<SpamFilter> {
  const folder = mkdtempSync(join(tmpdir(), 'portreeve-rspamd-'))
  chmodSync(folder, 0o777)
  const port = await freePort()
  const configuration = `
.include "$CONFDIR/common.conf"
options {
  .include "$CONFDIR/options.inc"
  pidfile = "${folder}/rspamd.pid";
  # Compiling thousands of suffixes takes a minute.
  url_tld = "${folder}/suffixes";
  dns { nameserver = ["127.0.0.1:9:1"]; timeout = 0.1s; retransmits = 1; }
}
logging { type = "console"; level = "error"; }
worker "normal" { bind_socket = "127.0.0.1:${port}"; count = 1; }
`
  writeFileSync(join(folder, 'rspamd.conf'), configuration)
  writeFileSync(join(folder, 'suffixes'), 'test\ncom\n')
  const variables = ['DBDIR', 'RUNDIR', 'LOGDIR'].map((name) => `--var=${name}=${folder}`)
  const args = ['-f', '-i', '-c', join(folder, 'rspamd.conf'), ...variables]
  return started(spawn('/usr/bin/rspamd', args, QUIET), port, folder)
}

/** Debian’s spamd with its own rules, without Bayes and the network. */
export async function startSpamd(): Promise<SpamFilter> {
  const folder = mkdtempSync(join(tmpdir(), 'portreeve-spamd-'))
  chmodSync(folder, 0o777)
  const port = await freePort()
  const args = [
    '--local',
    '--nouser-config',
    '--max-children=1',
    '--username=nobody',
    `--helper-home-dir=${folder}`,
    '--cf=use_bayes 0',
    '--listen=127.0.0.1',
    `--port=${port}`,
    `--pidfile=${folder}/spamd.pid`,
    '--syslog=null',
  ]
  return started(spawn('/usr/sbin/spamd', args, QUIET), port, folder)
}

const QUIET = { stdio: 'ignore' as const }

async function started(child: ChildProcess, port: number, folder: string): Promise<SpamFilter> {
  const stop = async () => {
    if (child.exitCode === null && child.kill()) await once(child, 'exit')
    rmSync(folder, { recursive: true, force: true })
  }
  for (const until = Date.now() + 120_000; !(await isListening(port));) {
    if (child.exitCode !== null || Date.now() > until) {
      await stop()
      throw new Error(`${child.spawnfile} does not listen`)
    }
    await new Promise((done) => setTimeout(done, 100))
  }
  return { port, stop }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => socket.destroy()).on('close', (failed) => resolve(!failed))
    socket.on('error', () => {})
  })
}
