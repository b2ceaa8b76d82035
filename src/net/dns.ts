import { getServers } from 'node:dns'
import { isIP, isIPv6 } from 'node:net'
import type { CaaData, DsData, MxData, SoaData, SrvData, TlsaData, TxtData } from 'dns-packet'
import type { HostPort } from '../setting-values.ts'
import { createSendQuery } from './dns-ask.ts'
import type { DnsFailure, DnsRecord, QueryOptions, RecordType } from './dns-record.ts'
import { offline } from './offline.ts'
import { createSlots } from './slots.ts'

export type { DnsFailure, DnsRecord, QueryOptions, RecordType }

/**
 * The result of one query. `NOERROR` without records is NODATA. A failure is never an empty answer.
 * `ttl` is in seconds: the lowest of the answer section; for a negative answer that of the SOA
 * record (RFC 2308), else 0.
 */
export type DnsAnswer =
  | {
      status: 'NOERROR' | 'NXDOMAIN'
      /** The records of the asked type, at the end of any CNAME chain. */
      records: DnsRecord[]
      /** The names that CNAMEs led through, in order, without the asked one. */
      cnames: string[]
      ttl: number
      /** The AD bit: the resolver validated the answer with DNSSEC. As reliable as the way to it. */
      isAuthenticated: boolean
      /** The AA bit: the server is responsible for the zone. */
      isAuthoritative: boolean
      /** `address:port` of the resolver that answered. */
      server: string
      /** Milliseconds from the first try to the answer. */
      ms: number
    }
  | { status: 'FAILED'; failure: DnsFailure; server: string | null; ms: number }

type DataByType = {
  A: string
  AAAA: string
  CAA: CaaData
  CNAME: string
  DS: DsData
  MX: MxData
  NS: string
  PTR: string
  SOA: SoaData
  SRV: SrvData
  TLSA: TlsaData
  TXT: TxtData
}

/** The data of an answer's records of one type; none when there is no answer. */
export function dataOf<T extends keyof DataByType>(answer: DnsAnswer, type: T): DataByType[T][] {
  const records = answer.status === 'FAILED' ? [] : answer.records
  return records.flatMap((record) => (record.type === type ? [record.data as DataByType[T]] : []))
}

declare module './offline.ts' {
  interface Recording {
    dns(name: string, type: RecordType): DnsAnswer
  }
}

export interface Resolver {
  /**
   * Never throws: errors are part of the answer. `name` is absolute, with or without a trailing
   * dot.
   */
  query(
    name: string,
    type: RecordType,
    signal?: AbortSignal,
    options?: QueryOptions,
  ): Promise<DnsAnswer>
  readonly servers: readonly HostPort[]
}

/** A resolver that can be closed: queries in flight end as `ABORTED`, and so do all later ones. */
export type OwnResolver = Resolver & { close(): void }

export type ResolverOptions = {
  /** Queried in this order; default: the system’s. */
  servers?: readonly HostPort[]
  /** Milliseconds for one try at one server, TCP included. */
  timeoutMs?: number
  /** Tries in all while servers stay silent; each goes to the next server. */
  tries?: number
  /** Queries in flight at once: from some 200 on, answers overrun the socket's receive buffer. */
  maxInFlight?: number
  /** Told of every answer, for figures. */
  onAnswer?: (answer: DnsAnswer) => void
}

/**
 * Our own stub resolver. Unlike the system's it gives RCODE and TTL of every answer and keeps its
 * time-outs to the millisecond: c-ares adapts them, and calls a slow server dead after fast answers
 * from others.
 */
export function createResolver(options: ResolverOptions = {}): OwnResolver {
  const { timeoutMs = 2500, tries = 2, maxInFlight = 128 } = options
  const servers = options.servers?.length ? options.servers : systemServers()
  const asks = servers.map((server) => ({
    server: endpointName(server),
    ask: createSendQuery(server),
  }))
  const slots = createSlots(maxInFlight)
  const closing = new AbortController()

  async function inTurn(
    name: string,
    type: RecordType,
    notifications: AbortSignal[],
    queryOptions: QueryOptions | undefined,
  ): Promise<DnsAnswer> {
    const started = performance.now()
    const failures: { failure: DnsFailure; server: string }[] = []
    for (let turn = 0; turn < turnsAllowed(failures.at(-1)?.failure, tries, asks.length); turn++) {
      const { server, ask } = asks[turn % asks.length] as (typeof asks)[number]
      const reading = await ask(name, type, timeoutMs, notifications, queryOptions)
      if ('status' in reading) return { ...reading, server, ms: performance.now() - started }
      failures.push({ failure: reading.failure, server })
    }
    const worst = failures.find(({ failure }) => !isSilence(failure)) ?? failures[0]
    return {
      status: 'FAILED',
      failure: 'NETWORK',
      server: null,
      ...worst,
      ms: performance.now() - started,
    }
  }

  return {
    servers,
    async query(name, type, signal, queryOptions) {
      const recorded = offline()
      if (recorded) return recorded.dns(name, type)
      const notifications = signal ? [closing.signal, signal] : [closing.signal]
      if (!(await slots.acquire(notifications)))
        return { status: 'FAILED', failure: 'ABORTED', server: null, ms: 0 }
      try {
        const answer = await inTurn(name, type, notifications, queryOptions)
        options.onAnswer?.(answer)
        return answer
      } finally {
        slots.release()
      }
    },
    close: () => closing.abort(),
  }
}

/**
 * After a timeout, any server is tried again. After an answer, or a closed port, only servers not
 * yet queried.
 */
function turnsAllowed(last: DnsFailure | undefined, tries: number, servers: number): number {
  if (last === 'ABORTED' || last === 'BADNAME') return 0
  if (last === undefined || last === 'TIMEOUT') return tries
  return last === 'NETWORK' ? Math.max(tries, servers) : servers
}

/** The answer of a server is more informative than the timeout of another. */
function isSilence(failure: DnsFailure): boolean {
  return failure === 'TIMEOUT' || failure === 'NETWORK'
}

/** The resolvers of this machine (`/etc/resolv.conf`). */
export function systemServers(): HostPort[] {
  return getServers().map((text) => {
    if (isIP(text)) return { address: text, port: 53 }
    const [, address = '', port] = /^\[?(.+?)\]?:(\d+)$/.exec(text) ?? []
    return { address, port: Number(port) }
  })
}

/** `192.0.2.1:53`, `[2001:db8::1]:53`. */
export function endpointName({ address, port }: HostPort): string {
  return isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`
}
