import { execFileSync } from 'node:child_process'
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Servers and programs with what they need, by the name of the folder they are unpacked into. Debian allows
 * only one IMAP server to be installed: these never are.
 */
const PACKAGES = {
  dovecot: ['dovecot-core', 'dovecot-imapd', 'liblua5.4-0', 'libexttextcat-2.0-0', 'libwrap0'],
  'dovecot-sieve': [
    'dovecot-core',
    'dovecot-imapd',
    'dovecot-lmtpd',
    'dovecot-sieve',
    'liblua5.4-0',
    'libexttextcat-2.0-0',
    'libwrap0',
  ],
  cyrus: [
    'cyrus-common',
    'cyrus-imapd',
    'libical3',
    'libxapian30',
    'libpcre3',
    'libwrap0',
    'sasl2-bin',
  ],
  courier: [
    'courier-base',
    'courier-imap',
    'courier-authlib',
    'courier-authlib-userdb',
    'libcourier-unicode4',
    'libidn12',
    'libgamin0',
    'gamin',
    'libglib2.0-0',
    'libltdl7',
    'libpcre3',
  ],
  isync: ['isync'],
  crowdsec: ['crowdsec'],
  'crowdsec-firewall-bouncer': ['crowdsec-firewall-bouncer'],
  haproxy: ['haproxy', 'liblua5.3-0', 'libopentracing-c-wrapper0', 'libopentracing1'],
  caddy: ['caddy'],
  faketime: ['libfaketime'],
  etcd: ['etcd-server'],
  patroni: [
    'patroni',
    'python3-cdiff',
    'python3-click',
    'python3-dateutil',
    'python3-dnspython',
    'python3-etcd',
    'python3-pkg-resources',
    'python3-prettytable',
    'python3-psutil',
    'python3-psycopg2',
    'python3-six',
    'python3-urllib3',
    'python3-wcwidth',
    'python3-yaml',
    'libpq5',
    'libyaml-0-2',
  ],
} as const

/**
 * Compiled into each of these files: a path, and one of the same length that leads into the folder
 * a server runs in.
 */
const DOVECOT_PATHS = [
  {
    file: 'usr/lib/dovecot/libdovecot.so.0.0.0',
    compiled: '/usr/lib/dovecot/modules\0',
    own: '/proc/self/cwd/modules\0\0\0',
  },
]

const PATHS: Partial<Record<PackageSet, { file: string; compiled: string; own: string }[]>> = {
  dovecot: DOVECOT_PATHS,
  'dovecot-sieve': DOVECOT_PATHS,
  // `/run/courier/authdaemon/socket`: the compiler cut it into two overlapping pieces of sixteen
  // bytes.
  courier: [
    {
      file: 'usr/lib/libcourierauth.so.0.0.0',
      compiled: '/run/courier/aut',
      own: '/proc/self/cwd//',
    },
    {
      file: 'usr/lib/libcourierauth.so.0.0.0',
      compiled: 'thdaemon/socket\0',
      own: '/////////socket\0',
    },
  ],
}

export type PackageSet = keyof typeof PACKAGES

/** A server that drops root must be able to read its own files, wherever the checkout is. */
const CACHE =
  process.getuid?.() === 0
    ? '/var/cache/portreeve'
    : join(dirname(fileURLToPath(import.meta.url)), '../../node_modules/.cache/portreeve')

/**
 * Downloads and unpacks Debian packages, once; nothing is installed.
 * @returns the folder that stands for `/` in the packages
 */
export function unpacked(set: PackageSet): string {
  const folder = join(CACHE, set)
  if (existsSync(join(folder, 'complete'))) return folder
  mkdirSync(CACHE, { recursive: true })
  const half = mkdtempSync(join(CACHE, `${set}-`))
  execFileSync('chmod', ['755', half])
  execFileSync('apt-get', ['-q', '-o', 'APT::Sandbox::User=root', 'download', ...PACKAGES[set]], {
    cwd: half,
    stdio: 'pipe',
  })
  for (const file of globSync('*.deb', { cwd: half })) {
    execFileSync('dpkg-deb', ['-x', file, '.'], { cwd: half })
    rmSync(join(half, file))
  }
  for (const { file, compiled, own } of PATHS[set] ?? []) replaceIn(join(half, file), compiled, own)
  writeFileSync(join(half, 'complete'), '')
  try {
    renameSync(half, folder)
  } catch {
    // Another process was faster.
    rmSync(half, { recursive: true })
  }
  return folder
}

function replaceIn(file: string, compiled: string, own: string): void {
  const bytes = readFileSync(file, 'latin1')
  if (!bytes.includes(compiled) || own.length !== compiled.length)
    throw new Error(`${file} has no ${compiled}`)
  writeFileSync(file, bytes.replaceAll(compiled, own), 'latin1')
}

/** Folders with the libraries of a set, for LD_LIBRARY_PATH. */
export function librariesOf(folder: string, ...more: string[]): string {
  const system = globSync(['usr/lib/*-linux-gnu', 'lib/*-linux-gnu'], { cwd: folder })
  return [...more, ...system].map((path) => join(folder, path)).join(':')
}

/** Makes sure that every server is there before tests run side by side. */
export function prepare(): void {
  for (const set of Object.keys(PACKAGES) as PackageSet[]) unpacked(set)
}
