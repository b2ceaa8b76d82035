import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Federation } from '../../../src/exchange/federation/federation.ts'
import { acceptFollow } from '../../../src/exchange/federation/protocol/follow.ts'
import { Fault } from '../../../src/errors.ts'
import { openDatabase } from '../../../src/store/database.ts'
import { startInstallation, type Installation, type PeerView } from './installation.ts'
import {
  EMPTY,
  evidence,
  newKey,
  pageOf,
  startScriptedPeer,
  withdrawal,
  type Script,
} from './scripted-peer.ts'

let here: Installation
let peer: Awaited<ReturnType<typeof startScriptedPeer>>
let peerId: string
beforeAll(async () => {
  here = await startInstallation()
}, 120_000)
afterAll(() => here?.stop())
beforeEach(async () => {
  await here.query('truncate federation_peer cascade')
  peer = await startScriptedPeer()
  const added = await here.add(peer)
  peerId = added.id
  await here.approve(added.id, added.fingerprint)
  await becomes({ status: 'active', problem: null })
})
afterEach(() => peer.stop())

const patience = { interval: 100 }
const becomes = (state: Partial<PeerView>) =>
  expect.poll(() => here.peer(), patience).toMatchObject(state)
const stored = () => here.count('federation_evidence where withdrawn_at is null')
const alertKinds = async () => (await here.alerts()).map(({ kind, text }) => `${kind}: ${text}`)

describe('a peer that sends what it must not', () => {
  const before = () => evidence('9.9.1.1')
  const refused: [string, PeerView['refusal'], RegExp, () => Script][] = [
    [
      'a page that is no page',
      'malformed',
      /not valid/,
      () => ({ page: () => ({ ...EMPTY, items: [{ kind: 'order', position: 1 }] }) }),
    ],
    [
      'a private address',
      'malformed',
      /private|public address/,
      () => ({ page: pageOf(before(), evidence('10.0.0.1')) }),
    ],
    [
      'positions out of order',
      'malformed',
      /follows/,
      () => ({ page: () => ({ ...EMPTY, items: [evidence('9.9.1.2'), before()].toReversed() }) }),
    ],
    [
      'evidence from the future',
      'future',
      /dated/,
      () => ({
        page: pageOf(
          before(),
          evidence('9.9.1.3', { at: new Date(Date.now() + 3_600_000).toISOString() }),
        ),
      }),
    ],
    [
      'a signature of another body',
      'bad_signature',
      /signature/,
      () => ({
        page: pageOf(before()),
        tamper: (headers) => ({ ...headers, 'content-digest': 'sha-256=:AAAA:' }),
      }),
    ],
  ]
  for (const [what, refusal, reason, script] of refused)
    it(`is refused, with an alert: ${what}`, async () => {
      peer.play(script())
      await becomes({ status: 'refused', refusal })
      expect(await stored()).toBe(0)
      expect((await here.peer()).status).toBe('refused')
      expect((await here.alerts()).at(-1)).toMatchObject({ kind: 'federation.refused' })
      expect((await here.query('select refusal_detail from federation_peer')).rows[0]).toEqual({
        refusal_detail: expect.stringMatching(reason),
      })
      // An administrator may accept it again.
      peer.play({})
      await here.approve(peerId, peer.key().fingerprint)
      await becomes({ status: 'active', refusal: null })
    })

  it('is refused when it sends more than a day’s worth', async () => {
    await here.query('update federation_peer set day_items = 99999')
    peer.play({ page: pageOf(before(), before()) })
    await becomes({ status: 'refused', refusal: 'flood' })
    expect(await stored()).toBe(0)
    expect((await alertKinds()).at(-1)).toMatch(/^federation\.refused: .*more evidence/i)
  })

  it('keeps its evidence out of protected ranges', async () => {
    await here.call('whitelist', {
      method: 'POST',
      body: { cidr: '9.9.2.0/24', kind: 'whitelist', label: 'ours' },
    })
    const old = new Date(Date.now() - 40 * 86_400_000).toISOString()
    peer.play({
      page: pageOf(
        evidence('9.9.2.1'),
        evidence('9.9.1.5', { service: 'service-of-the-future' }),
        evidence('9.9.1.5', { at: old }),
        evidence('9.9.1.5'),
      ),
    })
    await becomes({ received: 1, ignored: 3 })
    expect(await here.check('9.9.2.1')).toMatchObject({ listingState: 'whitelisted', peers: [] })
    expect(await here.check('9.9.1.5')).toMatchObject({ peers: [{ networks: 1 }] })
  })
})

