import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findRecordState } from '../../src/domains/record-state.ts'
import { startZoneServer, type ZoneServer } from '../servers/zone-server.ts'
import { mapResolver } from '../resolver.ts'

const NEW = 'v=DMARC1; p=reject; rua=mailto:a@example.test'
const OLD = 'v=DMARC1; p=none; rua=mailto:a@example.test'

let nsd: ZoneServer
beforeAll(async () => {
  nsd = await startZoneServer({
    'example.test': `$TTL 60
@ SOA ns1.example.test. hostmaster.example.test. 1 3600 600 86400 60
@ NS ns1.example.test.
ns1 A 127.0.0.1
_dmarc TXT "${NEW}"
`,
  })
})
afterAll(() => nsd.close())

/** Through a resolver that still has this record in its cache, for 300 seconds. */
function stateThrough(cached: string, value = NEW) {
  const resolver = mapResolver({
    'example.test NS': ['ns1.example.test'],
    'ns1.example.test A': ['127.0.0.1'],
    '_dmarc.example.test TXT': [cached],
  })
  return findRecordState(
    'example.test',
    { name: '_dmarc.example.test', type: 'TXT', value },
    { resolver, allowPrivate: true, nameServerPort: nsd.port },
    AbortSignal.timeout(5_000),
  )
}

describe('the state of a record', () => {
  it('matches as soon as the name servers have it, and tells when caches have expired', async () => {
    const before = Date.now()
    const state = await stateThrough(OLD)
    expect(state).toMatchObject({
      zone: 'example.test',
      values: [NEW],
      matches: true,
      cached: { values: [OLD], matches: false, ttl: 300 },
    })
    const visible = Date.parse(state.visibleToEverybodyAt ?? '')
    expect(visible - before).toBeGreaterThanOrEqual(300_000)
    expect(visible - before).toBeLessThan(310_000)
  })

  it('is visible now when the cache has the new record', async () => {
    const state = await stateThrough(NEW)
    expect(Date.parse(state.visibleToEverybodyAt ?? '') - Date.now()).toBeLessThan(1_000)
  })

  it('does not match another value, and has no time then', async () => {
    expect(await stateThrough(OLD, 'v=DMARC1; p=quarantine')).toMatchObject({
      matches: false,
      visibleToEverybodyAt: null,
    })
  })
})
