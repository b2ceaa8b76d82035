import { afterAll, beforeAll } from 'vitest'
import type { DnsFailure } from '../../src/net/dns.ts'
import {
  checkDane,
  recordOf,
  startChainServers,
  stateOf,
  type ChainName,
  type ChainServers,
  type Of,
} from '../domains/dane-chains.ts'
import type { Records } from '../servers/dns-records.ts'
import { startPlainServer } from '../servers/tls.ts'
import { runCases } from './run-cases.ts'

let servers: ChainServers
beforeAll(async () => void (servers = await startChainServers()))
afterAll(() => servers.close())

type Case = {
  /** What the mail server sends; see dane-chains.ts. */
  chain?: ChainName
  /** In place of a mail server with TLS: its greeting, or null for none. */
  greeting?: string | null
  /** TLSA records have the certificate that they are of in place of the data: `3 1 1 leaf`. */
  records: Records
  failures?: Record<string, DnsFailure>
  /** Zones that are not signed. */
  unsigned?: string[]
}

async function check({ chain = 'intermediate', greeting, records, failures, unsigned = [] }: Case) {
  const plain = typeof greeting === 'string' ? await startPlainServer(greeting) : null
  const port = greeting === null ? 1 : (plain?.port ?? servers.ports[chain])
  const isSigned = (name: string) =>
    !unsigned.some((zone) => name === zone || name.endsWith(`.${zone}`))
  const line = await checkDane({ records: withData(records, chain), failures, isSigned, port })
  await plain?.close()
  const { summary, evidence = [], proposals = [] } = line
  const states = evidence.map((each) => each.state)
  return { state: stateOf(line), summary, evidence: states, proposals: proposals.length }
}

function withData(records: Records, chain: ChainName): Records {
  const entries = Object.entries(records).map(([key, texts]) => {
    if (!key.endsWith(' TLSA')) return [key, texts] as const
    const data = texts.map((text) => {
      const [usage, selector, type, of] = (text as string).split(' ')
      return recordOf(`${usage} ${selector} ${type}`, of as Of, chain)
    })
    return [key, data] as const
  })
  return Object.fromEntries(entries)
}

runCases('dane.json', check)
