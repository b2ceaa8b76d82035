import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { ROOT, VERSION } from '../../src/version.ts'
import { figure } from './figures.ts'

const PROGRAMS = ['/usr/bin/mmdebstrap', '/usr/bin/systemd-nspawn', '/usr/bin/lintian']
const PACKAGES = 'systemd,systemd-sysv,dbus,adduser,libstdc++6,man-db'
const BUILD_MS = 900_000
const COMMIT = '0123456789ab'

let work: string
let system: string
let deb: string
let newer: string
let machine: ChildProcess
let leader: string

const run = (command: string, args: string[], cwd = work) =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

/** Runs a line of shell as root in the booted system. */
function enter(line: string): { status: number | null; out: string } {
  const into = ['-t', leader, '-m', '-u', '-i', '-n', '-p', '--root', '--wd']
  const args = [...into, '/usr/bin/env', '-i', 'PATH=/usr/sbin:/usr/bin:/sbin:/bin', 'HOME=/root']
  const { status, stdout, stderr } = spawnSync('nsenter', [...args, 'sh', '-c', line], {
    encoding: 'utf8',
    timeout: 120_000,
  })
  return { status, out: stdout + stderr }
}

/** The output of a line that must succeed. */
function done(line: string): string {
  const { status, out } = enter(line)
  expect(status, `${line}\n${out}`).toBe(0)
  return out
}

const started = () => done('systemctl show portreeve --property=ExecMainStartTimestampMonotonic')
const isReady = () =>
  enter(
    `/usr/lib/portreeve/runtime/node -e "fetch('http://127.0.0.1:8080/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"`,
  ).status === 0
const untilReady = () => expect.poll(isReady, { timeout: 60_000, interval: 500 }).toBe(true)

beforeAll(async () => {
  const missing = PROGRAMS.filter((program) => !existsSync(program))
  if (missing.length > 0 || process.getuid?.() !== 0)
    throw new Error(
      `This test needs root and ${missing.join(', ')}: apt-get install mmdebstrap systemd-container lintian`,
    )
  // Not in /tmp, whose file system may allow no devices.
  mkdirSync('/var/cache/portreeve', { recursive: true })
  work = mkdtempSync('/var/cache/portreeve/debian-')
  system = join(work, 'system')
  const begun = performance.now()
  buildPackages()
  run('mmdebstrap', ['--variant=minbase', `--include=${PACKAGES}`, 'bookworm', system])
  for (const file of [deb, newer])
    copyFileSync(file, join(system, 'root', `${file === deb ? 'first' : 'second'}.deb`))
  await boot()
  figure('Debian package and system built', `${Math.round((performance.now() - begun) / 1000)} s`)
}, BUILD_MS)

afterAll(async () => {
  if (machine?.exitCode === null) {
    // The first process of the system, with which all others end.
    process.kill(Number(leader || machine.pid), 'SIGKILL')
    await once(machine, 'exit')
  }
  if (work) rmSync(work, { recursive: true, force: true })
})

function buildPackages(): void {
  const checkout = join(work, 'checkout')
  mkdirSync(checkout)
  const listed = spawnSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    { cwd: ROOT },
  ).stdout
  const tracked = listed
    .toString()
    .split('\0')
    .filter((path) => path !== '' && existsSync(join(ROOT, path)))
  writeFileSync(join(work, 'files'), tracked.join('\0'))
  run('sh', ['-c', `tar -C ${ROOT} --null -T files -c | tar -x -C checkout`])
  symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'))
  run('sh', ['-c', `COMMIT=${COMMIT} npm pack --silent --pack-destination ${work}`], checkout)
  const maker = ['DEBEMAIL=portreeve@users.noreply.github.com', process.execPath]
  const tarball = join(work, `portreeve-${VERSION}.tgz`)
  run('env', [...maker, 'scripts/debian-package.ts', tarball], checkout)
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch
  deb = join(checkout, `portreeve_${VERSION}-1_${architecture}.deb`)
  newer = join(work, 'newer.deb')
  run('dpkg-deb', ['--raw-extract', deb, 'raw'])
  const control = join(work, 'raw/DEBIAN/control')
  const text = readFileSync(control, 'utf8').replace(/^Version: .*$/m, `Version: ${VERSION}-2`)
  writeFileSync(control, text)
  run('dpkg-deb', ['--root-owner-group', '-Znone', '--build', 'raw', newer])
  rmSync(join(work, 'raw'), { recursive: true })
}

