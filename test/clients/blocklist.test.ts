import { readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ROOT } from '../../src/version.ts'
import { until } from '../servers/fail2ban.ts'
import { startListServer, type ListServer } from '../servers/list-server.ts'
import { openMachine, requirePackages, type Machine } from '../servers/machine.ts'

const BLOCKER = '/usr/local/sbin/portreeve-blocklist'
const LIST = ['45.9.20.7', '45.9.20.100', '45.155.205.0/24', '2a00:1450:1:2::/64']
const lines = (entries: string[]) => entries.map((entry) => `${entry}\n`).join('')

/** A link to a network namespace with three addresses: two are listed, the third is not. */
const CABLE = `set -e
far() { nsenter -t "$OUTSIDE" -n "$@"; }
ip link add inside type veth peer name outside
ip link set outside netns "$OUTSIDE"
ip address add 45.9.20.1/24 dev inside
ip link set inside up
far ip link set outside up
for host in 7 8 100; do far ip address add 45.9.20.$host/24 dev outside; done`

/** No server listens: allowed clients get a reset, dropped ones no response. */
const KNOCK = `import socket, sys
try:
    socket.create_connection(("45.9.20.1", 7000), 1, (sys.argv[1], 0))
except ConnectionRefusedError:
    print("let in")
except socket.timeout:
    print("dropped")`

let machine: Machine
let list: ListServer
beforeAll(async () => {
  requirePackages('nftables', 'ipset', 'iptables', 'iproute2', 'systemd')
  machine = await openMachine({ network: true })
  machine.write(
    BLOCKER,
    readFileSync(join(ROOT, 'clients/fail2ban/portreeve-blocklist'), 'utf8'),
    0o755,
  )
  list = await startListServer(machine)
})
afterAll(() => machine?.close())
beforeEach(() => {
  machine.run([BLOCKER, 'remove'])
  machine.run([
    'rm',
    '-rf',
    '/var/lib/portreeve-blocklist',
    '/etc/portreeve-client/allow.list',
    '/run/requests',
  ])
  list.answerWith(lines(LIST))
})

function configure(backend: string): void {
  machine.write(
    '/etc/portreeve-client/blocklist.conf',
    `[blocklist]\nurl = ${list.url}\nbackend = ${backend}\n`,
  )
}
const update = (env: Record<string, string> = {}) => machine.run([BLOCKER, 'update'], { env })
const rules = () => machine.run(['nft', 'list', 'ruleset']).stdout

