import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import packet from 'dns-packet'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Entry } from '../../src/abuse/export/entry.ts'
import { FORMATS, type FormatName } from '../../src/abuse/export/export-formats.ts'
import { librariesOf, unpacked } from '../servers/debian-package.ts'
import { reversedLabels } from '../../src/net/address.ts'

const SEEN = new Date('2026-11-21T12:34:56Z')
const LIST = { version: 7, generatedAt: SEEN, pageUrl: 'https://portreeve.example/address' }

const entry = (address: string): Entry => ({
  address,
  score: 72.7,
  confidence: 'medium',
  services: ['ssh', 'imap'],
  networks: 3,
  firstReportedAt: SEEN,
  lastReportedAt: SEEN,
})
const ENTRIES = ['8.8.4.4', '81.2.69.160', '2606:4700:0:1::/64', '2a00:1450:4001:81b::/64'].map(
  entry,
)
const MANY = Array.from({ length: 2_500 }, (_, n) => entry(`9.1.${n >> 8}.${n & 255}`)).concat(
  ENTRIES.slice(2),
)

const render = (format: FormatName, entries = ENTRIES) =>
  [...FORMATS[format].render(LIST, entries)].join('')

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'portreeve-formats-'))
  chmodSync(folder, 0o755)
})
afterAll(() => rmSync(folder, { recursive: true }))

/** The files of three successive lists: a list, a longer one and an empty one. */
function files(format: FormatName): string[] {
  return [ENTRIES, MANY, [], ENTRIES].map((entries, n) => {
    const file = join(folder, `${format}-${n}`)
    writeFileSync(file, render(format, entries))
    return file
  })
}

/**
 * Runs in its own network and process namespaces: the network of this machine stays unchanged, and
 * no daemon outlives the script.
 */
const alone = (script: string) =>
  execFileSync('unshare', ['-n', '-p', '-f', '--kill-child', 'sh', '-ec', script], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: 15_000,
    killSignal: 'SIGKILL',
  })

function needs(program: string, debian: string): void {
  if (!existsSync(program)) throw new Error(`${program} is missing: install ${debian}`)
}

describe('the plain list', () => {
  it('has one address a line, and nothing where nothing is listed', () => {
    expect(render('plain')).toBe(
      '8.8.4.4\n81.2.69.160\n2606:4700:0:1::/64\n2a00:1450:4001:81b::/64\n',
    )
    expect(render('plain', [])).toBe('')
  })
})

describe('the JSON list', () => {
  it('is one document, of any length', () => {
    for (const entries of [ENTRIES, MANY, []]) {
      const { success, data } = JSON.parse(render('json', entries))
      expect([success, data.count, data.ips.length]).toEqual([true, entries.length, entries.length])
    }
    expect(JSON.parse(render('json')).data.ips[0]).toEqual({
      ip: '8.8.4.4',
      score: 72.7,
      confidenceLevel: 'medium',
      services: ['ssh', 'imap'],
      lastReportedAt: '2026-11-21T12:00:00.000Z',
    })
  })
})

describe('the CSV list', () => {
  it('has as many fields in each line as in its head', () => {
    const lines = render('csv').trimEnd().split('\n')
    expect(lines).toHaveLength(5)
    expect(new Set(lines.map((line) => line.split(',').length))).toEqual(new Set([9]))
    expect(lines[3]).toContain('2606:4700:0:1::/64,6,72.7,medium,ssh imap,3,')
  })
})

describe('the list for nftables', () => {
  it('is loaded by nft repeatedly, with the listed content', () => {
    needs('/usr/sbin/nft', 'nftables')
    const [one, longer, empty, again] = files('nftables')
    alone(`nft -c -f ${one}`)
    const show = 'nft list table inet portreeve'
    expect(alone(`nft -f ${one}; nft -f ${longer}; ${show}`)).toContain('9.1.0.0')
    expect(alone(`nft -f ${longer}; nft -f ${empty}; ${show}`)).not.toContain('9.1.0.0')
    const told = alone(
      `for file in ${[one, longer, empty, again].join(' ')}; do nft -f $file; done; ${show}`,
    )
    for (const { address } of ENTRIES) expect(told).toContain(address)
    expect(told).not.toContain('9.1.0.0')
  })
})

