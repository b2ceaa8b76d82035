import type { App } from '../../src/http/http-app.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addAdministrator } from '../accounts/sessions.ts'
import { startTestService, type Person, type TestService } from '../service.ts'
import { attack, bansOf, openFail2banMachine, startServer } from '../servers/fail2ban.ts'
import {
  ATTACKER6,
  blockedBy,
  BLOCKER,
  openFleetNetwork,
  REPORTS_URL,
  SERVICE,
  type FleetNetwork,
} from '../servers/fleet-network.ts'
import { startFeedProvider, type FeedProvider } from '../servers/feed-provider.ts'
import { openMachine, requirePackages, type Machine } from '../servers/machine.ts'

const [FIRST, SECOND, ALLOWED, STRANGE] = ['45.9.20.7', '45.9.20.8', '45.9.21.9', '45.9.20.6']
const SERVER_A = '45.9.20.11'
/** Servers B, C and D of Alice. */
const FOLLOWERS = ['45.9.20.12', '45.9.20.13', '45.9.20.14']
/** A server of Bob. */
const OTHER = '45.9.20.15'

/** Followers do not poll: what they block has come by the event stream. */
const STREAM_ONLY = { poll: 3_600 }

let app: App | undefined
let portreeve: TestService
let provider: FeedProvider
let admin: Person
let network: FleetNetwork
let serverA: Machine
let followers: Machine[]
let others: Machine
let alice: Person
let token: string
let key: string
let bob: Person
let stopFirst: () => void
/** Of server B, and of the server of Bob. */
let ipv6: { first: string; others: string }

beforeAll(async () => {
  requirePackages('fail2ban', 'curl', 'nftables', 'ipset', 'iptables', 'iproute2')
  provider = await startFeedProvider()
  portreeve = await startTestService(
    { REPORTS_URL, REQUEST_LIMITS: 'off' },
    (started) => {
      app = started
    },
    { providerOrigins: provider.origins },
  )
  admin = await addAdministrator(portreeve, 'Ada')
  alice = await portreeve.addPerson('Alice')
  bob = await portreeve.addPerson('Bob')
  token = await makeToken(alice)
  key = await makeKey(alice)
  network = await openFleetNetwork([FIRST, SECOND, ALLOWED, STRANGE], () => app?.server)
  serverA = await openFail2banMachine({ network: true })
  network.connect(serverA, SERVER_A)
  followers = await Promise.all(FOLLOWERS.map(() => openMachine({ network: true })))
  const [first = ''] = followers.map((machine, at) => network.connect(machine, FOLLOWERS[at] ?? ''))
  others = await openMachine({ network: true })
  ipv6 = { first, others: network.connect(others, OTHER) }
  stopFirst = network.follow(followers[0] as Machine, key, STREAM_ONLY)
  for (const machine of followers.slice(1)) network.follow(machine, key, STREAM_ONLY)
  network.follow(others, await makeKey(bob), { backend: 'ipset', ...STREAM_ONLY })

  const script = `curl -fsS '${REPORTS_URL}/api/v1/abuse/fail2ban-install?token=${token}' | sh -s -- --yes`
  const installed = await serverA.runAside(['sh', '-c', script])
  expect(installed).toMatchObject({ status: 0, stderr: '' })
  await startServer(serverA)
})
afterAll(async () => {
  for (const machine of [serverA, ...(followers ?? []), others]) await machine?.close()
  await network?.close()
  await portreeve?.stop()
  await provider?.stop()
})