describe.each(['nftables', 'ipset'])('a blocklist in %s', (backend) => {
  beforeEach(() => configure(backend))
  const loaded = () => (backend === 'nftables' ? nftEntries() : ipsetEntries())

  it('contains the served addresses of both families', () => {
    expect(update()).toMatchObject({ status: 0, stdout: '4 entries loaded\n', stderr: '' })
    expect(loaded()).toEqual(LIST.toSorted())
  })

  it('is replaced by the next one', () => {
    update()
    list.answerWith(lines(['45.9.20.8']))
    expect(update().status).toBe(0)
    expect(loaded()).toEqual(['45.9.20.8'])
  })

  it('is requested with its ETag, and counts as fresh after 304', () => {
    list.answerWith(lines(LIST), { headers: { ETag: '"v1"' } })
    update()
    machine.run(
      backend === 'nftables'
        ? ['nft', 'flush', 'set', 'inet', 'portreeve_list', 'v4']
        : ['ipset', 'flush'],
    )
    list.answerWith('', { status: 304 })
    expect(update().status).toBe(0)
    expect(list.requests().map((headers) => headers['if-none-match'])).toEqual([undefined, '"v1"'])
    expect(loaded()).toEqual(LIST.toSorted())
  })

  it('stays as it is when the next one cannot be used', () => {
    update()
    const before = loaded()
    list.answerWith(lines(['45.9.20.8']), { status: 500 })
    expect(update()).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('the rules stay as they are'),
    })
    expect(before).toEqual(LIST.toSorted())
    expect(loaded()).toEqual(before)
  })

  it('expires when no new version arrives', () => {
    update()
    const set =
      backend === 'nftables' ? rules() : machine.run(['ipset', 'list', 'portreeve-list4']).stdout
    expect(set).toContain(backend === 'nftables' ? 'timeout 1d2h' : 'timeout 93600')
  })

  it('changes no other tables, and leaves no trace when it is removed', () => {
    machine.run([
      'nft',
      'add table inet mine; add chain inet mine input { type filter hook input priority 0; }',
    ])
    machine.run(['iptables', '-t', 'mangle', '-A', 'PREROUTING', '-s', '45.1.1.1', '-j', 'ACCEPT'])
    machine.run(['ip6tables', '-t', 'mangle', '-A', 'PREROUTING', '-s', '2a00::1', '-j', 'ACCEPT'])
    const before = rules()
    expect(before).toContain('table inet mine')
    update()
    update()
    expect(rules()).not.toBe(before)
    expect(machine.run([BLOCKER, 'remove']).status).toBe(0)
    expect(rules()).toBe(before)
    expect(machine.run(['ipset', 'list', '-n']).stdout).toBe('')
    machine.run(['nft', 'flush', 'ruleset'])
  })

  it('leaves exported lists and their owner’s rules alone, and removes its former table', () => {
    machine.run(['nft', 'add table inet portreeve; add set inet portreeve listed4 { type ipv4_addr; }; add chain inet portreeve own']) // prettier-ignore
    machine.run(['ipset', 'create', 'portreeve4', 'hash:net', 'maxelem', '4194304'])
    const exported = rules()
    update()
    expect(rules()).toContain('chain own')
    expect(machine.run(['ipset', 'list', '-n', 'portreeve4']).status).toBe(0)
    machine.run([BLOCKER, 'remove'])
    // iptables leaves its empty tables.
    expect(rules()).toContain(exported.trim())
    machine.run(['nft', 'flush ruleset; add table inet portreeve; add set inet portreeve v4 { type ipv4_addr; }']) // prettier-ignore
    machine.run(['ipset', 'destroy', 'portreeve4'])
    machine.run(['ipset', 'create', 'portreeve4', 'hash:net', 'maxelem', '500000'])
    update()
    expect(rules()).not.toContain('table inet portreeve {')
    expect(machine.run(['ipset', 'list', '-n', 'portreeve4']).status).not.toBe(0)
    machine.run([BLOCKER, 'remove'])
    machine.run(['nft', 'flush', 'ruleset'])
  })

  it('drops packets of listed addresses only', async () => {
    const outside = machine.start(['unshare', '-n', 'sleep', 'infinity'])
    const networkOf = (pid: number | undefined) => readlinkSync(`/proc/${pid}/ns/net`)
    const known = [networkOf(process.pid), networkOf(machine.pid)]
    await until(() => !known.includes(networkOf(outside.pid)))
    const knock = (from: string) =>
      machine
        .run(['nsenter', '-t', String(outside.pid), '-n', 'python3', '-c', KNOCK, from])
        .stdout.trim()
    expect(machine.run(['sh', '-c', CABLE], { env: { OUTSIDE: String(outside.pid) } }).stderr).toBe(
      '',
    )
    expect(knock('45.9.20.7')).toBe('let in')
    expect(update()).toMatchObject({ status: 0, stderr: '' })
    expect(['45.9.20.7', '45.9.20.8', '45.9.20.100'].map(knock)).toEqual([
      'dropped',
      'let in',
      'dropped',
    ])
    machine.run([BLOCKER, 'remove'])
    expect(knock('45.9.20.7')).toBe('let in')
    machine.run(['ip', 'link', 'del', 'inside'])
    outside.kill('SIGKILL')
  })
})