describe('a response that proves nothing', () => {
  it('counts as no contact when it has no signature', async () => {
    peer.play({ page: pageOf(evidence('9.9.1.6')), tamper: () => ({}) })
    await becomes({ status: 'active', problem: expect.stringContaining('without a signature') })
    expect(await stored()).toBe(0)
    peer.play({})
    await becomes({ problem: null })
  })

  it('names a wrong clock', async () => {
    peer.play({ date: new Date(Date.now() + 720_000) })
    await becomes({ problem: 'The clocks differ by 12 minutes. Synchronize them (NTP).' })
  })

  it('is refused when it belongs to an earlier request', async () => {
    let recorded: Record<string, string> | undefined
    peer.play({
      page: pageOf(evidence('9.9.1.7')),
      tamper: (headers) => (recorded ??= headers),
    })
    await expect.poll(stored, patience).toBe(1)
    await becomes({ status: 'refused', refusal: 'bad_signature' })
  })

  it('needs a new approval when the key has changed', async () => {
    peer.changeKey()
    await becomes({ status: 'key_changed', offeredFingerprint: peer.key().fingerprint })
    expect((await here.alerts()).at(-1)).toMatchObject({ kind: 'federation.key_changed' })
    const { fingerprint } = await here.peer()
    const old = await here.service.request(`/api/v1/abuse/peers/${peerId}/approve`, {
      method: 'POST',
      token: here.admin.token,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ fingerprint }),
    })
    expect(old.status).toBe(409)
    await here.approve(peerId, peer.key().fingerprint)
    await becomes({ status: 'active', offeredFingerprint: null })
  })

  it('is not from a peer that signs with a key it does not show', async () => {
    peer.play({ key: newKey(), page: pageOf(evidence('9.9.1.8')) })
    await becomes({ problem: expect.stringContaining('another key') })
    expect(await stored()).toBe(0)
  })
})

describe('withdrawals', () => {
  it('apply to the evidence of the peer alone, and once', async () => {
    await here.query(
      "insert into federation_peer (url, public_key, approved_at, next_contact_at) values ('https://other.test', $1, now(), 'infinity')",
      [newKey().publicKey],
    )
    const other = evidence('9.9.1.9')
    await here.query(
      `insert into federation_evidence (peer_id, id, address, service, network, seen_at, received_at)
        select id, $1, '9.9.1.9', 'ssh', 'n', now(), now() from federation_peer where url = 'https://other.test'`,
      [other.id],
    )
    const own = evidence('9.9.1.10')
    peer.play({ page: pageOf(own, withdrawal(other.id), withdrawal(own.id), withdrawal(own.id)) })
    await expect
      .poll(async () => (await here.peers()).find(({ id }) => id === peerId), patience)
      .toMatchObject({ received: 1, withdrawn: 1 })
    expect(await stored()).toBe(1)
    expect(await here.check('9.9.1.10')).toMatchObject({ score: 0, peers: [] })
    // The same evidence again, at a later position, stays withdrawn.
    const again = { ...evidence('9.9.1.10'), id: own.id }
    peer.play({ page: pageOf(again, evidence('9.9.1.11')) })
    await expect
      .poll(() => here.count("federation_evidence where address = '9.9.1.11'"), patience)
      .toBe(1)
    expect(await here.check('9.9.1.10')).toMatchObject({ score: 0, peers: [] })
  })
})