function ask(path: string, body?: object, method = body ? 'POST' : 'GET', person = alice) {
  return portreeve.request(`/api/v1/abuse/${path}`, {
    method,
    token: person.token,
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
}

async function makeKey(person: Person): Promise<string> {
  const answer = await ask('fleet/keys', {}, 'POST', person)
  return ((await answer.json()) as { data: { key: string } }).data.key
}

async function makeToken(person: Person): Promise<string> {
  const answer = await portreeve.request('/api/v1/abuse/tokens', {
    method: 'POST',
    token: person.token,
  })
  return ((await answer.json()) as { token: string }).token
}

async function unban(address: string): Promise<void> {
  type Bans = { data: { bans: { id: string }[] } }
  const { data } = (await (await ask(`fleet/bans?q=${address}`)).json()) as Bans
  for (const { id } of data.bans) await ask(`fleet/bans/${id}`, undefined, 'DELETE')
}

async function countFollowing(): Promise<number> {
  type Servers = { data: { followedAt: string | null }[] }
  const { data } = (await (await ask('fleet/servers')).json()) as Servers
  return data.filter(({ followedAt }) => followedAt !== null).length
}

const blocksEverywhere = (address: string) =>
  Promise.all(followers.map(async (machine) => (await blockedBy(machine)).includes(address)))
const setsOf = (machine: Machine) => machine.run(['ipset', 'list']).stdout
const everywhere = FOLLOWERS.map(() => true)
const nowhere = FOLLOWERS.map(() => false)

describe('a fleet of servers in networks of their own', () => {
  it('drops packets of an address everywhere as soon as fail2ban has banned it on one', async () => {
    await expect.poll(countFollowing).toBe(followers.length)
    expect(await network.knock(FIRST, FOLLOWERS[0] ?? '')).toBe('let in')
    attack(serverA, 'sshd', [FIRST])
    await expect.poll(() => bansOf(serverA), { interval: 100 }).toContain(`sshd tcp ${FIRST}`)
    await expect.poll(() => blocksEverywhere(FIRST), { interval: 100 }).toEqual(everywhere)
    for (const address of FOLLOWERS) expect(await network.knock(FIRST, address)).toBe('dropped')
    for (const address of FOLLOWERS) expect(await network.knock(STRANGE, address)).toBe('let in')
    // Another workspace sees nothing.
    expect(setsOf(others)).not.toContain(FIRST)
    expect(await network.knock(FIRST, OTHER)).toBe('let in')
  })

  it('lets an unbanned address in everywhere at once', async () => {
    await unban(FIRST)
    await expect.poll(() => blocksEverywhere(FIRST), { interval: 100 }).toEqual(nowhere)
    for (const address of FOLLOWERS) expect(await network.knock(FIRST, address)).toBe('let in')
  })

  it('never blocks an allowed address, the service or a reporting server', async () => {
    expect((await ask('fleet/allowlist', { cidr: '45.9.21.0/24' })).status).toBe(201)
    attack(serverA, 'sshd', [ALLOWED, SERVICE, SERVER_A, FOLLOWERS[1] ?? '', SECOND])
    await expect.poll(() => blocksEverywhere(SECOND)).toEqual(everywhere)
    expect(bansOf(serverA)).toContain(`sshd tcp ${ALLOWED}`)
    for (const machine of followers) expect(await blockedBy(machine)).toEqual([SECOND])
  })

  it('blocks an IPv6 /64, in nftables and in ipset', async () => {
    for (const [person, address] of [
      [alice, ipv6.first],
      [bob, ipv6.others],
    ] as const) {
      expect(await network.knock(ATTACKER6, address)).toBe('let in')
      const ban = { ip: '2a00:1450:9:1::99', seconds: 3_600 }
      expect((await ask('fleet/bans', ban, 'POST', person)).status).toBe(201)
      await expect.poll(() => network.knock(ATTACKER6, address)).toBe('dropped')
      await ask('fleet/bans', undefined, 'DELETE', person)
      await expect.poll(() => network.knock(ATTACKER6, address)).toBe('let in')
    }
    await ask('fleet/bans', { ip: SECOND, seconds: 3_600 })
    await ask('fleet/bans', { ip: SECOND, seconds: 3_600 }, 'POST', bob)
    await expect.poll(() => network.knock(SECOND, OTHER)).toBe('dropped')
    expect(setsOf(others)).toContain(SECOND)
  })

  it('blocks chosen public feeds, except allowed networks and the servers, and names them', async () => {
    const servers = [alice, bob].map((person, at) => ({ person, machine: [followers[1] as Machine, others][at] as Machine })) // prettier-ignore
    provider.files.set('/torbulkexitlist', `${STRANGE}\n${SERVER_A}\n${FOLLOWERS[1]}\n${OTHER}\n`)
    provider.files.set('/drop/drop_v4.json', '{"cidr":"45.9.21.0/24","sblid":"SBL1"}\n{"type":"metadata"}\n') // prettier-ignore
    provider.files.set('/drop/drop_v6.json', '{"type":"metadata"}\n')
    const feeds = ['spamhaus-drop', 'tor-exits']
    for (const id of feeds) await ask(`feeds/${id}`, { enabled: true }, 'PUT', admin)
    await expect.poll(async () => (await ask(`check?ip=${STRANGE}`)).text()).toContain('tor-exits')
    await expect.poll(async () => (await ask(`check?ip=${ALLOWED}`)).text()).toContain('spamhaus')
    for (const { person, machine } of servers) {
      expect((await ask('fleet', { feeds }, 'PUT', person)).status).toBe(200)
      const loaded = await machine.runAside([BLOCKER, 'feeds'])
      expect(loaded).toMatchObject({ stderr: '', status: 0 })
      const { stdout } = await machine.runAside([BLOCKER, 'why', STRANGE])
      expect(stdout).toBe(`public feeds: tor-exits (${STRANGE}/32)\n`)
    }
    for (const address of [FOLLOWERS[1] ?? '', OTHER])
      expect(await network.knock(STRANGE, address)).toBe('dropped')
    // Alice allows this network, Bob does not.
    expect(await network.knock(ALLOWED, FOLLOWERS[1] ?? '')).toBe('let in')
    expect(await network.knock(ALLOWED, OTHER)).toBe('dropped')
    for (const { person, machine } of servers) {
      await ask('fleet', { feeds: [] }, 'PUT', person)
      await machine.runAside([BLOCKER, 'feeds'])
      expect((await machine.runAside([BLOCKER, 'why', STRANGE])).status).toBe(1)
    }
    for (const address of [FOLLOWERS[1] ?? '', OTHER])
      expect(await network.knock(STRANGE, address)).toBe('let in')
  })

  it('keeps bans while the service is away, after a restart of the follower too', async () => {
    const [machine] = followers as [Machine]
    await portreeve.pause()
    stopFirst()
    machine.run(['nft', 'delete', 'table', 'inet', 'portreeve_fleet'])
    stopFirst = network.follow(machine, key)
    await expect.poll(() => blockedBy(machine)).toEqual([SECOND])
    expect(await network.knock(SECOND, FOLLOWERS[0] ?? '')).toBe('dropped')
    await portreeve.resume()
    await unban(SECOND)
    await ask('fleet/bans', { ip: FIRST, seconds: 60 })
    await expect.poll(() => blockedBy(machine), { timeout: 30_000 }).toEqual([FIRST])
    await expect.poll(() => blocksEverywhere(FIRST), { timeout: 30_000 }).toEqual(everywhere)
  })

  it('never locks a server out: its own addresses, gateway, SSH client and exceptions', async () => {
    const [machine] = followers as [Machine]
    const [own, gateway, ssh, friend] = ['45.9.22.1', '45.9.22.2', '45.60.0.2', '45.70.1.1']
    stopFirst()
    machine.run(['sh', '-c', `ip address add ${own}/32 dev wire && ip route add default via ${gateway} dev wire onlink`]) // prettier-ignore
    machine.write('/etc/portreeve-client/allow.list', '45.70.0.0/16 # friends\n')
    network.follow(machine, key, { env: { SSH_CONNECTION: `${ssh} 50000 ${own} 22` } })
    for (const ip of [own, gateway, ssh, friend, STRANGE])
      expect((await ask('fleet/bans', { ip, seconds: 3_600 })).status).toBe(201)
    const all = [FIRST, own, gateway, ssh, friend, STRANGE].toSorted()
    await expect.poll(() => blockedBy(followers[1] as Machine)).toEqual(all)
    await expect.poll(() => blockedBy(machine)).toEqual([STRANGE, FIRST].toSorted())
    const set = machine.run(['nft', 'list', 'set', 'inet', 'portreeve_fleet', 'v4']).stdout
    expect(set).toMatch(/45\.9\.20\.6 timeout 1h expires 59m/)
  })
})