// Reading a list is the same for both.
describe('a list', () => {
  beforeEach(() => configure('nftables'))

  it('lets nothing else in: no special range, no wide prefix, no shell or nft syntax', () => {
    const planted = [
      '0.0.0.0/0',
      '10.0.0.0/8',
      '127.0.0.1',
      '8.0.0.0/8',
      '192.168.1.7',
      '224.0.0.1',
      '::/0',
      '::1',
    ]
    const more = [
      'fe80::1',
      'fc00::/64',
      '2001:db8::/64',
      '2002:a00:1::/64',
      '2a00::/32',
      '::ffff:8.8.8.8',
      '100.64.0.1',
    ]
    const many = Array.from({ length: 150 }, (_, n) => `45.10.${n}.1`)
    list.answerWith(lines([...many, ...planted, ...more, '1.2.3.4 }; flush ruleset;', '# 8.8.8.8']))
    expect(update()).toMatchObject({ status: 0, stdout: '150 entries loaded\n' })
    expect(nftEntries()).toEqual(many.toSorted())
  })

  it.each([
    ['is empty', '', {}],
    ['is a page', '<html>\n<h1>Sign in to the hotel</h1>\n</html>\n', {}],
    ['broke off inside a line', '45.9.20.7\n45.9.20.10', {}],
    [
      'broke off before its announced end',
      '45.9.20.8\n',
      { headers: { 'Content-Length': '5000' }, breakOff: true },
    ],
    [
      'is broken gzip',
      gzipSync(lines(LIST)).subarray(0, 30),
      { headers: { 'Content-Encoding': 'gzip' } },
    ],
    ['grows without end when unpacked', gzipSync(Buffer.alloc(40 << 20, '1.1.1.1\n')), { headers: { 'Content-Encoding': 'gzip' } }], // prettier-ignore
    ['is too long', '45.9.20.8\n'.repeat(250_001), {}],
    ['is to be found elsewhere', '', { status: 302, headers: { Location: '/other' } }],
  ])('stays as it is when the list %s', (_what, body, answer) => {
    update()
    const before = nftEntries()
    list.answerWith(body, answer)
    expect(update()).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('the rules stay as they are'),
    })
    expect(before).toEqual(LIST.toSorted())
    expect(nftEntries()).toEqual(before)
  })

  it('does not grow fivefold at once, until the old one has expired', () => {
    const network = (net: number) => Array.from({ length: 250 }, (_, n) => `45.10.${net}.${n}`)
    const small = [1, 2, 3, 4].flatMap(network)
    const large = Array.from({ length: 24 }, (_, n) => n + 1).flatMap(network)
    list.answerWith(lines(small))
    expect(update().stdout).toBe('1000 entries loaded\n')
    list.answerWith(lines(large))
    expect(update()).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('grew from 1000 to 6000'),
    })
    machine.run(['touch', '-d', '27 hours ago', '/var/lib/portreeve-blocklist/list'])
    expect(update().stdout).toBe('6000 entries loaded\n')
  })
})

describe('addresses that are never blocked', () => {
  beforeEach(() => configure('auto'))

  it('are the machine, its gateway, clients signed in over SSH, and the owner’s exceptions', () => {
    machine.run([
      'sh',
      '-c',
      'ip link add own type veth peer name far && ip link set own up && ip link set far up',
    ])
    machine.run([
      'sh',
      '-c',
      'ip address add 45.9.20.1/24 dev own && ip address add 2a00:1450:1:3::1/64 dev own nodad',
    ])
    machine.run(['ip', 'route', 'add', 'default', 'via', '45.9.20.254'])
    machine.run([
      'ip',
      'route',
      'add',
      'default',
      'via',
      '2a00:1450:1:4::fe',
      'dev',
      'own',
      'onlink',
    ])
    machine.write(
      '/etc/portreeve-client/allow.list',
      '# friends\n45.70.0.0/16 # the office\nnonsense\n',
    )
    machine.write('/run/utmp', '')
    signIn('45.60.0.1')
    const own = [
      '45.9.20.1',
      '45.9.20.254',
      '45.60.0.1',
      '45.60.0.2',
      '45.70.1.1',
      '2a00:1450:1:3::/64',
      '2a00:1450:1:4::/64',
    ]
    list.answerWith(lines([...own, '45.9.20.2', '45.71.0.0/24']))
    const outcome = update({ SSH_CONNECTION: '45.60.0.2 50000 45.9.20.1 22' })
    expect(outcome).toMatchObject({
      stderr: '',
      stdout: "2 entries loaded, 7 spared because they are this machine's own\n",
    })
    expect(nftEntries()).toEqual(['45.71.0.0/24', '45.9.20.2'])
    machine.run(['ip', 'link', 'del', 'own'])
  })

  it('is found behind sudo, which hides where the session comes from', () => {
    const env = { SSH_CONNECTION: '45.60.0.2 50000 45.9.20.1 22' }
    expect(
      machine.run(['sh', '-c', `env -i PATH="$PATH" ${BLOCKER} peer; true`], { env }).stdout,
    ).toBe('45.60.0.2\n')
    expect(machine.run([BLOCKER, 'peer']).stdout).toBe('\n')
  })
})