async function boot(): Promise<void> {
  const args = [
    '--register=no',
    '--keep-unit',
    '--quiet',
    '--private-network',
    '--boot',
    '-D',
    system,
  ]
  machine = spawn('systemd-nspawn', args, { stdio: 'ignore' })
  const children = `/proc/${machine.pid}/task/${machine.pid}/children`
  await vi.waitFor(
    () => {
      leader = readFileSync(children, 'utf8').trim().split(' ')[0] ?? ''
      expect(enter('systemctl is-system-running').out).toMatch(/^(?:running|degraded)/)
    },
    { timeout: 90_000, interval: 500 },
  )
}

describe('the Debian package', () => {
  it(
    'has nothing that lintian objects to',
    () => {
      const { stdout, status } = spawnSync('lintian', ['--fail-on', 'error,warning', deb], {
        encoding: 'utf8',
      })
      expect([stdout, status]).toEqual(['', 0])
    },
    BUILD_MS,
  )

  it('installs, and runs the service at once', async () => {
    const out = done('dpkg -i /root/first.deb')
    expect(out).toContain('journalctl --unit portreeve')
    await untilReady()
    expect(done('systemctl is-enabled portreeve')).toBe('enabled\n')
    expect(done('stat -c "%U:%G %a" /var/lib/portreeve /etc/portreeve/portreeve.env')).toBe(
      'portreeve:portreeve 700\nroot:portreeve 640\n',
    )
    expect(done('portreeve version')).toBe(`${VERSION} (commit ${COMMIT})\n`)
    done('man --where portreeve; test -s /usr/share/bash-completion/completions/portreeve')
  })

  it('runs commands as the documentation has them, as root and as the user of the service', async () => {
    done(
      'echo "BASE_URL=https://portreeve.example" >> /etc/portreeve/portreeve.env && systemctl restart portreeve',
    )
    await untilReady()
    const create = 'portreeve user create --email ops@example.com --password-stdin --admin'
    done(`cd /root && echo 'a password of hers' | ${create}`)
    done('mkdir /backups && portreeve backup /backups/portreeve-$(date +%F).tar.gz')
    for (const as of ['', 'runuser -u portreeve -- '])
      expect(done(`cd / && ${as}portreeve user list`)).toContain('ops@example.com')
    const link = done('portreeve user reset-link ops@example.com')
    expect(link).toContain('https://portreeve.example/reset-password#')
    const { data } = JSON.parse(enter('portreeve doctor --json').out) as {
      data: { about: string; state: string; sentence: string }[]
    }
    expect(data[0]?.sentence).toBe('The settings of /etc/portreeve/portreeve.env are valid.')
    for (const port of [8080, 2525])
      expect(data).toContainEqual({
        about: `port ${port}`,
        state: 'good',
        sentence: expect.stringContaining('In use by this service'),
      })
    expect(done('find /var/lib/portreeve -not -user portreeve')).toBe('')
    const { status, out } = enter('runuser -u nobody -- portreeve user list')
    expect([status, out]).toEqual([1, expect.stringContaining('/etc/portreeve/portreeve.env')])
  })

  it('restarts the service at an upgrade, and keeps settings and data', async () => {
    const before = started()
    done('dpkg -i /root/second.deb')
    await untilReady()
    expect(started()).not.toBe(before)
    expect(done('cat /etc/portreeve/portreeve.env')).toContain('BASE_URL=https://portreeve.example')
    expect(done('portreeve user list')).toContain('ops@example.com')
  })

  it('stops the service when it is removed, and finds its data when it is installed again', async () => {
    done('dpkg -r portreeve')
    expect(enter('systemctl is-active portreeve').out.trim()).toBe('inactive')
    expect(done('grep -lx postgres /proc/[0-9]*/comm || true')).toBe('')
    done(
      'test -e /etc/portreeve/portreeve.env -a -d /var/lib/portreeve/postgres -a ! -e /usr/lib/portreeve',
    )
    done('dpkg -i /root/first.deb')
    await untilReady()
    expect(done('portreeve user list')).toContain('ops@example.com')
  })

  it('keeps only the data when it is purged, and says where', () => {
    expect(done('dpkg -P portreeve')).toContain('The data is kept in /var/lib/portreeve')
    done('test ! -e /etc/portreeve -a -d /var/lib/portreeve/postgres')
    expect(done('systemctl list-unit-files | grep -c portreeve || true').trim()).toBe('0')
  })
})