describe('both lists on one machine', () => {
  it('leave each other and the owner’s chain as they are', () => {
    const [shared, fleet] = (['portreeve', 'portreeve_fleet'] as const).map((name, n) =>
      (['nftables', 'ipset'] as const).map((format) => {
        const file = join(folder, `${name}-${format}`)
        const entries = [entry(`9.9.9.${n}`)]
        writeFileSync(file, [...FORMATS[format].render({ ...LIST, name }, entries)].join(''))
        return file
      }),
    )
    const [nft, ipset] = [0, 1].map((at) => [shared?.[at], fleet?.[at], shared?.[at]])
    const chain = 'nft add chain inet portreeve mine'
    const load = (nft ?? []).map((file) => `nft -f ${file}`)
    const told = alone(`${load.join('; ')}; ${chain}; ${load.join('; ')}; nft list ruleset`)
    for (const part of ['9.9.9.0', '9.9.9.1', 'chain mine']) expect(told).toContain(part)
    const restore = (ipset ?? []).map((file) => `ipset restore < ${file}`).join('; ')
    expect(alone(`${restore}; ipset list`)).toMatch(/9\.9\.9\.0[^]*9\.9\.9\.1/)
  })
})

describe('the list for ipset', () => {
  it('is restored by ipset repeatedly, with the listed content', () => {
    needs('/usr/sbin/ipset', 'ipset')
    const [one, longer, empty, again] = files('ipset')
    const count = 'ipset list -t | sed -n "s/^Number of entries: //p" | tr "\\n" " "'
    const steps = [one, longer, empty, again].map((file) => `ipset restore < ${file}; ${count}`)
    const members = 'for ip in 8.8.4.4 81.2.69.160; do ipset test portreeve4 $ip; done 2>&1'
    const told = alone(
      `${steps.join('; ')}; ${members}; ipset test portreeve6 2606:4700:0:1::7 2>&1`,
    )
    expect(told).toMatch(/^2 2 2500 2 0 0 2 2 /)
    expect(told.match(/ is in set /g)).toHaveLength(3)
    expect(alone(`ipset restore < ${one}; ipset list -n`)).toBe('portreeve4\nportreeve6\n')
  })
})

describe('the list for nginx', () => {
  it('is accepted by nginx, which responds 403 to listed addresses', () => {
    needs('/usr/sbin/nginx', 'nginx-light')
    for (const [n, file] of files('nginx').entries()) {
      const config = join(folder, `nginx-${n}.conf`)
      const server = `server { listen 127.0.0.1:8099; set_real_ip_from 127.0.0.1; real_ip_header x-from; location / { if ($portreeve_listed) { return 403; } return 204; } }`
      writeFileSync(
        config,
        `events {} pid ${folder}/pid; error_log stderr; http { access_log off; include ${file}; ${server} }`,
      )
      execFileSync('/usr/sbin/nginx', ['-t', '-q', '-c', config], {
        stdio: 'pipe',
        timeout: 10_000,
      })
    }
    const ask = (ip: string) =>
      `curl -m 5 -so /dev/null -w '%{http_code} ' -H 'x-from: ${ip}' http://127.0.0.1:8099/`
    const asks = ['8.8.4.4', '8.8.4.5', '2606:4700:0:1::7', '2606:4700:0:2::7'].map(ask).join('; ')
    const told = alone(`ip link set lo up; nginx -c ${folder}/nginx-0.conf; ${asks}`)
    expect(told).toBe('403 204 403 204 ')
  })
})

describe('the list for rbldnsd', () => {
  it('is served by rbldnsd, both families, with the usual test points', async () => {
    needs('/usr/sbin/rbldnsd', 'rbldnsd')
    const [file = ''] = files('rbldnsd')
    chmodSync(file, 0o644)
    const port = await freePort()
    const args = [
      '-n',
      '-r',
      '/',
      '-w',
      folder,
      '-b',
      `127.0.0.1/${port}`,
      '-c',
      '0',
      `bl.test:combined:${file}`,
    ]
    // A daemon would keep the stderr of this process open.
    const daemon = spawn('stdbuf', ['-oL', '/usr/sbin/rbldnsd', ...args], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const ended = once(daemon, 'exit')
    onTestFinished(async () => {
      daemon.kill()
      await ended
    })
    for await (const line of createInterface({ input: daemon.stdout }))
      if (line.includes('started (')) break
    const listed = ['8.8.4.4', '127.0.0.2', '2606:4700:0:1::7', '::ffff:7f00:2']
    const free = ['8.8.4.5', '127.0.0.1', '2606:4700:0:2::7', '::ffff:7f00:1']
    for (const address of listed)
      expect([address, await answerOf(port, address, 'A')]).toEqual([address, '127.0.0.2'])
    for (const address of free)
      expect([address, await answerOf(port, address, 'A')]).toEqual([address, null])
    expect(await answerOf(port, '8.8.4.4', 'TXT')).toContain(`${LIST.pageUrl}?ip=8.8.4.4`)
  })
})

async function freePort(): Promise<number> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address()
  socket.close()
  return port
}

