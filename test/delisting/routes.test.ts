import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { IP } from '../servers/blacklists.ts'
import { AUTOMATIC, EMAIL, FORM, startPlace, stepOf, type Place } from './place.ts'
import type { Process } from './module.ts'

let place: Place
let charlie: string
beforeAll(async () => {
  place = await startPlace()
  charlie = await place.portreeve.addPerson('Charlie')
})
afterAll(() => place.stop())
beforeEach(async () => {
  await place.portreeve.pool.query('truncate delisting_process, delisting_request cascade')
  await place.list({ [AUTOMATIC]: '127.0.0.2', [EMAIL]: '127.0.0.2', [FORM]: '127.0.0.2' })
})

const call = (...args: Parameters<Place['portreeve']['call']>) => place.portreeve.call(...args)

describe('POST /api/v1/delisting', () => {
  it.each([
    ['no address', 'mail.example.com'],
    ['a private address', '192.168.1.1'],
    ['an address for documentation', '203.0.113.5'],
  ])('rejects %s', async (_what, ip) => {
    const answer = await call(place.alice, 'POST', '', { ip })
    expect(answer).toMatchObject({
      status: 400,
      json: { success: false, code: 'invalid_request', details: [{ path: 'ip' }] },
    })
  })

  it('rejects text with control characters, and empty text', async () => {
    for (const cause of ['', '  ', 'a\u0000b', 'x'.repeat(2_001)]) {
      expect(await call(place.alice, 'POST', '', { ip: IP, cause })).toMatchObject({ status: 400 })
    }
    expect(
      await call(place.alice, 'POST', '', { ip: IP, cause: 'One\nTwo\t', fix: 'Ü' }),
    ).toMatchObject({
      status: 201,
    })
  })

  it('deals with an address once at a time, for each account', async () => {
    const { id } = await place.begin()
    const again = await call(place.alice, 'POST', '', { ip: ` ${IP} ` })
    expect(again).toMatchObject({
      status: 409,
      json: { code: 'conflict', error: expect.stringContaining(id) },
    })
    expect(await call(charlie, 'POST', '', { ip: IP })).toMatchObject({ status: 201 })
    const both = await Promise.all(
      [1, 2].map(() => call(place.alice, 'POST', '', { ip: '8.8.8.8' })),
    )
    expect(both.map(({ status }) => status)).toEqual([409, 409])
  })

  it('starts one process for two concurrent requests', async () => {
    const both = await Promise.all([1, 2, 3].map(() => call(place.alice, 'POST', '', { ip: IP })))
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409])
  })

  it('reports that no list has the address, or that this is unknown', async () => {
    const clean = await call(place.alice, 'POST', '', { ip: '9.9.9.9' })
    expect(clean).toMatchObject({
      status: 409,
      json: {
        code: 'conflict',
        error: expect.stringContaining('There is nothing to delist'),
        details: [{ path: 'ip', message: 'is not listed' }],
      },
    })
    await place.list({ [AUTOMATIC]: {}, [EMAIL]: {}, [FORM]: {}, 'tor.dan.me.uk': '127.0.0.2' })
    const informational = await call(place.alice, 'POST', '', { ip: IP })
    expect(informational).toMatchObject({
      status: 409,
      json: { error: expect.stringContaining('is only on informational lists') },
    })
    await place.list({ 'tor.dan.me.uk': {} })
  })
})

