// `npm run check`: what the tests need, then formatting, lint, types, tests. Ends with one line
// that counts the tests.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { prepare } from '../test/servers/debian-package.ts'
import { ROOT } from './run.ts'

/** A program the tests start, and the Debian package that brings it. */
const REAL_PARTS = {
  '/usr/lib/postgresql/15/bin/postgres': 'postgresql-15',
  '/usr/sbin/rbldnsd': 'rbldnsd',
  '/usr/sbin/nsd': 'nsd',
  '/usr/bin/openssl': 'openssl',
  '/usr/bin/chromium-headless-shell': 'chromium-headless-shell',
  '/usr/bin/fail2ban-server': 'fail2ban',
  '/usr/sbin/nft': 'nftables',
  '/usr/sbin/nginx': 'nginx',
  '/usr/bin/promtool': 'prometheus',
  '/usr/sbin/unbound-checkconf': 'unbound',
  '/usr/bin/unbound-host': 'unbound-host',
  '/usr/bin/ldns-signzone': 'ldnsutils',
  '/usr/sbin/ipset': 'ipset',
  '/usr/sbin/iptables': 'iptables',
  '/usr/sbin/ip': 'iproute2',
  '/usr/bin/shellcheck': 'shellcheck',
  '/usr/bin/curl': 'curl',
  '/usr/bin/swaks': 'swaks',
  '/usr/bin/apprise': 'apprise',
  // Required by swaks for TLS. Its path depends on the processor.
  '/usr/share/doc/libnet-ssleay-perl/copyright': 'libnet-ssleay-perl',
  '/usr/bin/tmux': 'tmux',
  '/usr/bin/zsh': 'zsh',
  '/usr/bin/fish': 'fish',
  // Debian’s minimal images have a placeholder at /usr/bin/man.
  '/usr/bin/mandb': 'man-db',
  '/usr/bin/groff': 'groff-base',
  '/usr/bin/jq': 'jq',
  '/usr/bin/wget': 'wget',
  '/usr/bin/systemd-analyze': 'systemd',
  '/etc/services': 'netbase',
}

/**
 * The tests that most likely detect missing notifications between instances. `npm run test:scaled`
 * runs the rest.
 */
const SCALED = [
  'test/webhooks/events',
  'test/http/changes',
  'test/accounts/tokens',
  'test/accounts/own-data',
]

/** More failed test files than this are not caused by a busy machine. */
const MAX_RETRIED_FILES = 3

installRealParts()
prepare()
// Side by side in two chains: prettier, the slowest, uses one processor.
const chains = await Promise.all([
  runAll([['prettier', '--check', '--log-level=warn', '.']]),
  runAll([
    ['oxlint', '--type-aware', '--deny-warnings'],
    ['node', 'scripts/licences.ts'],
    ['node', 'scripts/audit.ts', '--if-reachable'],
    ['tsc', '-p', '.'],
    ['tsc', '-p', 'web'],
    ['npm', 'run', '--silent', 'build:web'],
  ]),
])
if (chains.includes(false)) process.exit(1)
test(['--config=test/scaled/vitest.config.ts'], SCALED)
test()

function installRealParts(): void {
  const missing = Object.entries(REAL_PARTS)
    .filter(([program]) => !existsSync(program))
    .map(([, name]) => name)
  if (missing.length === 0) return
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    console.error(
      `The tests need these Debian packages: ${missing.join(' ')}. Install them, then run this again.`,
    )
    process.exit(1)
  }
  console.log(`Installing ${missing.join(', ')} …`)
  apt('update', '-qq')
  apt('install', '-y', '-qq', '--no-install-recommends', ...missing)
}

function apt(...args: string[]): void {
  // Without policy-rc.d a package would start its daemon, which is not the one the tests start.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  const { status } = spawnSync('apt-get', args, { env, stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) process.exit(status ?? 1)
}

/** Runs commands in this order until one fails. Returns whether all succeeded. */
async function runAll(commands: [string, ...string[]][]): Promise<boolean> {
  for (const [command, ...args] of commands) {
    const [status] = await once(spawn(command, args, { cwd: ROOT, stdio: 'inherit' }), 'exit')
    if (status === 0) continue
    console.error(`${command} ${args.join(' ')} failed.`)
    return false
  }
  return true
}

/**
 * Runs the tests. Files that wait for real servers can fail on a busy machine: up to three are run
 * again, alone, and named, so that they get fixed. A defect of the product fails there, too.
 */
function test(options: string[] = [], files: string[] = []): void {
  const first = vitest([...options, ...files])
  reportCounts(first.counts)
  if (first.status === 0) return
  const { failedFiles } = first
  if (failedFiles.length === 0 || failedFiles.length > MAX_RETRIED_FILES) process.exit(first.status)
  console.log(`Failed among the others, so run again alone:\n${failedFiles.join('\n')}`)
  const again = vitest([...options, '--no-file-parallelism', ...failedFiles])
  if (again.status !== 0) process.exit(again.status)
  console.log(`Passed alone; fix the cause:\n${failedFiles.join('\n')}`)
  reportCounts({ ...first.counts, passed: first.counts.passed + first.counts.failed, failed: 0 })
}

function reportCounts({ passed, failed, skipped }: Outcome['counts']): void {
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`)
}

type Outcome = {
  status: number
  counts: { passed: number; failed: number; skipped: number }
  /** Paths of the files in which a test failed. */
  failedFiles: string[]
}

function vitest(args: string[]): Outcome {
  const folder = mkdtempSync(join(tmpdir(), 'portreeve-check-'))
  const results = join(folder, 'results.json')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${results}`]
  const { status } = spawnSync('vitest', ['run', ...reporters, ...args], {
    cwd: ROOT,
    stdio: 'inherit',
  })
  const outcome: Outcome = {
    status: status ?? 1,
    counts: { passed: 0, failed: 0, skipped: 0 },
    failedFiles: [],
  }
  if (existsSync(results)) {
    const { numPassedTests, numFailedTests, numPendingTests, testResults } = JSON.parse(
      readFileSync(results, 'utf8'),
    )
    outcome.counts = { passed: numPassedTests, failed: numFailedTests, skipped: numPendingTests }
    outcome.failedFiles = testResults
      .filter((file: { status: string }) => file.status === 'failed')
      .map((file: { name: string }) => file.name)
  }
  rmSync(folder, { recursive: true })
  return outcome
}