/** The first answer of a blocklist, or null. */
async function answerOf(port: number, address: string, type: 'A' | 'TXT'): Promise<string | null> {
  const socket = createSocket('udp4')
  const name = `${reversedLabels(address)}.bl.test`
  socket.send(
    packet.encode({ type: 'query', id: 1, questions: [{ name, type }] }),
    port,
    '127.0.0.1',
  )
  const [bytes] = (await once(socket, 'message', { signal: AbortSignal.timeout(5_000) }).finally(
    () => socket.close(),
  )) as [Buffer]
  const [answer] = packet.decode(bytes).answers ?? []
  return answer?.type === 'A'
    ? answer.data
    : answer?.type === 'TXT'
      ? [answer.data].flat().join('')
      : null
}

describe('the list for HAProxy', () => {
  it('is a map and, as plain text, a list that HAProxy loads', () => {
    const haproxy = join(unpacked('haproxy'), 'usr/sbin/haproxy')
    const libraries = librariesOf(unpacked('haproxy'))
    for (const [n, file] of files('haproxy').entries()) {
      const config = join(folder, `haproxy-${n}.cfg`)
      writeFileSync(join(folder, 'plain.acl'), render('plain', n === 2 ? [] : ENTRIES))
      writeFileSync(
        config,
        `defaults\n  mode http\n  timeout client 1s\n  timeout connect 1s\n  timeout server 1s\n` +
          `frontend web\n  bind 127.0.0.1:8098\n  http-request deny if { src,map_ip(${file}) -m found }\n` +
          `  http-request deny if { src -f ${folder}/plain.acl }\n`,
      )
      const { status, stderr } = spawnSync(haproxy, ['-c', '-f', config], {
        env: { LD_LIBRARY_PATH: libraries },
        encoding: 'utf8',
      })
      expect([status, stderr.match(/alert.*/gi)]).toEqual([0, null])
    }
  })
})

describe('the list of nginx’s deny', () => {
  it('is accepted by nginx', () => {
    for (const [n, file] of files('nginx-deny').entries()) {
      const config = join(folder, `deny-${n}.conf`)
      writeFileSync(config, `events {} pid ${folder}/pid; error_log stderr; http { access_log off; include ${file}; }`) // prettier-ignore
      execFileSync('/usr/sbin/nginx', ['-t', '-q', '-c', config], { stdio: 'pipe', timeout: 10_000 }) // prettier-ignore
    }
  })
})

describe('the list for MikroTik', () => {
  it('replaces the address list of each family, whose entries end by themselves', () => {
    expect(render('mikrotik').split('\n').slice(2)).toEqual([
      '/ip firewall address-list remove [find list=portreeve]',
      '/ip firewall address-list',
      ':do {add list=portreeve address=8.8.4.4 timeout=26:00:00} on-error={}',
      ':do {add list=portreeve address=81.2.69.160 timeout=26:00:00} on-error={}',
      '/ipv6 firewall address-list remove [find list=portreeve]',
      '/ipv6 firewall address-list',
      ':do {add list=portreeve address=2606:4700:0:1::/64 timeout=26:00:00} on-error={}',
      ':do {add list=portreeve address=2a00:1450:4001:81b::/64 timeout=26:00:00} on-error={}',
      '',
    ])
  })
})

describe('the lists for Cloudflare', () => {
  it('have the items that its API and its upload accept, 10,000 at most', () => {
    expect(JSON.parse(render('cloudflare'))[0]).toEqual({ ip: '8.8.4.4', comment: 'ssh imap' })
    expect(JSON.parse(render('cloudflare', []))).toEqual([])
    expect(render('cloudflare-csv').split('\n')[0]).toBe('8.8.4.4,ssh imap')
    const many = Array.from({ length: 12_000 }, (_, n) => entry(`9.${n >> 16}.${(n >> 8) & 255}.${n & 255}`)) // prettier-ignore
    expect(JSON.parse(render('cloudflare', many))).toHaveLength(10_000)
  })
})
