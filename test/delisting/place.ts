import { expect } from 'vitest'
import type { RaiseAlert } from '../../src/delisting/notify.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { removeEverybody } from '../people.ts'
import { IP } from '../servers/blacklists.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'
import { startRbldnsd, type Rbldnsd, type Zone } from '../servers/rbldnsd.ts'
import {
  startDelisting,
  ZONES,
  type Clock,
  type Process,
  type Reply,
  type DelistingTest,
  type Step,
} from './module.ts'
import { startSink, type Sink } from '../servers/mail-sink.ts'

/** Zones of the shipped catalogue, one for each delisting method. */
export const AUTOMATIC = 'bl.spamcop.net'
export const EMAIL = 'bl.nordspam.com'
export const FORM = 'b.barracudacentral.org'
export const PROVIDER = 'dnsbl-2.uceprotect.net'

const START = new Date('2026-11-21T12:00:00.000Z')

export type Place = {
  lists: Rbldnsd
  dns: DnsServer
  sink: Sink
  fresh: FreshDatabase
  clock: Clock
  /** An instance; the first one unless there are more. */
  readonly portreeve: DelistingTest
  /** The token of Alice, who is added before each test. */
  readonly alice: string
  /** Starts another instance on the same database. */
  another(options?: { relay?: boolean; raiseAlert?: RaiseAlert }): Promise<DelistingTest>
  /** @param token of the caller; Alice’s by default */
  begin(body?: object, token?: string): Promise<Process>
  read(id: string): Promise<Process>
  act(
    process: Process,
    zone: string,
    action: string,
    body?: object,
  ): Promise<{ status: number; json: Reply }>
  list(zones: Record<string, Zone | string>): Promise<void>
  /** Makes everything as it was at the start, for the next test. */
  reset(): Promise<void>
  stop(): Promise<void>
}

/**
 * Starts everything that a delisting needs: blocklists, DNS with the reverse zone, a mail relay,
 * and the service with the account of Alice.
 */
export async function startPlace(): Promise<Place> {
  const empty = Object.fromEntries(ZONES.map((zone): [string, Zone] => [zone, {}]))
  const [lists, dns, sink, fresh] = await Promise.all([
    startRbldnsd(empty),
    startDns(),
    startSink(),
    freshDatabase(),
  ])
  const clock: Clock = { now: START }
  const used = new Set<string>()
  const instances: DelistingTest[] = []
  async function another({
    relay = true,
    ...rest
  }: { relay?: boolean; raiseAlert?: RaiseAlert } = {}): Promise<DelistingTest> {
    const portreeve = await startDelisting({
      databaseUrl: fresh.url,
      lists,
      dns,
      clock,
      ...(relay && { smtpUrl: sink.url }),
      ...rest,
    })
    instances.push(portreeve)
    return portreeve
  }
  let portreeve: DelistingTest
  let alice: string

  async function list(zones: Record<string, Zone | string>): Promise<void> {
    const contents = Object.entries(zones).map(([zone, content]): [string, Zone] => [
      zone,
      typeof content === 'string' ? { listed: { [IP]: content } } : content,
    ])
    for (const [zone] of contents) used.add(zone)
    await lists.setZones(Object.fromEntries(contents))
  }

  async function reset(): Promise<void> {
    // They remember which lists gave no answer.
    for (const each of instances.splice(0)) await each.stop()
    await removeEverybody(fresh.db)
    await fresh.db.deleteFrom('delistingRequest').execute()
    if (used.size > 0) await lists.setZones(Object.fromEntries([...used].map((zone) => [zone, {}])))
    used.clear()
    for (const name of Object.keys(dns.records)) delete dns.records[name]
    dns.records['4.4.8.8.in-addr.arpa PTR'] = ['mail.alice.example']
    dns.records['mail.alice.example A'] = [IP]
    clock.now = START
    sink.mails.length = 0
    sink.behaviour = 'taking'
    portreeve = await another()
    alice = await portreeve.addPerson('Alice')
  }
  await reset()

  async function read(id: string): Promise<Process> {
    return (await portreeve.call(alice, 'GET', `/${id}`)).json.data
  }
  return {
    lists,
    dns,
    sink,
    fresh,
    clock,
    get portreeve() {
      return portreeve
    },
    get alice() {
      return alice
    },
    another,
    read,
    async begin(body = {}, token = alice) {
      const { status, json } = await portreeve.call(token, 'POST', '', { ip: IP, ...body })
      expect(status, JSON.stringify(json)).toBe(201)
      return json.data
    },
    act: (process, zone, action, body) =>
      portreeve.call(
        alice,
        'POST',
        `/${process.id}/steps/${stepOf(process, zone).id}/${action}`,
        body,
      ),
    list,
    reset,
    async stop() {
      for (const each of instances) await each.stop()
      await fresh.drop()
      await Promise.all([lists.stop(), dns.close(), sink.stop()])
    },
  }
}

export function stepOf(process: Process, zone: string): Step {
  const step = process.steps.find(({ dnsbl }) => dnsbl === zone)
  if (!step)
    throw new Error(`no step for ${zone}: ${process.steps.map(({ dnsbl }) => dnsbl).join(', ')}`)
  return step
}