describe('GET /api/v1/delisting/status', () => {
  const addresses = ['8.8.4.1', '8.8.4.2', '8.8.4.3']
  let processes: Process[]
  beforeEach(async () => {
    await place.list({
      [AUTOMATIC]: { listed: Object.fromEntries(addresses.map((ip) => [ip, '127.0.0.2'])) },
    })
    processes = []
    for (const ip of addresses) processes.push(await place.begin({ ip }))
  })

  it('has the newest first, in pages', async () => {
    const all = await call(place.alice, 'GET', '/status')
    expect(all.json.data.processes.map(({ ip }) => ip)).toEqual(addresses.toReversed())
    expect(all.json.data.pagination).toEqual({ page: 1, total: 3, totalPages: 1 })
    const second = await call(place.alice, 'GET', '/status?limit=2&page=2')
    expect(second.json.data.processes.map(({ ip }) => ip)).toEqual(['8.8.4.1'])
    expect(second.json.data.pagination).toEqual({ page: 2, total: 3, totalPages: 2 })
  })

  it('filters by address and by status', async () => {
    const [first, second] = processes as [Process, Process]
    await place.portreeve.tend()
    await place.act(second, AUTOMATIC, 'cancel')
    await place.list({ [AUTOMATIC]: {} })
    await place.act(first, AUTOMATIC, 'retry')
    const found = async (query: string) =>
      (await call(place.alice, 'GET', `/status?${query}`)).json.data.processes.map(({ ip }) => ip)
    expect(await found('status=completed')).toEqual(['8.8.4.1'])
    expect(await found('status=failed')).toEqual(['8.8.4.2'])
    expect(await found('status=in-progress')).toEqual(['8.8.4.3'])
    expect(await found('status=pending')).toEqual([])
    expect(await found('ip=8.8.4.2')).toEqual(['8.8.4.2'])
    expect(await found('ip=8.8.4.2&status=completed')).toEqual([])
  })

  it.each(['status=done', 'ip=mail.example', 'page=0', 'limit=101', 'limit=0'])(
    'rejects %s',
    async (query) => {
      expect(await call(place.alice, 'GET', `/status?${query}`)).toMatchObject({
        status: 400,
        json: { code: 'invalid_request' },
      })
    },
  )
})

describe('PATCH /api/v1/delisting/ID', () => {
  const WORDS = { cause: 'An open relay.', fix: 'Closed on 20 November.' }

  it('puts cause and fix into the text for every list, and sends nothing', async () => {
    const process = await place.begin()
    await place.portreeve.tend()
    const changed = await call(place.alice, 'PATCH', `/${process.id}`, WORDS)
    expect(changed).toMatchObject({ status: 200, json: { data: WORDS } })
    for (const zone of [EMAIL, FORM])
      expect(stepOf(changed.json.data, zone).request?.text).toContain(WORDS.fix)
    await place.portreeve.tend()
    expect(stepOf(await place.read(process.id), EMAIL)).toMatchObject({ needs: 'confirm' })
    expect(place.sink.mails).toEqual([])
    const cause = 'A mailbox with a guessed password.'
    const again = await call(place.alice, 'PATCH', `/${process.id}`, { cause })
    expect(again.json.data).toMatchObject({ cause, fix: WORDS.fix })
  })

  it('rejects nothing at all, empty text, and a delisting that has ended', async () => {
    const process = await place.begin()
    for (const body of [{}, { cause: ' ' }, { fix: 'x'.repeat(2_001) }])
      expect(await call(place.alice, 'PATCH', `/${process.id}`, body)).toMatchObject({
        status: 400,
      })
    for (const { dnsbl } of process.steps) await place.act(process, dnsbl, 'cancel')
    expect(await call(place.alice, 'PATCH', `/${process.id}`, WORDS)).toMatchObject({
      status: 409,
      json: { error: 'This delisting has ended. Start a new one.' },
    })
  })

  it('is Alice’s to do: Charlie finds nothing', async () => {
    const { id } = await place.begin()
    expect(await call(charlie, 'PATCH', `/${id}`, WORDS)).toMatchObject({ status: 404 })
    expect(await place.read(id)).toMatchObject({ cause: null, fix: null })
  })
})

