// `npm run check`: what the tests need, then formatting, lint, types, tests.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
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
  '/usr/bin/rspamd': 'rspamd',
  '/usr/sbin/spamd': 'spamd',
  '/usr/sbin/opendkim': 'opendkim',
  '/usr/sbin/postfix': 'postfix',
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

installRealParts()
prepare()
// TypeScript and its linter collect garbage for half of their processor time by default.
process.env['GOGC'] ??= '400'
// Two chains, one per processor.
const chains = await Promise.all([
  runAll([
    ['oxfmt', '--check'],
    ['oxlint', '--type-aware', '--deny-warnings'],
  ]),
  runAll([
    ['knip'],
    ['node', 'scripts/licences.ts'],
    ['node', 'scripts/audit.ts', '--if-reachable'],
    // More checkers each check the types that they share again.
    ['tsc', '-p', '.', '--checkers', '1'],
    ['tsc', '-p', 'web', '--checkers', '1'],
    ['npm', 'run', '--silent', 'build:web'],
  ]),
])
if (chains.includes(false)) process.exit(1)
test(['--config=test/scaled/vitest.config.ts', ...SCALED])
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

/** Runs tests, and ends the check when one fails or a test process has an unhandled error. */
function test(args: string[] = []): void {
  const { status } = spawnSync('vitest', ['run', ...args], { cwd: ROOT, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
