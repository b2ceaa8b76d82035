// `npm run check`: what the tests need, then formatting, lint, types, tests. Ends with one line
// that counts the tests.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { prepare } from '../test/servers/debian-package.ts'
import { ROOT, run } from './run.ts'

/** A program the tests start, and the Debian package that brings it. */
const REAL_PARTS = {
  '/usr/lib/postgresql/15/bin/postgres': 'postgresql-15',
  '/usr/sbin/rbldnsd': 'rbldnsd',
  '/usr/sbin/nsd': 'nsd',
  '/usr/bin/openssl': 'openssl',
  '/usr/bin/chromium': 'chromium',
  '/usr/bin/fail2ban-server': 'fail2ban',
  '/usr/sbin/nft': 'nftables',
  '/usr/sbin/nginx': 'nginx',
  '/usr/bin/promtool': 'prometheus',
  '/usr/sbin/unbound-checkconf': 'unbound',
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

/** More red test files than this are no matter of a busy machine. */
const FEW = 3

installRealParts()
prepare()
run('prettier', ['--check', '--log-level=warn', '.'])
run('oxlint', ['--type-aware', '--deny-warnings'])
run('node', ['scripts/licences.ts'])
run('node', ['scripts/audit.ts', '--if-reachable'])
run('tsc', ['-p', '.'])
run('tsc', ['-p', 'web'])
run('npm', ['run', '--silent', 'build:web'])
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

/**
 * Runs the tests. Files that wait for real servers can fail on a busy machine: up to three are run
 * again, alone, and named, so that they get fixed. A defect of the product fails there, too.
 */
function test(options: string[] = [], files: string[] = []): void {
  const first = vitest([...options, ...files])
  tell(first.counts)
  if (first.status === 0) return
  const { red } = first
  if (red.length === 0 || red.length > FEW) process.exit(first.status)
  console.log(`Red among the others, so run once more alone:\n${red.join('\n')}`)
  const again = vitest([...options, '--no-file-parallelism', ...red])
  if (again.status !== 0) process.exit(again.status)
  console.log(`Green alone, and to be mended:\n${red.join('\n')}`)
  tell({ ...first.counts, passed: first.counts.passed + first.counts.failed, failed: 0 })
}

function tell({ passed, failed, skipped }: Outcome['counts']): void {
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`)
}

type Outcome = {
  status: number
  counts: { passed: number; failed: number; skipped: number }
  /** Paths of the files in which a test failed. */
  red: string[]
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
    red: [],
  }
  if (existsSync(results)) {
    const { numPassedTests, numFailedTests, numPendingTests, testResults } = JSON.parse(
      readFileSync(results, 'utf8'),
    )
    outcome.counts = { passed: numPassedTests, failed: numFailedTests, skipped: numPendingTests }
    outcome.red = testResults
      .filter((file: { status: string }) => file.status === 'failed')
      .map((file: { name: string }) => file.name)
  }
  rmSync(folder, { recursive: true })
  return outcome
}