describe('actions of a person', () => {
  let process: Process
  beforeEach(async () => {
    process = await place.begin()
  })
  const done = async (zone: string, action: string, body?: object) =>
    (await place.act(process, zone, action, body)).status
  const WORDS = { cause: 'Spam.', fix: 'Stopped.' }

  it('is rejected where the state of the step does not allow it', async () => {
    for (const zone of [AUTOMATIC, FORM])
      for (const action of ['submitted', 'retry']) expect(await done(zone, action)).toBe(409)
    expect((await place.act(process, FORM, 'retry')).json.error).toBe(
      'Only a waiting or failed step can be retried. This step has the method form and the status pending.',
    )
    await place.portreeve.tend()
    for (const action of ['submitted', 'confirm'])
      expect(await done(AUTOMATIC, action, WORDS)).toBe(409)
    expect(await done(FORM, 'submitted')).toBe(200)
    expect(await done(FORM, 'submitted')).toBe(409)
    expect(await done(FORM, 'confirm', WORDS)).toBe(409)
    expect(await done(AUTOMATIC, 'cancel')).toBe(200)
    for (const action of ['cancel', 'submitted']) expect(await done(AUTOMATIC, action)).toBe(409)
  })

  it('checks a list at once after a request, without a second request', async () => {
    await place.portreeve.tend()
    await place.act(process, EMAIL, 'confirm', WORDS)
    await place.portreeve.tend()
    const mails = place.sink.mails.length
    expect(await done(EMAIL, 'retry')).toBe(200)
    await place.portreeve.tend()
    expect(place.sink.mails).toHaveLength(mails)
  })

  it('completes a step at once by a retry, when a list in good health does not list the address any more', async () => {
    await place.portreeve.tend()
    expect(await done(AUTOMATIC, 'retry')).toBe(200)
    expect(stepOf(await place.read(process.id), AUTOMATIC)).toMatchObject({ status: 'waiting' })
    await place.list({ [AUTOMATIC]: { behaviour: 'silent' } })
    expect(await done(AUTOMATIC, 'retry')).toBe(200)
    expect(stepOf(await place.read(process.id), AUTOMATIC)).toMatchObject({
      status: 'waiting',
      lastAnswer: { status: 'unknown' },
    })
    await place.list({ [AUTOMATIC]: {} })
    const answer = await place.act(process, AUTOMATIC, 'retry')
    expect(stepOf(answer.json.data, AUTOMATIC)).toMatchObject({
      status: 'completed',
      outcome: 'cleared',
    })
    expect(await done(AUTOMATIC, 'retry')).toBe(409)
  })

  it('restarts a failed step, three times at most', async () => {
    await place.portreeve.tend()
    for (const attempt of [2, 3]) {
      expect(await done(AUTOMATIC, 'cancel')).toBe(200)
      const answer = await place.act(process, AUTOMATIC, 'retry')
      expect(stepOf(answer.json.data, AUTOMATIC)).toMatchObject({ status: 'waiting', attempt })
    }
    await done(AUTOMATIC, 'cancel')
    const last = await place.act(process, AUTOMATIC, 'retry')
    expect(last).toMatchObject({
      status: 409,
      json: { error: expect.stringContaining('was tried 3 times') },
    })
  })

  it('does not open an ended process while another deals with the address', async () => {
    for (const zone of [AUTOMATIC, EMAIL, FORM]) await done(zone, 'cancel')
    expect(await place.read(process.id)).toMatchObject({ status: 'failed' })
    const second = await place.begin()
    const refused = await place.act(process, AUTOMATIC, 'retry')
    expect(refused).toMatchObject({
      status: 409,
      json: { error: expect.stringContaining(second.id) },
    })
  })

  it('is Alice’s to do: Charlie finds nothing', async () => {
    const step = stepOf(process, FORM)
    expect((await call(charlie, 'GET', '/status')).json.data.processes).toEqual([])
    expect(await call(charlie, 'GET', `/${process.id}`)).toMatchObject({
      status: 404,
      json: { code: 'not_found' },
    })
    for (const action of ['confirm', 'submitted', 'retry', 'cancel']) {
      const answer = await call(
        charlie,
        'POST',
        `/${process.id}/steps/${step.id}/${action}`,
        action === 'confirm' ? WORDS : undefined,
      )
      expect(answer).toMatchObject({ status: 404, json: { code: 'not_found' } })
    }
    for (const path of ['/status', `/${process.id}`])
      expect(await call('wrong', 'GET', path)).toMatchObject({ status: 401 })
    // A step is not found under another account’s process either.
    const [own] = (await call(charlie, 'POST', '', { ip: IP })).json.data.steps
    expect(await call(place.alice, 'POST', `/${process.id}/steps/${own?.id}/cancel`)).toMatchObject(
      { status: 404 },
    )
  })
})
