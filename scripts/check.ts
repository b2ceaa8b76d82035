// `npm run check`: what the tests need, then formatting, lint, types, tests. Ends with one line that counts the tests.
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
  // With which swaks speaks TLS; where it lies depends on the processor.
  '/usr/share/doc/libnet-ssleay-perl/copyright': 'libnet-ssleay-perl',
  '/usr/bin/jq': 'jq',
  '/usr/bin/wget': 'wget',
  '/usr/bin/systemd-analyze': 'systemd',
  '/etc/services': 'netbase',
}

/** What shows soonest that instances do not hear of one another; `npm run test:scaled` runs the rest. */
const SCALED = ['test/webhooks/events', 'test/http/changes', 'test/accounts/tokens', 'test/accounts/own-data']

installRealParts()
prepare()
run('prettier', ['--check', '--log-level=warn', '.'])
run('oxlint', ['--type-aware', '--deny-warnings'])
run('node', ['scripts/licences.ts'])
run('node', ['scripts/audit.ts', '--if-reachable'])
run('tsc', ['-p', '.'])
run('tsc', ['-p', 'web'])
run('npm', ['run', '--silent', 'build:web'])
run('vitest', ['run', '--config=test/scaled/vitest.config.ts', '--reporter=dot', ...SCALED])
test()

function installRealParts(): void {
  const missing = Object.entries(REAL_PARTS)
    .filter(([program]) => !existsSync(program))
    .map(([, name]) => name)
  if (missing.length === 0) return
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    console.error(`The tests need these Debian packages: ${missing.join(' ')}. Install them, then run this again.`)
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

function test(): void {
  const folder = mkdtempSync(join(tmpdir(), 'portreeve-check-'))
  const results = join(folder, 'results.json')
  const args = ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${results}`]
  const { status } = spawnSync('vitest', args, { cwd: ROOT, stdio: 'inherit' })
  if (existsSync(results)) {
    const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(readFileSync(results, 'utf8'))
    console.log(`${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`)
  }
  rmSync(folder, { recursive: true })
  process.exit(status ?? 1)
}