describe('a request to an installation', () => {
  const read = async (headers: Record<string, string>, after = 0) => {
    const target = `${here.url}/api/v1/abuse/federation/evidence?after=${after}`
    return fetch(target, { headers })
  }
  const target = () => `${here.url}/api/v1/abuse/federation/evidence?after=0`

  it('gets evidence with the documented fields alone', async () => {
    await here.report('9.9.3.1', ['81.2.69.160', '90.1.1.1'])
    await expect.poll(() => here.count('federation_journal'), patience).toBeGreaterThanOrEqual(2)
    const answer = await read(await peer.sign('GET', target()))
    const { data } = (await answer.json()) as { data: { items: Record<string, unknown>[] } }
    const items = data.items.filter(({ ip }) => ip === '9.9.3.1')
    expect(items).toHaveLength(2)
    for (const item of items) {
      expect(Object.keys(item).toSorted()).toEqual(
        ['at', 'id', 'ip', 'kind', 'position', 'reporter', 'service'].toSorted(),
      )
      expect(item['at']).toMatch(/:00:00\.000Z$/)
    }
    expect(new Set(items.map(({ reporter }) => reporter)).size).toBe(2)
    const { rows } = await here.query('select network from federation_journal')
    for (const { network } of rows) expect(JSON.stringify(data)).not.toContain(network)
  })

  it('is accepted once, for its host, within five minutes', async () => {
    const headers = await peer.sign('GET', target())
    expect((await read(headers)).status).toBe(200)
    expect((await read(headers)).status).toBe(401)
    const elsewhere = await peer.sign('GET', target().replace('localhost', 'elsewhere.test'))
    expect((await read(elsewhere)).status).toBe(401)
    expect((await read(await peer.sign('GET', target()), 7)).status).toBe(401)
    const late = await peer.sign('GET', target(), Date.now() - 360_000)
    expect((await read(late)).status).toBe(401)
  })

  it('is limited per peer', async () => {
    await here.query('insert into abuse_rate (source, started_at, used) values ($1, now(), 240)', [
      `peer ${peerId}`,
    ])
    expect((await read(await peer.sign('GET', target()))).status).toBe(429)
  })

  it('is told that the peering has ended by a signature of this installation', async () => {
    await here.end(peerId)
    await expect.poll(() => here.peers(), patience).toEqual([])
    const answer = await read(await peer.sign('GET', target()))
    expect(await answer.json()).toMatchObject({ data: { state: 'ended', items: [] } })
    expect(answer.headers.get('signature-input')).toContain('"signature";req')
  })

  it('cannot ask in the name of another installation', async () => {
    const stranger = await startScriptedPeer()
    const path = `${here.url}/api/v1/abuse/federation/follow`
    const headers = await stranger.sign('POST', path)
    const forged = await fetch(path, {
      method: 'POST',
      headers: { ...headers, 'portreeve-peer': peer.url },
    })
    expect(forged.status).toBe(401)
    expect((await fetch(path, { method: 'POST', headers })).status).toBe(200)
    expect(await here.peers()).toEqual(
      expect.arrayContaining([expect.objectContaining({ url: stranger.url, status: 'requested' })]),
    )
    stranger.stop()
  })

  it('of a stranger is refused before anything is contacted, unless it can be valid', async () => {
    const stranger = await startScriptedPeer()
    const path = `${here.url}/api/v1/abuse/federation/follow`
    const headers = await stranger.sign('POST', path)
    const input = headers['signature-input'] ?? ''
    const variants: Record<string, string>[] = [
      { signature: 'sig=:AAAA:' },
      { signature: `${headers['signature']}, other=:AAAA:` },
      { 'signature-input': input.replace(/keyid="[^"]+"/, 'keyid="me"') },
      { 'signature-input': input.replace(/;created=\d+/, '') },
      { 'signature-input': input.replace(/;nonce="[^"]+"/, '') },
      { 'signature-input': input.replace('"@path" ', '') },
      await stranger.sign('POST', path, Date.now() - 360_000),
      await stranger.sign('POST', path, Date.now() + 360_000),
    ]
    const answers = []
    for (const variant of variants) {
      const answer = await fetch(path, { method: 'POST', headers: { ...headers, ...variant } })
      answers.push([answer.status, ((await answer.json()) as { error: string }).error])
    }
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    expect(answers[0]?.[0]).toBe(401)
    expect(stranger.seen).toEqual([])
    expect((await fetch(path, { method: 'POST', headers })).status).toBe(200)
    expect(stranger.seen).toHaveLength(1)
    stranger.stop()
  })

  it('of a stranger gets the same answer after the same time, whatever is at its URL', async () => {
    const { db, close } = openDatabase(here.service.databaseUrl, { max: 1 })
    const stranger = await startScriptedPeer()
    const findIdentity = vi.fn()
    const federation = {
      db,
      identity: { url: here.url, key: newKey() },
      client: { findIdentity } as unknown as Federation['client'],
      clock: Date.now,
      allowsPrivate: false,
      identityTimeoutMs: 40,
    }
    const ask = async (url: string) => {
      const path = `${here.url}/api/v1/abuse/federation/follow`
      const headers = await stranger.sign('POST', path)
      const startedAt = performance.now()
      const fault = await acceptFollow(federation, url, {
        method: 'POST',
        url: path,
        headers,
      }).catch((error: unknown) => error as Fault)
      return [fault, performance.now() - startedAt] as const
    }
    const problems = [
      new Fault('upstream_unreachable', 'Port 443 of 192.0.2.1 refused the connection.'),
      new Fault('upstream_rejected', '192.0.2.1 is not a Portreeve with federation.'),
      new Error('Parse Error: Expected HTTP/'),
    ]
    for (const problem of problems) {
      findIdentity.mockRejectedValueOnce(problem)
      const [fault, ms] = await ask('https://stranger.example')
      expect(fault).toMatchObject({ code: 'unauthenticated' })
      expect((fault as Fault).message).toMatch(/could not be verified/)
      expect(ms).toBeGreaterThanOrEqual(38)
    }
    expect(findIdentity).toHaveBeenCalledTimes(problems.length)
    for (const url of ['https://stranger.example:8443', 'http://localhost:8080', here.url])
      expect((await ask(url))[0]).toMatchObject({ code: 'unauthenticated' })
    expect(findIdentity).toHaveBeenCalledTimes(problems.length)
    stranger.stop()
    await close()
  })
})