describe('an update', () => {
  beforeEach(() => configure('auto'))

  it('accepts an empty first list, as of a young network', () => {
    list.answerWith('')
    expect(update()).toMatchObject({ status: 0, stdout: 'the list is empty\n', stderr: '' })
    expect(rules()).not.toContain('portreeve')
  })

  it('unpacks gzip', () => {
    list.answerWith(gzipSync(lines(LIST)), { headers: { 'Content-Encoding': 'gzip' } })
    expect(update()).toMatchObject({ status: 0, stdout: '4 entries loaded\n' })
  })

  it('works with ipset when nftables is missing', () => {
    const names = [
      'python3',
      'ipset',
      'iptables',
      'iptables-restore',
      'ip6tables',
      'ip6tables-restore',
    ]
    machine.run(['mkdir', '-p', '/usr/local/few'])
    for (const name of names)
      machine.run(['sh', '-c', `ln -sf "$(command -v ${name})" /usr/local/few/${name}`])
    machine.run(['mount', '--bind', '/dev/null', '/usr/sbin/nft'])
    expect(update({ PATH: '/usr/local/few' })).toMatchObject({ status: 0, stderr: '' })
    machine.run(['umount', '/usr/sbin/nft'])
    expect(ipsetEntries()).toEqual(LIST.toSorted())
  })

  it('reports another running instance, and missing settings', () => {
    const held = 'flock -n /var/lib/portreeve-blocklist/lock '
    machine.run(['mkdir', '-p', '/var/lib/portreeve-blocklist'])
    expect(machine.run(['sh', '-c', held + `${BLOCKER} update`])).toMatchObject({
      status: 0,
      stdout: 'another update is running\n',
    })
    machine.write('/etc/portreeve-client/blocklist.conf', 'url = nowhere\n')
    expect(update()).toMatchObject({ status: 1, stderr: expect.stringContaining('cannot be read') })
  })

  it.each(['nftables', 'ipset'])('needs only the rights of its service, for %s', (backend) => {
    configure(backend)
    const unit = readFileSync(join(ROOT, 'clients/fail2ban/portreeve-blocklist.service'), 'utf8')
    const rights = /^CapabilityBoundingSet=(.*)$/m.exec(unit)?.[1]?.split(' ') ?? []
    const few = ['-all', ...rights.map((right) => right.replace('CAP_', '+').toLowerCase())].join(
      ',',
    )
    const outcome = machine.run([
      'setpriv',
      '--bounding-set',
      few,
      '--no-new-privs',
      BLOCKER,
      'update',
    ])
    expect(rights).toHaveLength(2)
    expect(outcome).toMatchObject({ status: 0, stdout: '4 entries loaded\n', stderr: '' })
  })

  it('has a service and a timer that systemd understands', () => {
    for (const name of ['service', 'timer']) {
      const text = readFileSync(join(ROOT, `clients/fail2ban/portreeve-blocklist.${name}`), 'utf8')
      machine.write(`/etc/systemd/system/portreeve-blocklist.${name}`, text)
    }
    const units = [
      '/etc/systemd/system/portreeve-blocklist.service',
      '/etc/systemd/system/portreeve-blocklist.timer',
    ]
    expect(machine.run(['systemd-analyze', 'verify', ...units])).toMatchObject({
      status: 0,
      stderr: '',
    })
  })
})

function nftEntries(): string[] {
  const entries = (set: string) =>
    entriesOf(machine.run(['nft', '-j', 'list', 'set', 'inet', 'portreeve_list', set]).stdout)
  return ['v4', 'v6'].flatMap(entries).toSorted()
}

type Prefix = { prefix: { addr: string; len: number } }
type Element = { elem: { val: string | Prefix } }

function entriesOf(json: string): string[] {
  const parts: { set?: { elem?: Element[] } }[] = JSON.parse(json).nftables
  const values = parts.flatMap(({ set }) => set?.elem ?? []).map(({ elem }) => elem.val)
  return values.map((val) =>
    typeof val === 'string' ? val : `${val.prefix.addr}/${val.prefix.len}`,
  )
}

function ipsetEntries(): string[] {
  const { stdout } = machine.run(['ipset', 'list'])
  return [...stdout.matchAll(/^([\da-f.:/]+) timeout/gm)].map(([, entry = '']) => entry).toSorted()
}

/** A record as a login leaves it (utmp(5), 384 bytes); the process must live. */
function signIn(address: string): void {
  const record = Buffer.alloc(384)
  record.writeInt16LE(7, 0)
  record.writeInt32LE(machine.pid, 4)
  record.write('pts/9', 8)
  record.write('ts/9', 40)
  record.write('root', 44)
  record.write(address, 76)
  machine.run(['sh', '-c', `echo ${record.toString('base64')} | base64 -d >/run/utmp`])
}
