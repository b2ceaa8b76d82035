import { afterAll, beforeAll, expect, it } from 'vitest'
import type { App } from '../../src/http/http-app.ts'
import { attack, bansOf, openFail2banMachine, startServer } from '../servers/fail2ban.ts'
import { blockedBy, openFleetNetwork, REPORTS_URL, type FleetNetwork } from '../servers/fleet-network.ts' // prettier-ignore
import { openMachine, requirePackages, type Machine } from '../servers/machine.ts'
import { figure } from './figures.ts'
import { startTestService, type Person, type TestService } from '../service.ts'

const ATTACKERS = ['45.9.20.7', '45.9.20.8', '45.9.20.9']
const SERVERS = Array.from({ length: 19 }, (_, n) => `45.9.21.${n + 1}`)

let app: App | undefined
let portreeve: TestService
let alice: Person
let network: FleetNetwork
let reporting: Machine
let followers: Machine[] = []

beforeAll(async () => {
  requirePackages('fail2ban', 'curl', 'nftables', 'iproute2')
  portreeve = await startTestService({ REPORTS_URL, REQUEST_LIMITS: 'off' }, (started) => {
    app = started
  })
  alice = await portreeve.addPerson('Alice')
  const made = await portreeve.request('/api/v1/abuse/tokens', {
    method: 'POST',
    token: alice.token,
  })
  const { token } = (await made.json()) as { token: string }
  const issued = await portreeve.request('/api/v1/abuse/fleet/keys', {
    method: 'POST',
    token: alice.token,
  })
  const { data } = (await issued.json()) as { data: { key: string } }
  network = await openFleetNetwork(ATTACKERS, () => app?.server)
  reporting = await openFail2banMachine({ network: true })
  network.connect(reporting, '45.9.20.11')
  for (const address of SERVERS) {
    const machine = await openMachine({ network: true })
    network.connect(machine, address)
    network.follow(machine, data.key)
    followers = [...followers, machine]
  }
  const script = `curl -fsS '${REPORTS_URL}/api/v1/abuse/fail2ban-install?token=${token}' | sh -s -- --yes`
  expect(await reporting.runAside(['sh', '-c', script])).toMatchObject({ status: 0, stderr: '' })
  await startServer(reporting)
}, 240_000)
afterAll(async () => {
  for (const machine of [reporting, ...followers]) await machine?.close()
  await network?.close()
  await portreeve?.stop()
}, 120_000)

const POLL = { interval: 300, timeout: 60_000 }

async function countFollowing(): Promise<number> {
  const answer = await portreeve.request('/api/v1/abuse/fleet/servers', { token: alice.token })
  const { data } = (await answer.json()) as { data: { followedAt: string | null }[] }
  return data.filter(({ followedAt }) => followedAt !== null).length
}

/** Looks only at machines that do not block it yet: looking takes processor time from them. */
function createCountMissing(attacker: string): () => Promise<number> {
  let missing = followers
  return async () => {
    const lists = await Promise.all(missing.map(blockedBy))
    missing = missing.filter((_, index) => !lists[index]?.includes(attacker))
    return missing.length
  }
}

it('blocks attackers of one server on twenty servers within five seconds', async () => {
  await expect.poll(countFollowing, POLL).toBe(followers.length)
  let slowest = 0
  for (const attacker of ATTACKERS) {
    attack(reporting, 'sshd', [attacker])
    await expect.poll(() => bansOf(reporting), POLL).toContain(`sshd tcp ${attacker}`)
    const bannedAt = performance.now()
    await expect.poll(createCountMissing(attacker), POLL).toBe(0)
    const milliseconds = performance.now() - bannedAt
    expect(milliseconds).toBeLessThan(5_000)
    slowest = Math.max(slowest, milliseconds)
    for (const address of SERVERS) expect(await network.knock(attacker, address)).toBe('dropped')
  }
  figure(
    `fail2ban bans ${ATTACKERS.length} attackers on one of ${followers.length + 1} servers, each in a network namespace`,
    `all others drop their packets, the slowest ${(slowest / 1000).toFixed(1)} s after the ban`,
  )
}, 180_000)
